import Errand
import ErrandEssentials

extension HARFile {
    /// The exchanges of a recording, one entry each.
    public init(_ recording: Recording) {
        let dropped = recording.droppedExchanges
        log = Log(
            creator: Creator(name: "Errand", version: ErrandInfo.version), entries: recording.exchanges.map(Entry.init),
            comment: dropped > 0 ? "\(dropped) entries before these were dropped" : nil)
    }
}

extension HARFile.Entry {
    /// The entry of an exchange.
    public init(_ exchange: RecordedExchange) {
        let version = exchange.version.map { "HTTP/\($0)" } ?? ""
        let timings = HARFile.Timings(exchange.phases)
        self.init(
            startedDateTime: exchange.date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            time: timings.sum, request: HARFile.Request(exchange.request, version),
            response: HARFile.Response(exchange.response, version, wireBytes: exchange.timings?.bytesReceived),
            timings: timings, serverIPAddress: exchange.timings?.remoteAddress, comment: exchange.comment,
            error: exchange.response == nil ? exchange.outcome?.failureName : nil)
        guard exchange.isWebSocket else { return }
        // "ws" for "http", "wss" for "https".
        if request.url.hasPrefix("http") { request.url = "ws" + request.url.dropFirst(4) }
        resourceType = "websocket"
        webSocketMessages = exchange.webSocket?.messages.map(HARFile.WebSocketMessage.init) ?? []
    }
}

extension RecordedExchange {
    /// The details for which HAR has no field.
    fileprivate var comment: String {
        [
            label, attempt > 1 ? "attempt \(attempt)" : nil, hop > 1 ? "hop \(hop)" : nil, outcome?.failureName,
            droppedMessages,
        ].compactMap(\.self).joined(separator: ", ")
    }
}

extension HARFile.Request {
    fileprivate init(_ request: RecordedExchange.Request, _ version: String) {
        let body = HARText(request.body)
        self.init(
            method: request.method.rawValue, url: request.url, httpVersion: version,
            headers: request.headers.map { HARFile.Pair(name: $0.name.rawName, value: $0.value) },
            queryString: Self.query(request.url),
            postData: body.map { body in
                HARFile.PostData(
                    mimeType: request.body.contentType ?? "", text: body.isBase64 ? "" : body.text,
                    comment: body.isBase64 ? "not text, and left out" : body.comment)
            },
            bodySize: request.body.length ?? -1)
    }

    private static func query(_ url: String) -> [HARFile.Pair] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        return url[url.index(after: mark)...].split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return HARFile.Pair(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
    }
}

extension HARFile.Response {
    /// - Parameter wireBytes: the length of the body on the wire, its content coding not undone.
    fileprivate init(_ response: RecordedExchange.Response?, _ version: String, wireBytes: Int64?) {
        let body = response.flatMap { HARText($0.body) }
        let size = response?.body.length ?? 0
        let wireBytes = wireBytes ?? (response == nil ? nil : size)
        self.init(
            status: response?.status ?? 0, httpVersion: version,
            headers: (response?.headers ?? [:]).map { HARFile.Pair(name: $0.name.rawName, value: $0.value) },
            content: HARFile.Content(
                size: size, compression: wireBytes.map { size - $0 },
                mimeType: response?.body.contentType ?? "x-unknown", text: body?.text,
                encoding: body?.isBase64 == true ? "base64" : nil, comment: body?.comment),
            redirectURL: response?.redirectURL ?? "", bodySize: wireBytes ?? -1)
    }
}

extension HARFile.Timings {
    fileprivate init(_ phases: ExchangePhases) {
        func milliseconds(_ duration: Duration?) -> Double { duration.map { $0 / .milliseconds(1) } ?? -1 }
        let hasConnected = phases.connect != nil || phases.secure != nil
        self.init(
            blocked: milliseconds(phases.blocked), dns: milliseconds(phases.nameLookup),
            connect: hasConnected ? milliseconds((phases.connect ?? .zero) + (phases.secure ?? .zero)) : -1,
            ssl: milliseconds(phases.secure), send: milliseconds(phases.send ?? .zero), wait: milliseconds(phases.wait),
            receive: milliseconds(phases.receive))
    }
}

/// A body in the form of HAR: text, or bytes in Base64.
private struct HARText {
    let text: String
    let isBase64: Bool
    /// The difference from the original body.
    let comment: String?

    /// Nil for a body that is empty or was not copied.
    init?(_ body: RecordedBody) {
        if body.copiedBytes == 0 { return nil }
        if let omission = body.omission {
            (text, isBase64, comment) = ("", false, omission)
            return
        }
        comment = body.isTruncated ? "the first \(body.copiedBytes) of \(body.length ?? 0) bytes" : nil
        (text, isBase64) = body.text.map { ($0, false) } ?? (body.data.base64EncodedString(), true)
    }
}
