public import Errand
import ErrandEssentials

/// A call of a ``FilterLaw``: a request, what the server does, and how the caller reads.
///
/// A failure of a law prints the exchange as Swift code.
public struct LawExchange: Sendable, Hashable {
    /// When a caller cancels.
    public enum Cancellation: String, Sendable, Hashable {
        /// While the server has the request.
        case onTheWire
        /// After the head of the response, in the middle of its body.
        case whileReading
    }

    /// The method.
    public var method: HTTPMethod
    /// The absolute URL.
    public var url: String
    /// The fields of the request.
    public var headers: HTTPHeaders
    /// The body of the request.
    public var body: LawBody
    /// Whether the caller wants a stream.
    public var isStreamed: Bool
    /// The timeout of an attempt.
    public var timeout: Duration?
    /// The deadline of the call.
    public var deadline: Duration?
    /// The priority.
    public var priority: RequestPriority?
    /// Whether the request has a tag that the filter doesn't know.
    public var isTagged: Bool
    /// Whether a check of the request refuses the response.
    public var isRefused: Bool
    /// Whether the caller drops a stream without reading it.
    public var isDropped: Bool
    /// When the caller cancels.
    public var cancellation: Cancellation?
    /// The replies to the requests of the call; the last one repeats.
    public var replies: [LawReply]

    /// Creates an exchange. Every argument has the plainest value by default.
    public init(
        _ method: HTTPMethod = .get, _ url: String = "https://conformance.example/v1/a", headers: HTTPHeaders = [:],
        body: LawBody = .none, isStreamed: Bool = false, timeout: Duration? = nil, deadline: Duration? = nil,
        priority: RequestPriority? = nil, isTagged: Bool = false, isRefused: Bool = false, isDropped: Bool = false,
        cancellation: Cancellation? = nil, replies: [LawReply] = [LawReply()]
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.isStreamed, self.timeout, self.deadline, self.priority) = (isStreamed, timeout, deadline, priority)
        (self.isTagged, self.isRefused, self.isDropped) = (isTagged, isRefused, isDropped)
        (self.cancellation, self.replies) = (cancellation, replies)
    }

    func reply(to send: Int) -> LawReply { replies[min(send, replies.count) - 1] }
}

/// The body of a request or a response.
public enum LawBody: Sendable, Hashable {
    /// No body.
    case none
    /// Text in memory.
    case text(String)
    /// A stream of chunks. A request body can be read again if `isReplayable` is true.
    case stream([String], isReplayable: Bool = false)
    /// A response whose second chunk only comes after the caller has received the first.
    case awaitedStream([String])

    var text: String {
        switch self {
        case .none: ""
        case .text(let text): text
        case .stream(let chunks, _), .awaitedStream(let chunks): chunks.joined()
        }
    }
}

/// A server's reaction to a request.
public struct LawReply: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The fields of the response.
    public var headers: HTTPHeaders
    /// The body of the response.
    public var body: LawBody
    /// How long the server takes, by the agent's clock.
    public var delay: Duration
    /// An error of the transport in place of a response, or in the middle of a streamed body.
    public var failure: ErrandError.Code?

    /// Creates a reply. The default is a short text with the status 200.
    public init(
        _ status: Int = 200, headers: HTTPHeaders = [:], body: LawBody = .text("law"), delay: Duration = .zero,
        failure: ErrandError.Code? = nil
    ) {
        (self.status, self.headers, self.body, self.delay) = (status, headers, body, delay)
        self.failure = failure
    }
}

// MARK: As code

extension LawExchange: CustomStringConvertible {
    /// A Swift expression that creates the exchange.
    public var description: String {
        let plain = LawExchange()
        var parts: [String] = []
        if method != plain.method || url != plain.url { parts.append(LawCode.method(method)) }
        if url != plain.url { parts.append(LawCode.text(url)) }
        if !headers.isEmpty { parts.append("headers: \(LawCode.headers(headers))") }
        if body != .none { parts.append("body: \(body.code)") }
        if isStreamed { parts.append("isStreamed: true") }
        if let timeout { parts.append("timeout: \(LawCode.duration(timeout))") }
        if let deadline { parts.append("deadline: \(LawCode.duration(deadline))") }
        if let priority { parts.append("priority: .\(priority)") }
        if isTagged { parts.append("isTagged: true") }
        if isRefused { parts.append("isRefused: true") }
        if isDropped { parts.append("isDropped: true") }
        if let cancellation { parts.append("cancellation: .\(cancellation)") }
        if replies != plain.replies {
            parts.append("replies: [\(replies.map(\.description).joined(separator: ", "))]")
        }
        return "LawExchange(\(parts.joined(separator: ", ")))"
    }
}

extension LawReply: CustomStringConvertible {
    /// A Swift expression that creates the reply.
    public var description: String {
        let plain = LawReply()
        var parts: [String] = []
        if status != plain.status { parts.append("\(status)") }
        if !headers.isEmpty { parts.append("headers: \(LawCode.headers(headers))") }
        if body != plain.body { parts.append("body: \(body.code)") }
        if delay != plain.delay { parts.append("delay: \(LawCode.duration(delay))") }
        if let failure { parts.append("failure: .\(failure)") }
        return "LawReply(\(parts.joined(separator: ", ")))"
    }
}

extension LawBody {
    var code: String {
        switch self {
        case .none: ".none"
        case .text(let text): ".text(\(LawCode.text(text)))"
        case .stream(let chunks, let isReplayable):
            ".stream(\(LawCode.list(chunks))\(isReplayable ? ", isReplayable: true" : ""))"
        case .awaitedStream(let chunks): ".awaitedStream(\(LawCode.list(chunks)))"
        }
    }
}

/// Writes values as Swift expressions.
enum LawCode {
    static func text(_ text: String) -> String {
        guard let first = text.first, text.utf8.count > 100, text.allSatisfy({ $0 == first }) else {
            return text.debugDescription
        }
        return "String(repeating: \"\(first)\", count: \(text.count))"
    }

    static func list(_ texts: [String]) -> String { "[\(texts.map(text).joined(separator: ", "))]" }

    static func method(_ method: HTTPMethod) -> String {
        let known: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options]
        return known.contains(method) ? ".\(method.rawValue.lowercased())" : text(method.rawValue)
    }

    static func duration(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1_000 == 0 ? ".seconds(\(milliseconds / 1_000))" : ".milliseconds(\(milliseconds))"
    }

    static func headers(_ headers: HTTPHeaders) -> String {
        let fields = headers.map { "\(text($0.name.rawName)): \(text($0.value))" }
        let list = "[\(fields.joined(separator: ", "))]"
        var sensitive: [String] = []
        for field in headers where field.isSensitive && !field.name.isSensitive {
            let name = text(field.name.rawName)
            if !sensitive.contains(name) { sensitive.append(name) }
        }
        return sensitive.isEmpty ? list : "(\(list) as HTTPHeaders).sensitive(\(sensitive.joined(separator: ", ")))"
    }
}
