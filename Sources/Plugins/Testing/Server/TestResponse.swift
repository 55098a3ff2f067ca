public import Errand
public import ErrandEssentials

/// A response of the ``TestServer``: made by a factory, changed by modifiers.
///
/// ```swift
/// .json(#"{"id":7}"#)
/// .text("slow").delayed(by: .milliseconds(50))
/// .data(bytes).chunked(sizes: [1, 2, 3]).trailers(["X-Sum": "7"])
/// .text("lost").resetting(afterBytes: 12)
/// ```
public struct TestResponse: ScriptedResponse {
    /// The status.
    public var status: Int
    /// The reason phrase; the usual one if nil.
    public var reason: String?
    /// The fields beside the framing. A `Content-Length` or `Transfer-Encoding` here replaces the correct one.
    public var headers: HTTPHeaders
    var content: Content
    var framing = Framing.length
    var trailers = HTTPHeaders()
    var informational: [(status: Int, headers: HTTPHeaders)] = []
    var delay = Duration.zero
    var gate: Gate?
    var bodyGate: (after: Int, gate: Gate)?
    var pace: Pace?
    var cut: Cut?
    var ending = Ending.keep
    /// Makes the real response once there is a request; modifiers then apply to it.
    var resolver: (@Sendable (RecordedRequest) -> TestResponse)?

    enum Content: Sendable {
        case data(Data)
        case repeated(Data, count: Int)
        /// Everything that is sent, unchanged.
        case raw(Data)

        var count: Int {
            switch self {
            case .data(let data), .raw(let data): data.count
            case .repeated(_, let count): count
            }
        }
    }

    enum Framing: Sendable {
        case length
        /// The sizes of the first chunks; the rest is one more.
        case chunked([Int])
        case untilClose
    }

    struct Pace: Sendable {
        let bytes: Int
        let interval: Duration
        let includesHead: Bool
    }

    struct Cut: Sendable {
        enum Action: Sendable { case close, reset, stall }
        let bytes: Int
        let countsHead: Bool
        let action: Action
    }

    enum Ending: Sendable {
        case keep
        /// With `Connection: close`.
        case close
        case closeSilently
        /// When the next request arrives, without a response.
        case closeAtNextRequest
        /// When a closure has returned, which gets the connection.
        case conversation(@Sendable (TestConversation) throws -> Void)

        var isClose: Bool { if case .close = self { true } else { false } }
    }

    /// A response of any status, headers and bytes.
    public init(status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        content = .data(body)
    }
}

extension TestResponse {
    /// `count` bytes that take no memory: the same bytes repeated.
    public static func repeating(_ bytes: Data = Data(repeating: 0x2E, count: 1 << 16), count: Int) -> TestResponse {
        var response = TestResponse()
        response.content = bytes.isEmpty ? .data(Data()) : .repeated(bytes, count: max(0, count))
        return response
    }

    /// Exactly these bytes instead of a response, then the end of the connection unless `keepAlive(true)` follows.
    public static func raw(_ bytes: Data) -> TestResponse {
        var response = TestResponse()
        response.content = .raw(bytes)
        response.ending = .close
        return response
    }

    /// Exactly this text instead of a response, then the end of the connection.
    public static func raw(_ text: String) -> TestResponse { raw(Data(text.utf8)) }

    /// A redirect; `location` may be relative.
    public static func redirect(to location: String, status: Int = 302) -> TestResponse {
        TestResponse(status: status, headers: [.location: location])
    }

    /// A response that depends on the request.
    public static func computed(_ resolver: @escaping @Sendable (RecordedRequest) -> TestResponse) -> TestResponse {
        var response = TestResponse()
        response.resolver = resolver
        return response
    }
}
