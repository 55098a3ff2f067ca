// The code of docs/interception.md.
import Errand
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

private let url = "https://api.example.com"

private struct AddRegion: Filter {
    let region: @Sendable () -> String?
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let region = region() else { return try await next(exchange) }
        var exchange = exchange
        exchange.http.url.append(queryItems: [URLQueryItem(name: "region", value: region)])
        return try await next(exchange)
    }
}

nonisolated protocol ValidatedRequest: FilterProvidingRequest {
    func validate(_ http: HTTPRequest) throws
}

nonisolated extension ValidatedRequest {
    var requiredFilters: [any Filter] { [ValidateParameters()] }
}

struct ValidateParameters: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        try (exchange.request as? any ValidatedRequest)?.validate(exchange.http)
        return try await next(exchange)
    }
}

struct InvalidParameters: DescribedError {
    let description: String
    var errorCode: Int { 1 }
}

struct Search: ValidatedRequest {
    typealias Output = String
    let text: String
    var path: String { "search" }
    var query: Parameters { ["q": text] }

    func validate(_ http: HTTPRequest) throws {
        if text.isEmpty { throw InvalidParameters(description: "a search needs a text") }
    }
}

struct CallRefused: DescribedError {
    enum Reason: Int, Sendable { case offline = 1, noConsent, signedOut }

    let reason: Reason
    var description: String { "the call was refused: \(reason)" }
    var failureSentence: FailureSentence {
        switch reason {
        case .offline: .unreachable
        case .noConsent: .notAllowed
        case .signedOut: .signInRequired
        }
    }
    var errorCode: Int { reason.rawValue }
}

struct CallGate: Filter {
    let refusal: @Sendable (any Request) async -> CallRefused.Reason?

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        if let reason = await refusal(exchange.request) { throw CallRefused(reason: reason) }
        return try await next(exchange)
    }
}

struct BusinessCode: Filter {
    struct Refused: DescribedError {
        let code: Int
        var description: String { "the service responded with the code \(code)" }
        var errorCode: Int { code }
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        exchange.checks.add(
            ResponseCheck("business code") { response in
                let code = response.headers["X-Code"].flatMap { Int($0) } ?? 0
                if code != 0 { throw Refused(code: code) }
            })
        return try await next(exchange)
    }
}

private struct Hooks: Accessory {
    let show: @Sendable (String) -> Void

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart: show("before the call")
        case .sending: show("before the request")
        case .received: show("after the response")
        case .willStop(.success): show("before success")
        case .willStop(.failure): show("before failure")
        case .didStop(.success): show("after success")
        case .didStop(.failure): show("after failure")
        default: break
        }
    }
}

private nonisolated final class Settings: Sendable {
    struct Values {
        var region: String?
        var hasConsented = true
        var isShown = true
        var isReachable = true
    }

    let values = Mutex(Values())
    func set(_ change: (inout sending Values) -> Void) { values.withLock { change(&$0) } }
    var region: String? { values.withLock { $0.region } }
    var hasConsented: Bool { values.withLock { $0.hasConsented } }
    var isShown: Bool { values.withLock { $0.isShown } }
    var isReachable: Bool { values.withLock { $0.isReachable } }
}

private nonisolated final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}

private func service(_ settings: Settings, _ gate: CallGate, log: @escaping @Sendable (String) -> Void) -> NetworkAgent
{
    let agent = NetworkAgent(
        baseURL: url, transport: .system,
        filters: [
            AddRegion(region: { settings.region }), ValidateParameters(), gate, BusinessCode(), .standardResilience,
        ],
        accessories: [Hooks(show: log)])
    return agent
}

private func gated(_ network: Settings, _ settings: Settings) -> CallGate {
    let gate = CallGate { request in
        if !network.isReachable { return .offline }
        return request is Search && !settings.hasConsented ? .noConsent : nil
    }
    return gate
}

private func suppressing(_ agent: NetworkAgent, _ settings: Settings) -> ResponseCheck {
    agent.configure {
        $0.mapError = { error in (error as? CallRefused)?.reason == .signedOut ? CancellationError() : error }
    }

    let stillShown = ResponseCheck("still shown") { _ in
        if !settings.isShown { throw CancellationError() }
    }
    return stillShown
}

@Suite("Interception at service level", .endsInTime, .leakChecked) struct InterceptionTests {
    private let settings = Settings()
    private let stub = StubTransport(.text("found"))
    private let lines = Lines()

    private func agent(_ more: [any Filter] = []) -> NetworkAgent {
        let log = lines
        let filters: [any Filter] = [
            AddRegion(region: { [settings] in settings.region }), ValidateParameters(), gated(settings, settings),
            BusinessCode(),
        ]
        return NetworkAgent(
            baseURL: url, transport: stub, filters: filters + more, accessories: [Hooks(show: { log.add($0) })])
    }

    @Test("parameters are completed for every request, and without parameters the request stays as it is")
    func reform() async throws {
        _ = try await agent().send(Search(text: "swift"))
        settings.set { $0.region = "AT" }
        _ = try await agent().send(Search(text: "swift"))
        #expect(stub.received.map { $0.url.query() } == ["q=swift", "q=swift&region=AT"])
    }

    @Test("a call that the app refuses fails with a typed error, is observed, and isn't sent")
    func gate() async throws {
        settings.set { $0.isReachable = false }
        await #expect(throws: CallRefused.self) { try await agent().send(Search(text: "a")) }
        settings.set { ($0.isReachable, $0.hasConsented) = (true, false) }
        let error = await #expect(throws: CallRefused.self) { try await agent().send(Search(text: "a")) }
        #expect(error?.reason == .noConsent && error?.localizedDescription == FailureSentence.notAllowed.text())
        #expect(stub.received.isEmpty)
        #expect(lines.all.suffix(3) == ["before the call", "before failure", "after failure"])
    }

    private struct Completed: ValidatedRequest {
        typealias Output = String
        let path = "x"
        func validate(_ http: HTTPRequest) throws {
            if http.url.query() == nil { throw InvalidParameters(description: "no region") }
        }
    }

    @Test("invalid parameters fail before anything is sent, and the validator sees the completed parameters")
    func validation() async throws {
        let error = await #expect(throws: InvalidParameters.self) { try await agent().send(Search(text: "")) }
        #expect(error?.description == "a search needs a text")
        await #expect(throws: InvalidParameters.self) { try await agent().send(Completed()) }
        // The same without a filter on the agent.
        let bare = NetworkAgent(baseURL: url, transport: stub)
        await #expect(throws: InvalidParameters.self) { try await bare.send(Search(text: "")) }
        #expect(stub.received.isEmpty)
        settings.set { $0.region = "AT" }
        #expect(try await agent().send(Completed()).value == "found")
    }

    @Test("a result that the service refuses is a failure, with any status")
    func results() async throws {
        stub.on("/search", response: .text("no").header("X-Code", "7"))
        let error = await #expect(throws: BusinessCode.Refused.self) { try await agent().send(Search(text: "a")) }
        #expect(error?.code == 7)
        #expect(
            lines.all == [
                "before the call", "before the request", "after the response", "before failure", "after failure",
            ])
    }

    @Test("hooks run before and after success and failure, in order, around the callbacks")
    func hooks() async throws {
        let (agent, lines) = (agent(), lines)
        let handle = agent.start(Search(text: "a"), on: .global()) { _ in lines.add("callback") }
        _ = try await handle.value
        #expect(
            lines.all == [
                "before the call", "before the request", "after the response", "before success", "callback",
                "after success",
            ])
    }

    @Test("a suppressed result ends as a cancellation, and is always reported")
    func suppression() async throws {
        let agent = agent()
        let stillShown = suppressing(agent, settings)
        settings.set { $0.isShown = false }
        let shown = Call<String>(.get, "x") { $0.checks = [stillShown] }
        let success = agent.start(shown)
        let error = await #expect(throws: ErrandError.self) { try await success.value }
        #expect(error?.isCancelled == true)
        guard case .cancelled = success.activity.outcome else { return #expect(Bool(false), "not cancelled") }
        agent.configure { $0.filters = [CallGate { _ in .signedOut }] }
        let failure = agent.start(shown)
        await #expect(throws: ErrandError.self) { try await failure.value }
        guard case .cancelled = failure.activity.outcome else { return #expect(Bool(false), "not cancelled") }
    }
}
