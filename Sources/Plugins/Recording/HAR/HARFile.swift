import Errand
public import ErrandEssentials

/// An HTTP Archive (HAR 1.2). Browsers open such files in their network panels. The properties are named like the
/// fields of the format.
///
/// ```swift
/// try recorder.harFile().encoded().write(to: directory.appending(path: "errand.har"))
/// ```
///
/// Times are in milliseconds, and sizes in bytes. The number -1 means unknown.
///
/// Decoding throws `DecodingError` if a field has the wrong type, or if a required field is missing. The required
/// fields are the entries, the request and the response of an entry, and the method and the URL of a request.
public struct HARFile: Codable, Sendable, Hashable {
    /// The content of the file. It's the only top-level object in the format.
    public var log: Log

    /// Creates a file.
    public init(log: Log) { self.log = log }

    /// Returns the file as indented JSON with sorted keys.
    ///
    /// - Throws: `EncodingError` if a time isn't finite.
    public func encoded() throws -> Data { try Self.encode(self) }

    fileprivate static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// The content of a file.
    public struct Log: Codable, Sendable, Hashable {
        /// The format's version, always "1.2".
        public var version = "1.2"
        /// The program that wrote the file.
        public var creator: Creator
        /// The entries of the file. Each request that was sent has an entry.
        public var entries: [Entry]
        /// A comment. Errand writes the number of exchanges that were dropped.
        public var comment: String?
        /// The format doesn't require this list, but Firefox doesn't open a file without it.
        private let pages: [String] = []

        /// Creates a file's content.
        public init(creator: Creator, entries: [Entry], comment: String? = nil) {
            (self.creator, self.entries, self.comment) = (creator, entries, comment)
        }
    }

    /// The program that wrote a file.
    public struct Creator: Codable, Sendable, Hashable {
        /// The program's name.
        public var name: String
        /// The program's version.
        public var version: String

        /// Creates a description of a program.
        public init(name: String, version: String) { (self.name, self.version) = (name, version) }
    }

    /// An entry: a request that was sent, its response, and their times.
    public struct Entry: Codable, Sendable, Hashable {
        /// The time when the request was sent, in ISO 8601.
        public var startedDateTime: String
        /// The sum of the timings in milliseconds.
        public var time: Double
        /// The request that was sent.
        public var request: Request
        /// The response that was received.
        public var response: Response
        /// The cache's state. The format requires this field. It's always empty.
        public var cache = Cache()
        /// The duration of each phase.
        public var timings: Timings
        /// The server's IP address, if known.
        public var serverIPAddress: String?
        /// A comment. Errand writes the activity's label, the numbers of the attempt and of the request within the
        /// attempt, and the failure.
        public var comment: String?
        /// The reason why the response is missing, such as "timedOut". It's stored as `_error`, as browsers do.
        public var error: String?
        /// The type of the resource: "websocket" for an opening handshake, and otherwise nil. It's stored as
        /// `_resourceType`, a field that Chromium uses.
        public var resourceType: String?
        /// The messages of a WebSocket. They're stored as `_webSocketMessages`, a field that Chromium uses.
        public var webSocketMessages: [WebSocketMessage]?

        /// Creates an entry. Arguments with a default value are optional in the format.
        public init(
            startedDateTime: String, time: Double, request: Request, response: Response, timings: Timings,
            serverIPAddress: String? = nil, comment: String? = nil, error: String? = nil
        ) {
            (self.startedDateTime, self.time, self.request, self.response) = (startedDateTime, time, request, response)
            (self.timings, self.serverIPAddress, self.comment) = (timings, serverIPAddress, comment)
            self.error = error
        }

        /// Returns the entry as JSON. Use it to write an archive piece by piece.
        ///
        /// - Throws: `EncodingError` if a time isn't finite.
        public func encoded() throws -> Data { try HARFile.encode(self) }

        private enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress, comment
            case error = "_error"
            case resourceType = "_resourceType"
            case webSocketMessages = "_webSocketMessages"
        }
    }

    /// The state of a browser's cache. The format requires this object. It's always empty.
    public struct Cache: Codable, Sendable, Hashable {
        /// Creates an empty object.
        public init() {}
    }

    /// The name and value of a header field, query item or cookie.
    public struct Pair: Codable, Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a pair.
        public init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }
}

// Some programs omit required fields, or omit the quotes of a text. Therefore, a missing field gets the value that
// means unknown, and a header field or a version may be a number.

private struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer where K == FieldName {
    fileprivate func value<Value: Decodable>(_ name: String, or missing: Value) throws -> Value {
        try decodeIfPresent(Value.self, forKey: FieldName(name)) ?? missing
    }

    fileprivate func value<Value: Decodable>(_ name: String) throws -> Value? {
        try decodeIfPresent(Value.self, forKey: FieldName(name))
    }

    fileprivate func value(_ name: String, or missing: String) throws -> String { try value(name) ?? missing }

    fileprivate func value(_ name: String) throws -> String? {
        let key = FieldName(name)
        do { return try decodeIfPresent(String.self, forKey: key) } catch {
            if let number = try? decode(Int64.self, forKey: key) { return "\(number)" }
            if let number = try? decode(Double.self, forKey: key) { return "\(number)" }
            if let word = try? decode(Bool.self, forKey: key) { return "\(word)" }
            throw error
        }
    }
}

extension HARFile.Log {
    /// Decodes a file's content. Throws `DecodingError` if the entries are missing.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            creator: fields.value("creator", or: HARFile.Creator(name: "", version: "")),
            entries: fields.decode([HARFile.Entry].self, forKey: FieldName("entries")), comment: fields.value("comment")
        )
        version = try fields.value("version", or: "1.2")
    }
}

extension HARFile.Creator {
    /// Decodes the description of a program. Missing texts count as empty.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(name: fields.value("name", or: ""), version: fields.value("version", or: ""))
    }
}

extension HARFile.Pair {
    /// Decodes a name and a value. Missing texts count as empty.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(name: fields.value("name", or: ""), value: fields.value("value", or: ""))
    }
}

extension HARFile.Entry {
    /// Decodes an entry. Throws `DecodingError` if the request is missing. Some programs omit the response of a failed
    /// request.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            startedDateTime: fields.value("startedDateTime", or: ""), time: fields.value("time", or: 0),
            request: fields.decode(HARFile.Request.self, forKey: FieldName("request")),
            response: fields.value(
                "response",
                or: HARFile.Response(status: 0, content: HARFile.Content(size: -1, mimeType: "x-unknown"))),
            timings: fields.value("timings", or: HARFile.Timings()), serverIPAddress: fields.value("serverIPAddress"),
            comment: fields.value("comment"))
        // These fields aren't part of the format, so other programs may use them in other places or with other types.
        let response = try? fields.nestedContainer(keyedBy: FieldName.self, forKey: FieldName("response"))
        let errors = [(fields, "_error"), (response, "_error"), (response, "_failureText")]
        error = errors.lazy.compactMap { (try? $0?.value($1)) ?? nil }.first
        resourceType = try? fields.value("_resourceType")
        webSocketMessages = try? fields.value("_webSocketMessages")
    }
}

extension HARFile.Request {
    /// Decodes a request. Throws `DecodingError` if the method or the URL is missing.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            method: fields.decode(String.self, forKey: FieldName("method")),
            url: fields.decode(String.self, forKey: FieldName("url")), httpVersion: fields.value("httpVersion", or: ""),
            headers: fields.value("headers", or: []), queryString: fields.value("queryString", or: []),
            postData: fields.value("postData"), bodySize: fields.value("bodySize", or: -1))
        cookies = try fields.value("cookies", or: [])
        headersSize = try fields.value("headersSize", or: -1)
    }
}

extension HARFile.PostData {
    /// Decodes the body of a request.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            mimeType: fields.value("mimeType", or: ""), text: fields.value("text", or: ""),
            comment: fields.value("comment"), encoding: fields.value("_encoding"))
    }
}

extension HARFile.Response {
    /// Decodes a response. Missing fields get their defaults.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            status: fields.value("status", or: 0), httpVersion: fields.value("httpVersion", or: ""),
            headers: fields.value("headers", or: []),
            content: fields.value("content", or: HARFile.Content(size: -1, mimeType: "x-unknown")),
            redirectURL: fields.value("redirectURL", or: ""), bodySize: fields.value("bodySize", or: -1))
        statusText = try fields.value("statusText", or: "")
        cookies = try fields.value("cookies", or: [])
        headersSize = try fields.value("headersSize", or: -1)
    }
}

extension HARFile.Content {
    /// Decodes the body of a response.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            size: fields.value("size", or: -1), compression: fields.value("compression"),
            mimeType: fields.value("mimeType", or: "x-unknown"), text: fields.value("text"),
            encoding: fields.value("encoding"), comment: fields.value("comment"))
    }
}

extension HARFile.WebSocketMessage {
    /// Decodes a WebSocket message.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            type: fields.value("type", or: ""), time: fields.value("time", or: 0),
            opcode: fields.value("opcode", or: -1), data: fields.value("data", or: ""), size: fields.value("_size"))
    }
}

extension HARFile.Timings {
    /// Decodes the times of the phases. Missing phases get their defaults.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        try self.init(
            blocked: fields.value("blocked", or: -1), dns: fields.value("dns", or: -1),
            connect: fields.value("connect", or: -1), ssl: fields.value("ssl", or: -1),
            send: fields.value("send", or: 0), wait: fields.value("wait", or: 0),
            receive: fields.value("receive", or: 0))
    }
}

extension HARFile {
    /// Creates an archive from a recording, with an entry for each exchange.
    public init(_ recording: Recording) {
        let dropped = recording.droppedExchanges
        log = Log(
            creator: Creator(name: "Errand", version: ErrandInfo.version), entries: recording.exchanges.map(Entry.init),
            comment: dropped > 0 ? "\(dropped) earlier entries were dropped" : nil)
    }
}

extension HARFile.Entry {
    /// Creates an entry from an exchange.
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
        if request.url.hasPrefix("http") { request.url = "ws" + request.url.dropFirst(4) }
        resourceType = "websocket"
        webSocketMessages = exchange.webSocket?.messages.map(HARFile.WebSocketMessage.init) ?? []
    }
}

extension RecordedExchange {
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
                    comment: body.isBase64 ? "left out, because it isn't text" : body.comment)
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
    fileprivate init(_ response: RecordedExchange.Response?, _ version: String, wireBytes: Int64?) {
        let body = response.flatMap { HARText($0.body) }
        let size = response?.body.length ?? 0
        let wireBytes = wireBytes.flatMap { $0 < 0 ? nil : $0 } ?? (response == nil ? nil : size)
        self.init(
            status: response?.status ?? 0, httpVersion: version,
            headers: (response?.headers ?? [:]).map { HARFile.Pair(name: $0.name.rawName, value: $0.value) },
            content: HARFile.Content(
                // A coding can also make a short body longer, and then it hasn't saved bytes.
                size: size, compression: wireBytes.flatMap { $0 > size ? nil : size - $0 },
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

private struct HARText {
    let text: String
    let isBase64: Bool
    let comment: String?

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
