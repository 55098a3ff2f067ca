public import Errand
public import ErrandEssentials
import Synchronization

/// A transport in memory, for tests of code that sends requests: no socket, no server, one for each agent.
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
/// Or in one word, `transport: .stub { request in .text(request.url.path) }`. Of several rules that match, the last
/// added counts; a request that none matches goes to the handler, and without one throws ``UnmatchedRequest``.
/// Streamed request bodies are read to their end first, at most 64 MiB, and recorded as data.
public final class StubTransport: Transport {
    /// Answers a request; what it throws, the transport throws.
    public typealias Handler = @Sendable (HTTPRequest) async throws -> StubAnswer

    fileprivate struct State {
        var rules: [StubRule] = []
        /// How often each rule has answered.
        var uses: [Int] = []
        var log: [HTTPRequest] = []
    }

    private let otherwise: StubRule.Answers?
    private let recordLimit: Int
    private let state = Mutex(State())

    /// Answers by rules. `recording` says how many requests ``received`` holds, the last ones; 0 records nothing.
    public init(_ rules: StubRule..., recording: Int = 10_000) {
        (otherwise, recordLimit) = (nil, max(0, recording))
        rules.forEach(add)
        CreationObserver.notify(of: self)
    }

    /// Answers what no rule matches by a handler.
    public init(recording: Int = 10_000, handler: @escaping Handler) {
        (otherwise, recordLimit) = (.handler(handler), max(0, recording))
        CreationObserver.notify(of: self)
    }

    /// Answers what no rule matches always in the same way.
    public init(_ answer: StubAnswer, recording: Int = 10_000) {
        (otherwise, recordLimit) = (.inTurn([answer]), max(0, recording))
        CreationObserver.notify(of: self)
    }

    /// The requests so far, the oldest first, with their bodies as data.
    public var received: [HTTPRequest] { state.withLock { Array($0.log.suffix(recordLimit)) } }

    /// Answers a request. Throws what an answer is made to throw, ``UnmatchedRequest``, and `CancellationError`.
    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let request = request.body.data == nil ? try await Self.readWhole(request) : request
        switch try answers(to: request) {
        case (.inTurn(let answers), let turn):
            let answer = answers.isEmpty ? .status(200) : answers[min(turn, answers.count - 1)]
            return try await answer.respond(to: request, options)
        case (.handler(let handler), _):
            return try await handler(request).respond(to: request, options)
        }
    }

    /// Who answers a request, and how often they have before.
    private func answers(to request: HTTPRequest) throws -> (StubRule.Answers, turn: Int) {
        let rules = state.withLock { state in
            if recordLimit > 0 {
                state.log.append(request)
                // Half is dropped at a time, so that dropping costs nothing in the mean.
                if state.log.count >= 2 * recordLimit { state.log.removeFirst(state.log.count - recordLimit) }
            }
            return state.rules
        }
        if rules.isEmpty, let otherwise { return (otherwise, 0) }
        let taken = StubbedRequest(request)
        var nearest: (rule: StubRule, differences: [String])?
        for (index, rule) in rules.enumerated().reversed() {
            let differences = rule.differences(from: taken)
            if differences.isEmpty { return (rule.answers, state.withLock { $0.countUse(of: index) }) }
            if differences.count < nearest?.differences.count ?? .max { nearest = (rule, differences) }
        }
        if let otherwise { return (otherwise, 0) }
        throw UnmatchedRequest(
            request: request, nearest: nearest?.rule.description, differences: nearest?.differences ?? [])
    }

    private static func readWhole(_ request: HTTPRequest) async throws -> HTTPRequest {
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
    /// Adds a rule; it wins over those that were there.
    public func add(_ rule: StubRule) {
        state.withLock { state in
            state.rules.append(rule)
            state.uses.append(0)
        }
    }

    /// Responds to a method and a path, and what else is asked for; see ``StubRule``. Several responses come in turn.
    public func on(
        _ method: HTTPMethod, _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:],
        body: Data? = nil, response answers: StubAnswer...
    ) {
        add(StubRule(method, path, query: query, headers: headers, body: body, .inTurn(answers)))
    }

    /// Responds to a path, whatever the method. Several responses come in turn.
    public func on(
        _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:], body: Data? = nil,
        response answers: StubAnswer...
    ) {
        add(StubRule(nil, path, query: query, headers: headers, body: body, .inTurn(answers)))
    }

    /// The former name of ``on(_:_:query:headers:body:response:)``.
    public func on(
        _ method: HTTPMethod, _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:],
        body: Data? = nil, answer first: StubAnswer, _ others: StubAnswer...
    ) {
        add(StubRule(method, path, query: query, headers: headers, body: body, .inTurn([first] + others)))
    }

    /// The former name of ``on(_:query:headers:body:response:)``.
    public func on(
        _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:], body: Data? = nil,
        answer first: StubAnswer, _ others: StubAnswer...
    ) {
        add(StubRule(nil, path, query: query, headers: headers, body: body, .inTurn([first] + others)))
    }

    /// Responds to a method and a path by a handler.
    public func on(
        _ method: HTTPMethod, _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:],
        body: Data? = nil, handler: @escaping Handler
    ) {
        add(StubRule(method, path, query: query, headers: headers, body: body, .handler(handler)))
    }

    /// Responds to a path by a handler, whatever the method.
    public func on(
        _ path: String, query: [String: String] = [:], headers: HTTPHeaders = [:], body: Data? = nil,
        handler: @escaping Handler
    ) {
        add(StubRule(nil, path, query: query, headers: headers, body: body, .handler(handler)))
    }
}

extension Transport where Self == StubTransport {
    /// Answers nothing until rules are added.
    public static var stub: StubTransport { StubTransport() }

    /// Answers everything in the same way.
    public static func stub(_ answer: StubAnswer) -> StubTransport { StubTransport(answer) }

    /// Answers by rules.
    public static func stub(_ rules: StubRule...) -> StubTransport {
        let stub = StubTransport()
        rules.forEach(stub.add)
        return stub
    }

    /// Answers everything by a handler.
    public static func stub(handler: @escaping StubTransport.Handler) -> StubTransport {
        StubTransport(handler: handler)
    }
}
