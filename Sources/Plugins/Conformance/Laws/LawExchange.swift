public import Errand
import ErrandEssentials

/// A random call that a ``FilterLaw`` makes: its request, the server's replies, and how the caller reads the response.
///
/// A failure of a law prints the exchange as Swift code.
public struct LawExchange: Sendable, Hashable {
    /// The moment at which a caller cancels its call.
    public enum Cancellation: String, Sendable, Hashable {
        /// The caller cancels while the server has the request.
        case onTheWire
        /// The caller cancels after the head of the response, in the middle of its body.
        case whileReading
    }

    /// The method of the request.
    public var method: HTTPMethod
    /// The absolute URL of the request.
    public var url: String
    /// The header fields of the request.
    public var headers: HTTPHeaders
    /// The body of the request.
    public var body: LawBody
    /// Whether the caller wants the response as a stream.
    public var isStreamed: Bool
    /// The longest time without activity within an attempt. Nil for the agent's default.
    public var timeout: Duration?
    /// The time limit of the whole call. Nil for no limit.
    public var deadline: Duration?
    /// The priority of the request. Nil for the task's.
    public var priority: RequestPriority?
    /// Whether the request has a tag that the filter doesn't know.
    public var isTagged: Bool
    /// Whether a check of the request rejects the response.
    public var isRefused: Bool
    /// Whether the caller drops a stream without reading it.
    public var isDropped: Bool
    /// Whether an outer filter sends the request again after a 503.
    public var isRepeated: Bool
    /// When the caller cancels the call. Nil if it doesn't.
    public var cancellation: Cancellation?
    /// The replies to the requests of the call; the last one repeats.
    public var replies: [LawReply]

    /// Creates an exchange. By default, a plain GET that isn't cancelled and gets a short text.
    public init(
        _ method: HTTPMethod = .get, _ url: String = "https://conformance.example/v1/a", headers: HTTPHeaders = [:],
        body: LawBody = .none, isStreamed: Bool = false, timeout: Duration? = nil, deadline: Duration? = nil,
        priority: RequestPriority? = nil, isTagged: Bool = false, isRefused: Bool = false, isDropped: Bool = false,
        isRepeated: Bool = false, cancellation: Cancellation? = nil, replies: [LawReply] = [LawReply()]
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.isStreamed, self.timeout, self.deadline, self.priority) = (isStreamed, timeout, deadline, priority)
        (self.isTagged, self.isRefused, self.isDropped) = (isTagged, isRefused, isDropped)
        (self.isRepeated, self.cancellation, self.replies) = (isRepeated, cancellation, replies)
    }

    func reply(to send: Int) -> LawReply { replies[min(send, replies.count) - 1] }
}

/// The body of a request or a response in a ``LawExchange``.
public enum LawBody: Sendable, Hashable {
    /// The message doesn't have a body.
    case none
    /// The body is a text in memory.
    case text(String)
    /// The body is a stream of chunks. A request body can be read again if `isReplayable` is true.
    case stream([String], isReplayable: Bool = false)
    /// The body of a response whose second chunk only arrives after the caller has received the first.
    case awaitedStream([String])

    var text: String {
        switch self {
        case .none: ""
        case .text(let text): text
        case .stream(let chunks, _), .awaitedStream(let chunks): chunks.joined()
        }
    }
}

/// A server's reply to a request of a ``LawExchange``.
public struct LawReply: Sendable, Hashable {
    /// The status of the response.
    public var status: Int
    /// The header fields of the response.
    public var headers: HTTPHeaders
    /// The body of the response.
    public var body: LawBody
    /// How long the server takes, by the agent's clock.
    public var delay: Duration
    /// An error that the transport throws, instead of a response or in the middle of a streamed body. Nil for no error.
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

extension LawReply {
    /// Returns a 304 if a filter asks whether the entity tag that it knows is still valid.
    func validating(_ request: HTTPRequest, of exchange: LawExchange) -> LawReply {
        guard failure == nil, status == 200, request.method == .get || request.method == .head,
            let tag = headers[.entityTag], !exchange.headers.contains(.ifNoneMatch),
            request.headers.values(of: .ifNoneMatch).contains(where: { $0.contains(tag) })
        else { return self }
        return LawReply(304, headers: headers, body: .none, delay: delay)
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
        if isRepeated { parts.append("isRepeated: true") }
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
