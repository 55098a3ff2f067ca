public import Errand
import ErrandEssentials

/// A random call of a ``FilterLaw``: its request, the server's replies, and how the caller reads the response.
///
/// A law's failure prints the exchange as Swift code.
public struct LawExchange: Sendable, Hashable {
    /// When a caller cancels its call.
    public enum Cancellation: String, Sendable, Hashable {
        /// The caller cancels while the server handles the request.
        case onTheWire
        /// The caller cancels after the response's head, in the middle of its body.
        case whileReading
    }

    /// The request's method.
    public var method: HTTPMethod
    /// The request's absolute URL.
    public var url: String
    /// The request's header fields.
    public var headers: HTTPHeaders
    /// The request's body.
    public var body: LawBody
    /// Whether the caller reads the response as a stream.
    public var isStreamed: Bool
    /// Whether the response is saved to a file. A stream isn't saved.
    public var isSaved: Bool
    /// The request's timeout. `nil` for the agent's default.
    public var timeout: Duration?
    /// The call's deadline. `nil` for no limit.
    public var deadline: Duration?
    /// The request's priority. `nil` for the default, `.medium`.
    public var priority: RequestPriority?
    /// Whether the request has a tag that the filter doesn't know.
    public var isTagged: Bool
    /// The request's tags, such as those that the filter reacts to.
    public var tags: [LawTag]
    /// Whether a check of the request rejects the response.
    public var isRefused: Bool
    /// Whether the request only accepts statuses from 200 to 299. By default, it accepts all.
    public var isStrict: Bool
    /// Whether the caller drops the stream without reading it.
    public var isDropped: Bool
    /// Whether an outer filter sends the request again after a 503.
    public var isRepeated: Bool
    /// When the caller cancels the call. `nil` if it doesn't.
    public var cancellation: Cancellation?
    /// The replies to consecutive requests of the call. The last one repeats.
    public var replies: [LawReply]

    /// Creates an exchange. By default, it's a plain GET with a short text as its response.
    public init(
        _ method: HTTPMethod = .get, _ url: String = "https://conformance.example/v1/a", headers: HTTPHeaders = [:],
        body: LawBody = .none, isStreamed: Bool = false, isSaved: Bool = false, timeout: Duration? = nil,
        deadline: Duration? = nil, priority: RequestPriority? = nil, isTagged: Bool = false, tags: [LawTag] = [],
        isRefused: Bool = false,
        isStrict: Bool = false, isDropped: Bool = false, isRepeated: Bool = false,
        cancellation: Cancellation? = nil, replies: [LawReply] = [LawReply()]
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.isStreamed, self.timeout, self.deadline, self.priority) = (isStreamed, timeout, deadline, priority)
        (self.isTagged, self.tags, self.isRefused, self.isStrict) = (isTagged, tags, isRefused, isStrict)
        (self.isSaved, self.isDropped, self.isRepeated) = (isSaved, isDropped, isRepeated)
        (self.cancellation, self.replies) = (cancellation, replies)
    }

    func reply(to send: Int) -> LawReply { replies[min(send, replies.count) - 1] }
}

/// A body in a ``LawExchange``.
public enum LawBody: Sendable, Hashable {
    /// No body.
    case none
    /// A text in memory.
    case text(String)
    /// Bytes in memory that aren't necessarily UTF-8.
    case bytes([UInt8])
    /// A stream of chunks. A request body can be read again if `isReplayable` is `true`. The length is known if
    /// `hasLength` is `true`.
    case stream([String], isReplayable: Bool = false, hasLength: Bool = false)
    /// A response's stream whose second chunk arrives only after the caller has received the first.
    case awaitedStream([String])

    var data: Data { if case .bytes(let bytes) = self { Data(bytes) } else { Data(text.utf8) } }

    var text: String {
        switch self {
        case .none: ""
        case .text(let text): text
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .stream(let chunks, _, _), .awaitedStream(let chunks): chunks.joined()
        }
    }
}

/// A server's reply in a ``LawExchange``.
public struct LawReply: Sendable, Hashable {
    /// The response's status.
    public var status: Int
    /// The response's header fields.
    public var headers: HTTPHeaders
    /// The response's body.
    public var body: LawBody
    /// The time until the server responds, by the agent's clock.
    public var delay: Duration
    /// An error that the transport throws instead of a response, or in the middle of a streamed body. `nil` for no
    /// error.
    public var failure: ErrandError.Code?

    /// Creates a reply. By default, it's a 200 with a short text.
    public init(
        _ status: Int = 200, headers: HTTPHeaders = [:], body: LawBody = .text("law"), delay: Duration = .zero,
        failure: ErrandError.Code? = nil
    ) {
        (self.status, self.headers, self.body, self.delay) = (status, headers, body, delay)
        self.failure = failure
    }
}

extension LawReply {
    /// Returns a 304 if a filter revalidates the entity tag, or else this reply.
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
        if isSaved { parts.append("isSaved: true") }
        if let timeout { parts.append("timeout: \(LawCode.duration(timeout))") }
        if let deadline { parts.append("deadline: \(LawCode.duration(deadline))") }
        if let priority { parts.append("priority: .\(priority)") }
        if isTagged { parts.append("isTagged: true") }
        if !tags.isEmpty { parts.append("tags: [\(tags.map(\.description).joined(separator: ", "))]") }
        if isRefused { parts.append("isRefused: true") }
        if isStrict { parts.append("isStrict: true") }
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
        case .bytes(let bytes): ".bytes(\(bytes))"
        case .stream(let chunks, let isReplayable, let hasLength):
            ".stream(\(LawCode.list(chunks))\(isReplayable ? ", isReplayable: true" : "")"
                + "\(hasLength ? ", hasLength: true" : ""))"
        case .awaitedStream(let chunks): ".awaitedStream(\(LawCode.list(chunks)))"
        }
    }
}

enum LawCode {
    static func text(_ text: String) -> String {
        guard let first = text.first, text.utf8.count > 100, text.allSatisfy({ $0 == first }) else {
            return text.debugDescription
        }
        return "String(repeating: \(String(first).debugDescription), count: \(text.count))"
    }

    /// Returns a closure that creates a plugin of the same type. The suite doesn't know the initializer's arguments, so
    /// a comment takes their place.
    static func creation(of plugin: Any) -> String {
        let hasProperties = !Mirror(reflecting: plugin).children.isEmpty
        return "{ \(name(of: type(of: plugin)))(\(hasProperties ? "/* arguments as in your test */" : "")) }"
    }

    /// Returns a type's name, with the types in which it's nested.
    static func name(of type: Any.Type) -> String {
        let full = String(reflecting: type)
        let isLocal = full.contains("(") || !full.contains(".")
        return isLocal ? "\(type)" : full.split(separator: ".").dropFirst().joined(separator: ".")
    }

    static func list(_ elements: [some CustomStringConvertible]) -> String {
        elements.map(\.description).joined(separator: ", ")
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
