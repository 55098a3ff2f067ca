public import Errand
import ErrandEssentials

/// A random exchange of a ``TransportLaw``: its request, the bytes that the server sends, and how the caller reads
/// them.
///
/// A law's failure prints the exchange as Swift code.
public struct WireExchange: Sendable, Hashable {
    /// The request's method.
    public var method: HTTPMethod
    /// The path and the query, as they must be sent.
    public var target: String
    /// The request's header fields.
    public var headers: HTTPHeaders
    /// The request's body.
    public var body: WireBody
    /// Whether the request goes to another origin than the law's other requests.
    public var isElsewhere: Bool
    /// Whether the caller reads the response as a stream.
    public var isStreamed: Bool
    /// Whether the caller waits for longer than the timeout before each chunk.
    public var isReadSlowly: Bool
    /// Whether the caller drops the body after its first chunk.
    public var isDropped: Bool
    /// Whether the caller cancels when the server stops sending.
    public var isCancelled: Bool
    /// The server's response.
    public var reply: WireReply
    /// The server's responses to further requests of a transport that continues a body. The last one is repeated. If
    /// empty, the server repeats `reply`.
    public var furtherReplies: [WireFurtherReply]

    /// Creates an exchange. By default, it's a plain GET with a short text as its response.
    public init(
        _ method: HTTPMethod = .get, _ target: String = "/a", headers: HTTPHeaders = [:], body: WireBody = .none,
        isElsewhere: Bool = false, isStreamed: Bool = false, isReadSlowly: Bool = false, isDropped: Bool = false,
        isCancelled: Bool = false, reply: WireReply = WireReply(), furtherReplies: [WireFurtherReply] = []
    ) {
        (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
        (self.isElsewhere, self.isReadSlowly) = (isElsewhere, isReadSlowly)
        (self.isStreamed, self.isDropped, self.isCancelled) = (isStreamed, isDropped, isCancelled)
        (self.reply, self.furtherReplies) = (reply, furtherReplies)
    }
}

extension WireExchange {
    mutating func resemble(_ sample: WireExchange) {
        let plain = WireExchange()
        for field in sample.headers where !headers.contains(field.name) { headers.add(field.name, field.value) }
        if sample.method != plain.method { (method, body) = (sample.method, sample.body) }
        if sample.target != plain.target { target = sample.target }
        if sample.reply == plain.reply || reply.fault != nil { return }
        (reply.status, reply.body) = (sample.reply.status, sample.reply.body)
        for name in Set(sample.reply.headers.map(\.name)) {
            reply.headers.removeAll { $0.name == name }
            for field in sample.reply.headers where field.name == name {
                reply.headers = HTTPHeaders(Array(reply.headers) + [field])
            }
        }
    }
}

/// A request body in a ``WireExchange``.
public enum WireBody: Sendable, Hashable {
    /// No body.
    case none
    /// This many bytes in memory.
    case data(Int)
    /// A file of this many bytes.
    case file(Int)
    /// A stream of chunks with these sizes. Its length is announced if `isKnown` is `true`.
    case stream([Int], isKnown: Bool = false, isReplayable: Bool = true)
    /// A stream of unknown length whose source fails after these chunks.
    case failing([Int])

    var count: Int {
        switch self {
        case .none: 0
        case .data(let count), .file(let count): count
        case .stream(let sizes, _, _), .failing(let sizes): sizes.reduce(0, +)
        }
    }

    var isStream: Bool {
        switch self {
        case .stream, .failing: true
        default: false
        }
    }
}

/// The server's response in a ``WireExchange``.
public struct WireReply: Sendable, Hashable {
    /// What marks the end of a response's body.
    public enum Framing: Sendable, Hashable {
        /// The `Content-Length`.
        case length
        /// Chunks of these sizes, and another one for the remaining bytes.
        case chunked([Int])
        /// The end of the connection.
        case untilClose
    }

    /// The statuses of 1xx responses before the final response.
    public var informational: [Int]
    /// The final response's status.
    public var status: Int
    /// The header fields without the framing. A field with `isLatin1` is sent in Latin-1.
    public var headers: HTTPHeaders
    /// The response's body.
    public var body: WireContent
    /// What marks the end of the body.
    public var framing: Framing
    /// The trailer fields after a chunked body.
    public var trailers: HTTPHeaders
    /// The size of the pieces to send. `nil` sends all bytes at once.
    public var pieces: Int?
    /// Whether the server waits until the caller has received the head, and each part of the body.
    public var isPaced: Bool
    /// The server's fault. `nil` for no fault.
    public var fault: WireFault?

    /// Creates a reply. By default, it's a 200 with a short text and a `Content-Length`.
    public init(
        _ status: Int = 200, headers: HTTPHeaders = [:], body: WireContent = .text("law"),
        framing: Framing = .length, trailers: HTTPHeaders = [:], informational: [Int] = [], pieces: Int? = nil,
        isPaced: Bool = false, fault: WireFault? = nil
    ) {
        (self.status, self.headers, self.body, self.framing) = (status, headers, body, framing)
        (self.trailers, self.informational, self.pieces) = (trailers, informational, pieces)
        (self.isPaced, self.fault) = (isPaced, fault)
    }
}

/// A response body in a ``WireReply``.
public enum WireContent: Sendable, Hashable {
    /// UTF-8 text.
    case text(String)
    /// This many bytes that aren't text.
    case bytes(Int)
    /// Text compressed with gzip, with a `Content-Encoding`.
    case gzip

    var data: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .bytes(let count): WireBytes.prefix(count)
        case .gzip: CodingCases.gzip
        }
    }
}

enum WireBytes {
    private static let long = ConformanceBench.pattern(1 << 20)

    static func prefix(_ count: Int) -> Data {
        count > long.count ? ConformanceBench.pattern(count) : Data(long.prefix(count))
    }
}

/// A server's fault in a ``WireExchange``.
public enum WireFault: Sendable, Hashable {
    /// The connection closes after this many bytes of the response, including its head and 1xx responses.
    case close(Int)
    /// The connection is reset after this many bytes of the response.
    case reset(Int)
    /// The server stops sending after this many bytes of the response.
    case stall(Int)
    /// The connection is reset after this many bytes of the request's body.
    case resetUpload(Int)
    /// The response isn't valid HTTP.
    case malformed(Malformation)

    /// A mistake in a malformed response.
    public enum Malformation: String, Sendable, Hashable, CaseIterable {
        /// The status line begins with another protocol.
        case statusLine
        /// The response has two different lengths.
        case lengths
        /// The length isn't a number.
        case lengthText
        /// A chunk's size isn't a number.
        case chunkSize
        /// A chunk is longer than its size.
        case chunkEnd
        /// Bytes that don't belong to a response follow the body.
        case excess
    }

    var position: Int? {
        switch self {
        case .close(let count), .reset(let count), .stall(let count): count
        case .resetUpload, .malformed: nil
        }
    }

    func moved(to position: Int) -> WireFault {
        switch self {
        case .close: .close(position)
        case .reset: .reset(position)
        case .stall: .stall(position)
        case .resetUpload, .malformed: self
        }
    }
}

// MARK: As code

extension WireExchange: CustomStringConvertible {
    /// A Swift expression that creates the exchange.
    public var description: String {
        let plain = WireExchange()
        var parts: [String] = []
        if method != plain.method || target != plain.target { parts.append(LawCode.method(method)) }
        if target != plain.target { parts.append(LawCode.text(target)) }
        if !headers.isEmpty { parts.append("headers: \(LawCode.wireHeaders(headers))") }
        if body != .none { parts.append("body: \(body.code)") }
        if isElsewhere { parts.append("isElsewhere: true") }
        if isStreamed { parts.append("isStreamed: true") }
        if isReadSlowly { parts.append("isReadSlowly: true") }
        if isDropped { parts.append("isDropped: true") }
        if isCancelled { parts.append("isCancelled: true") }
        if reply != plain.reply { parts.append("reply: \(reply)") }
        if !furtherReplies.isEmpty {
            parts.append("furtherReplies: [\(furtherReplies.map { ".\($0.rawValue)" }.joined(separator: ", "))]")
        }
        return "WireExchange(\(parts.joined(separator: ", ")))"
    }
}

extension WireBody {
    var code: String {
        switch self {
        case .none: ".none"
        case .data(let count): ".data(\(count))"
        case .file(let count): ".file(\(count))"
        case .stream(let sizes, let isKnown, let isReplayable):
            ".stream(\(sizes)\(isKnown ? ", isKnown: true" : "")\(isReplayable ? "" : ", isReplayable: false"))"
        case .failing(let sizes): ".failing(\(sizes))"
        }
    }
}

extension WireReply: CustomStringConvertible {
    /// A Swift expression that creates the reply.
    public var description: String {
        let plain = WireReply()
        var parts: [String] = []
        if status != plain.status { parts.append("\(status)") }
        if !headers.isEmpty { parts.append("headers: \(LawCode.wireHeaders(headers))") }
        switch body {
        case plain.body: break
        case .text(let text): parts.append("body: .text(\(LawCode.text(text)))")
        case .bytes(let count): parts.append("body: .bytes(\(count))")
        case .gzip: parts.append("body: .gzip")
        }
        switch framing {
        case .length: break
        case .chunked(let sizes): parts.append("framing: .chunked(\(sizes))")
        case .untilClose: parts.append("framing: .untilClose")
        }
        if !trailers.isEmpty { parts.append("trailers: \(LawCode.wireHeaders(trailers))") }
        if !informational.isEmpty { parts.append("informational: \(informational)") }
        if let pieces { parts.append("pieces: \(pieces)") }
        if isPaced { parts.append("isPaced: true") }
        switch fault {
        case .close(let count): parts.append("fault: .close(\(count))")
        case .reset(let count): parts.append("fault: .reset(\(count))")
        case .stall(let count): parts.append("fault: .stall(\(count))")
        case .resetUpload(let count): parts.append("fault: .resetUpload(\(count))")
        case .malformed(let kind): parts.append("fault: .malformed(.\(kind))")
        case nil: break
        }
        return "WireReply(\(parts.joined(separator: ", ")))"
    }
}

extension LawCode {
    static func wireHeaders(_ headers: HTTPHeaders) -> String {
        guard headers.contains(where: \.isLatin1) else { return self.headers(headers) }
        let fields = headers.map { field in
            field.isLatin1
                ? ".latin1(\(text(field.name.rawName)), \(text(field.value)))"
                : "HTTPHeaders.Field(\(text(field.name.rawName)), \(text(field.value)))"
        }
        return "HTTPHeaders([\(fields.joined(separator: ", "))])"
    }
}

extension HTTPHeaders.Field {
    /// Creates a field that a ``WireReply`` sends in Latin-1.
    public static func latin1(_ name: HTTPHeaderName, _ value: String) -> HTTPHeaders.Field {
        var field = HTTPHeaders.Field(name, value)
        field.isLatin1 = true
        return field
    }
}
