public import Errand
import ErrandEssentials

/// A random exchange that a ``TransportLaw`` makes: its request, the bytes that the server sends, and how the caller
/// reads them.
///
/// A failure of a law prints the exchange as Swift code.
public struct WireExchange: Sendable, Hashable {
    /// The method of the request.
    public var method: HTTPMethod
    /// The path and the query, as they must appear on the wire.
    public var target: String
    /// The header fields of the request.
    public var headers: HTTPHeaders
    /// The body of the request.
    public var body: WireBody
    /// Whether the request goes to another origin than the others of the law.
    public var isElsewhere: Bool
    /// Whether the caller wants the response as a stream.
    public var isStreamed: Bool
    /// Whether the caller pauses for longer than the timeout before each chunk.
    public var isReadSlowly: Bool
    /// Whether the caller drops the body after its first chunk.
    public var isDropped: Bool
    /// Whether the caller cancels when the server stops sending.
    public var isCancelled: Bool
    /// The response that the server sends.
    public var reply: WireReply

    /// Creates an exchange. By default, a plain GET that gets a short text.
    public init(
        _ method: HTTPMethod = .get, _ target: String = "/a", headers: HTTPHeaders = [:], body: WireBody = .none,
        isElsewhere: Bool = false, isStreamed: Bool = false, isReadSlowly: Bool = false, isDropped: Bool = false,
        isCancelled: Bool = false, reply: WireReply = WireReply()
    ) {
        (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
        (self.isElsewhere, self.isReadSlowly) = (isElsewhere, isReadSlowly)
        (self.isStreamed, self.isDropped, self.isCancelled) = (isStreamed, isDropped, isCancelled)
        self.reply = reply
    }
}

/// The body of a request in a ``WireExchange``.
public enum WireBody: Sendable, Hashable {
    /// The request doesn't have a body.
    case none
    /// The body is this many bytes in memory.
    case data(Int)
    /// The body is a file of this many bytes.
    case file(Int)
    /// The body is a stream of chunks with these sizes. Its length is announced if `isKnown` is true.
    case stream([Int], isKnown: Bool = false, isReplayable: Bool = true)
    /// The body is a stream of unknown length whose source fails after these chunks.
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

/// The response of a ``WireExchange``, which the server sends byte by byte as described.
public struct WireReply: Sendable, Hashable {
    /// How the end of a response's body is marked.
    public enum Framing: Sendable, Hashable {
        /// The body ends at its `Content-Length`.
        case length
        /// The body is sent in chunks of these sizes, and one for the remaining bytes.
        case chunked([Int])
        /// The body ends when the connection closes.
        case untilClose
    }

    /// The statuses of 1xx responses before the final response.
    public var informational: [Int]
    /// The status of the final response.
    public var status: Int
    /// The header fields, without the framing. A field with `isLatin1` is sent in Latin-1.
    public var headers: HTTPHeaders
    /// The bytes of the response's body.
    public var body: WireContent
    /// How the end of the body is marked.
    public var framing: Framing
    /// The fields after a chunked body.
    public var trailers: HTTPHeaders
    /// The size of the pieces in which the bytes are sent. `nil` sends them at once.
    public var pieces: Int?
    /// Whether the server waits for the caller to receive the head, and each part of the body, before it goes on.
    public var isPaced: Bool
    /// The fault of the server. Nil for none.
    public var fault: WireFault?

    /// Creates a reply. The default is a short text with the status 200 and a `Content-Length`.
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

/// The bytes of the body in a ``WireReply``.
public enum WireContent: Sendable, Hashable {
    /// The body is a text in UTF-8.
    case text(String)
    /// The body is this many bytes that aren't text.
    case bytes(Int)
    /// The body is a text compressed with gzip, with a `Content-Encoding`.
    case gzip

    var data: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .bytes(let count): WireBytes.prefix(count)
        case .gzip: CodingCases.gzip
        }
    }
}

/// Bytes for bodies, computed once.
enum WireBytes {
    private static let long = ConformanceBench.pattern(1 << 20)

    static func prefix(_ count: Int) -> Data {
        count > long.count ? ConformanceBench.pattern(count) : Data(long.prefix(count))
    }
}

/// A fault of the server in a ``WireExchange``.
public enum WireFault: Sendable, Hashable {
    /// The connection closes after this many bytes of the response, with its head and its 1xx responses.
    case close(Int)
    /// The connection is reset after this many bytes.
    case reset(Int)
    /// The server is silent after this many bytes.
    case stall(Int)
    /// The connection is reset after this many bytes of the request's body.
    case resetUpload(Int)
    /// The response isn't valid HTTP.
    case malformed(Malformation)

    /// The mistake in a malformed response.
    public enum Malformation: String, Sendable, Hashable, CaseIterable {
        /// The status line begins with another protocol.
        case statusLine
        /// There are two lengths that differ.
        case lengths
        /// The length isn't a number.
        case lengthText
        /// The size of a chunk isn't a number.
        case chunkSize
        /// A chunk is longer than its size.
        case chunkEnd
        /// The body is followed by bytes that belong to no response.
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
    /// Fields, some of which may be in Latin-1.
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
    /// Creates a field whose value is in Latin-1 on the wire, for a ``WireReply``.
    public static func latin1(_ name: HTTPHeaderName, _ value: String) -> HTTPHeaders.Field {
        var field = HTTPHeaders.Field(name, value)
        field.isLatin1 = true
        return field
    }
}
