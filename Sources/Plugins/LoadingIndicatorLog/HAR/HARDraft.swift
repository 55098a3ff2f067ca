import Errand
import ErrandSupport

/// One exchange on the wire, as it goes on.
struct HARDraft: Sendable {
    let request: HTTPRequest
    let attempt: Int
    let hop: Int
    let date: Date
    let start: ContinuousClock.Instant
    var response: HTTPResponse?
    /// Of the response's body, which is not kept.
    var responseLength: Int64?
    var answered: ContinuousClock.Instant?
    var timings: TransferTimings?
    var sent = Data()
    var received = Data()
    var progress = TransferProgress()
    var failure: String?

    func entry(until end: ContinuousClock.Instant, _ redaction: LogRedaction, _ label: String) -> HARFile.Entry {
        var secrets = LogSecrets()
        let version = (response?.version ?? timings?.httpVersion).map { "HTTP/\($0)" } ?? ""
        let headers = pairs(request.headers, redaction, &secrets)
        let url = redaction.url(request.url.absoluteString, &secrets)
        let answerHeaders = response.map { pairs($0.headers, redaction, &secrets) } ?? []
        let type = request.headers[.contentType] ?? request.body.contentType
        let up = HARBody(sent, type, request.body.length, redaction, &secrets)
        let size = responseLength ?? max(progress.received, Int64(received.count))
        let down = HARBody(received, response?.headers[.contentType], size, redaction, &secrets)
        let onWire = timings?.bytesReceived ?? (response == nil ? nil : size)
        let times = phases(until: end)
        let location = response?.headers[.location].map { redaction.url($0, &secrets) } ?? ""
        func masked(_ pairs: [HARFile.Pair]) -> [HARFile.Pair] {
            pairs.map { HARFile.Pair(name: $0.name, value: secrets.masked($0.value)) }
        }
        return HARFile.Entry(
            startedDateTime: date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)), time: times.sum,
            request: HARFile.Request(
                method: request.method.rawValue, url: secrets.masked(url), httpVersion: version,
                headers: masked(headers),
                queryString: masked(Self.query(url)),
                postData: up.map { body in
                    HARFile.PostData(
                        mimeType: type ?? "", text: body.isText ? body.text : "",
                        comment: body.isText ? body.comment : "not text, and left out")
                },
                bodySize: request.body.length ?? -1),
            response: HARFile.Response(
                status: response?.status ?? 0, httpVersion: version, headers: masked(answerHeaders),
                content: HARFile.Content(
                    size: size, compression: onWire.map { size - $0 },
                    mimeType: response?.headers[.contentType] ?? "x-unknown", text: down?.text,
                    encoding: down?.isText == false ? "base64" : nil, comment: down?.comment),
                redirectURL: secrets.masked(location), bodySize: onWire ?? -1),
            timings: times, serverIPAddress: timings?.remoteAddress,
            comment: [
                redaction.url(label, &secrets), attempt > 1 ? "attempt \(attempt)" : nil, hop > 1 ? "hop \(hop)" : nil,
                failure,
            ]
            .compactMap(\.self).joined(separator: ", "))
    }

    private func pairs(_ headers: HTTPHeaders, _ redaction: LogRedaction, _ secrets: inout LogSecrets) -> [HARFile.Pair]
    {
        // For what it finds out about secrets.
        _ = redaction.lines(headers, &secrets)
        return headers.map {
            HARFile.Pair(name: $0.name.rawName, value: redaction.isSecret($0) ? LogRedaction.mask : $0.value)
        }
    }

    private static func query(_ url: String) -> [HARFile.Pair] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        return url[url.index(after: mark)...].split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return HARFile.Pair(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
    }

    private func phases(until end: ContinuousClock.Instant) -> HARFile.Timings {
        var times = HARFile.Timings()
        guard let timings, let total = timings.total else {
            let head = answered ?? end
            times.wait = max(0, start.duration(to: head) / .milliseconds(1))
            times.receive = max(0, head.duration(to: end) / .milliseconds(1))
            return times
        }
        var last = Duration.zero
        /// The time since the phase before; -1 for a phase that is not known.
        func phase(_ end: Duration?) -> Double {
            guard let end else { return -1 }
            defer { last = max(last, end) }
            return max(0, (end - last) / .milliseconds(1))
        }
        times.blocked = phase(timings.queued)
        times.dns = phase(timings.nameLookup)
        let before = last
        times.connect = phase(timings.connected)
        if timings.secured != nil {
            times.ssl = phase(timings.secured)
            times.connect = max(0, (last - before) / .milliseconds(1))
        }
        times.wait = max(0, phase(timings.firstByte ?? total))
        times.receive = max(0, phase(total))
        return times
    }
}
