public import Errand
public import ErrandEssentials
import Synchronization

/// A transport that responds from memory, so you can test code without a server. Use a separate transport for each
/// agent.
///
/// ```swift
/// let stub = StubTransport()
/// stub.on(.get, "/users/7", response: .json(#"{"id":7,"name":"Ada"}"#))
/// stub.on(.get, "/feed", response: .status(503), .json("[]"))             // first 503, then always []
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
/// …
/// stub.received.last?.headers["Authorization"]
/// ```
///
/// For a single handler, write `transport: .stub { request in .text(request.url.path) }`.
///
/// If several rules match a request, the rule that was added last responds. If a request doesn't match any rule, the
/// handler responds. Without a handler, the request throws ``UnmatchedRequest``.
///
/// If a request's body is a stream, the transport reads up to 64 MiB of it before it responds, and records the bytes as
/// data. Every request body is reported as sent before the response.
public final class StubTransport: Transport {
    /// A closure that returns the response to a request. If it throws, the request throws the same error.
    public typealias Handler = @Sendable (HTTPRequest) async throws -> StubResponse

    fileprivate struct State {
        var rules: [StubRule] = []
        var uses: [Int] = []
        var log = BoundedLog<HTTPRequest>()
    }

    private let otherwise: StubRule.Responses?
    private let recordLimit: Int
    private let state = Mutex(State())

    /// Creates a transport with rules. ``received`` keeps the last requests, up to `maximumRecordedRequests`. 0 turns
    /// recording off.
    public init(_ rules: StubRule..., maximumRecordedRequests: Int = 10_000) {
        (otherwise, recordLimit) = (nil, max(0, maximumRecordedRequests))
        rules.forEach(add)
        CreationObservers.notify(of: self)
    }

    /// Creates a transport with a handler. The handler responds to requests that don't match a rule.
    public init(maximumRecordedRequests: Int = 10_000, handler: @escaping Handler) {
        (otherwise, recordLimit) = (.handler(handler), max(0, maximumRecordedRequests))
        CreationObservers.notify(of: self)
    }

    /// Creates a transport with a response for all requests that don't match a rule.
    public init(_ response: StubResponse, maximumRecordedRequests: Int = 10_000) {
        (otherwise, recordLimit) = (.inTurn([StubReply(response)]), max(0, maximumRecordedRequests))
        CreationObservers.notify(of: self)
    }

    /// The requests so far, with their bodies as data. The oldest request is first.
    public var received: [HTTPRequest] { state.withLock { $0.log.last(recordLimit) } }

    /// Returns the response to a request according to the rules. Throws the error in the response,
    /// ``UnmatchedRequest``, or `CancellationError`.
    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        guard request.body.data != nil else { return try await respond(to: Self.readWhole(request), options) }
        switch try reply(to: request, options) {
        case .response(let response): return response
        case let reply: return try await Self.respond(to: request, options, reply)
        }
    }

    private enum Reply {
        case response(HTTPResponse)
        case late(StubReply)
        case handler(Handler)
    }

    /// This function isn't inlined, because each copy would enlarge every request's async frame.
    @inline(never) private func reply(to request: HTTPRequest, _ options: TransportOptions) throws -> Reply {
        if let length = request.body.length, length > 0 {
            options.report(.progress(TransferProgress(sent: length, totalToSend: length)))
        }
        switch try responses(to: request) {
        case (.inTurn(let responses), let turn):
            let response = Self.response(responses, turn)
            if response.isLate { return .late(response) }
            try Task.checkCancellation()
            return .response(try response.response(to: request, options))
        case (.handler(let handler), _): return .handler(handler)
        }
    }

    private static func response(_ responses: [StubReply], _ turn: Int) -> StubReply {
        responses.isEmpty ? StubReply(.status(200)) : responses[min(turn, responses.count - 1)]
    }

    func stubbed(_ request: HTTPRequest) async throws -> StubReply {
        switch try responses(to: request) {
        case (.inTurn(let responses), let turn): Self.response(responses, turn)
        case (.handler(let handler), _): StubReply(try await handler(request))
        }
    }

    @inline(never) private static func respond(
        to request: HTTPRequest, _ options: TransportOptions, _ reply: Reply
    ) async throws -> HTTPResponse {
        switch reply {
        case .response(let response): response
        case .late(let response): try await response.respond(to: request, options)
        case .handler(let handler): try await StubReply(handler(request)).respond(to: request, options)
        }
    }

    @inline(never) private func respond(
        to request: HTTPRequest, _ options: TransportOptions
    ) async throws -> HTTPResponse {
        try await Self.respond(to: request, options, reply(to: request, options))
    }

    /// Finds the responses to a request. `turn` is the number of earlier requests that matched the same rule. It
    /// determines which of the responses is used.
    private func responses(to request: HTTPRequest) throws -> (StubRule.Responses, turn: Int) {
        let rules = state.withLock { state in
            if recordLimit > 0 { state.log.add(request, limit: recordLimit) }
            return state.rules
        }
        if rules.isEmpty, let otherwise { return (otherwise, 0) }
        let taken = StubbedRequest(request)
        var nearest: (rule: StubRule, differences: [String])?
        for (index, rule) in rules.enumerated().reversed() {
            let differences = rule.differences(from: taken)
            if differences.isEmpty { return (rule.responses, state.withLock { $0.countUse(of: index) }) }
            if differences.count < nearest?.differences.count ?? .max { nearest = (rule, differences) }
        }
        if let otherwise { return (otherwise, 0) }
        throw UnmatchedRequest(
            request: request, nearest: nearest?.rule.description, differences: nearest?.differences ?? [])
    }

    /// This function isn't inlined, because that would enlarge every request's async frame.
    @inline(never) private static func readWhole(_ request: HTTPRequest) async throws -> HTTPRequest {
        var request = request
        let bytes = try await request.body.open().collect(upTo: 64 << 20)
        request.body = .data(bytes, contentType: request.body.contentType)
        return request
    }
}

extension StubTransport.State {
    fileprivate mutating func countUse(of index: Int) -> Int {
        defer { uses[index] += 1 }
        return uses[index]
    }
}

extension StubTransport {
    /// Adds a rule. Rules that are added later are tried first.
    public func add(_ rule: StubRule) {
        state.withLock { state in
            state.rules.append(rule)
            state.uses.append(0)
        }
    }

    /// Adds a rule for a method and a path, with optional conditions. See ``StubRule``. If you pass several responses,
    /// they are used in turn.
    public func on(
        _ method: HTTPMethod, _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:],
        body: Data? = nil, response responses: StubResponse...
    ) {
        add(
            StubRule(
                method, path, query: query, headers: headers, body: body,
                responses: .inTurn(responses.map(StubReply.init))))
    }

    /// Adds a rule for a path. It matches requests with any method. If you pass several responses, they are used in
    /// turn.
    public func on(
        _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:], body: Data? = nil,
        response responses: StubResponse...
    ) {
        add(
            StubRule(
                nil, path, query: query, headers: headers, body: body, responses: .inTurn(responses.map(StubReply.init))
            ))
    }

    /// Unavailable, because responses need the label `response:`.
    @available(*, unavailable, message: "write 'response:' before the response")
    public func on(_ method: HTTPMethod, _ path: String, _ responses: StubResponse...) {}

    /// Unavailable, because responses need the label `response:`.
    @available(*, unavailable, message: "write 'response:' before the response")
    public func on(_ path: String, _ responses: StubResponse...) {}

    /// Adds a rule for a method and a path. A handler returns the responses.
    public func on(
        _ method: HTTPMethod, _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:],
        body: Data? = nil, handler: @escaping Handler
    ) {
        add(StubRule(method, path, query: query, headers: headers, body: body, responses: .handler(handler)))
    }

    /// Adds a rule for a path. It matches requests with any method. A handler returns the responses.
    public func on(
        _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:], body: Data? = nil,
        handler: @escaping Handler
    ) {
        add(StubRule(nil, path, query: query, headers: headers, body: body, responses: .handler(handler)))
    }
}

extension Transport where Self == StubTransport {
    /// A new stub transport without rules. All requests fail until you add rules.
    public static var stub: StubTransport { StubTransport() }

    /// Returns a stub transport with the same response to all requests.
    public static func stub(_ response: StubResponse) -> StubTransport { StubTransport(response) }

    /// Returns a stub transport with rules.
    public static func stub(_ rules: StubRule...) -> StubTransport {
        let stub = StubTransport()
        rules.forEach(stub.add)
        return stub
    }

    /// Returns a stub transport with a handler for all requests.
    public static func stub(handler: @escaping StubTransport.Handler) -> StubTransport {
        StubTransport(handler: handler)
    }
}

extension StubTransport: ConnectingTransport {
    /// Opens a connection in memory. The connection delivers the stubbed response, and then the frames of
    /// ``StubResponse/webSocket(headers:_:)``. The request is recorded.
    public func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        let reply = try await stubbed(request)
        let response = try await reply.respond(to: request, options)
        let (client, server) = MemoryConnection.pair()
        Task {
            defer { server.close() }
            try await Self.serve(request, response: response, conversation: reply.conversation, over: server)
            try await server.flush()
        }
        return client
    }

    private static func serve(
        _ request: HTTPRequest, response: HTTPResponse,
        conversation: (@Sendable (StubSocket) async throws -> Void)?, over connection: MemoryConnection
    ) async throws {
        let end = Data("\r\n\r\n".utf8)
        var input = Data()
        while input.firstRange(of: end) == nil {
            guard let bytes = try await connection.receive() else { return }
            input.append(bytes)
        }
        var head = "HTTP/1.1 \(response.status) \r\n"
        for field in response.headers { head += "\(field.name.rawName): \(field.value)\r\n" }
        if conversation != nil, !response.headers.contains(.secWebSocketAccept) {
            head += "Sec-WebSocket-Accept: \(TestWebSocket.accept(request.headers[.secWebSocketKey] ?? ""))\r\n"
        }
        connection.enqueue(Data((head + "\r\n").utf8))
        for try await chunk in response.body { connection.enqueue(chunk) }
        try await connection.flush()
        let rest = input.firstRange(of: end).map { Data(input[$0.upperBound...]) } ?? Data()
        try await conversation?(StubSocket(connection, rest))
    }
}
