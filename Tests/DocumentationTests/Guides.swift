// The code of README and the guides. DocumentationTests compares the two.
import Errand
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

nonisolated struct User: Decodable, Sendable {
    let id: Int
    let name: String
}

struct GetUser: Request {
    typealias Output = User
    let id: Int
    var path: String { "users/\(id)" }
}

struct CreateUser: Request {
    typealias Output = User
    let name: String
    var method: HTTPMethod { .post }
    var path: String { "users" }
    var body: RequestBody { .json(["name": name]) }
}

nonisolated protocol ShopRequest: Request {}
nonisolated extension ShopRequest {
    var timeout: Duration? { .seconds(20) }
    var headers: HTTPHeaders { ["X-Shop": "7"] }
}

struct Plain: Request {}
nonisolated struct Reason: Decodable { let reason: String }

@MainActor final class Screen: RequestDelegate {}

private func firstSteps(screen: Screen) async throws {
    let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .system)
    let user = try await agent.send(Call<User>(.get, "users/7")).value
    _ = user

    let handle = agent.start(GetUser(id: 7), delegate: screen) { result in print(result) }
    handle.cancel()
}

private func calls(_ agent: NetworkAgent, text: String, page: Int) async throws {
    let user = try await agent.send(Call<User>(.get, "users/7")).value
    let found = try await agent.send(Call<[User]>(.get, "users", query: ["q": text, "page": page])).value
    try await agent.send(Call<Void>(.delete, "users/7") { $0.timeout = .seconds(5) })
    _ = (user, found)
}

private func oneCall(_ agent: NetworkAgent) async throws {
    let options = CallOptions(filters: [AddTrace()], label: "profile", progress: { print($0.received) })
    let user = try await agent.send(GetUser(id: 7), options: options).value
    _ = user
}

private func tracedCall(_ agent: NetworkAgent) async throws {
    let traced = CallOptions(filters: [AddTrace()])
    let user = try await agent.send(GetUser(id: 7), options: traced).value
    _ = user
}

private func configuring(_ agent: NetworkAgent, token: String) {
    agent.configure {
        $0.authorization = .bearer(token)
        $0.timeout = .seconds(20)
        $0.deadline = .seconds(90)
    }

    agent.configure {
        $0.headers.set("X-Api-Key", token, sensitive: true)
        $0.trustedOrigins = ["https://uploads.example.com"]
    }
}

private func callbacks(_ agent: NetworkAgent, show: @escaping @MainActor (Any) -> Void) {
    let handle = agent.start(GetUser(id: 7)) { result in
        switch result {
        case .success(let response): show(response.value)
        case .failure(let error): show(error)
        }
    }
    handle.cancel()
}

private func failing(_ agent: NetworkAgent, show: (Any?) -> Void) async throws {
    do {
        let user = try await agent.send(GetUser(id: 7)).value
        show(user)
    } catch let error as ErrandError where error.code == .unacceptableStatus {
        let reason = try error.response?.json(Reason.self)
        show(reason)
    } catch let error as ErrandError where error.isCancelled {
        return
    }
}

private func cancelling(_ agent: NetworkAgent) {
    agent.cancelAll { $0.request is GetUser }
}

final class SlowRequests: Accessory {
    private let names = Mutex<[String]>([])

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .didStop = event, activity.time.now - activity.start > .seconds(2) else { return }
        names.withLock { $0.append(activity.label) }
    }

    var all: [String] { names.withLock { $0 } }
}

private func accessories(_ agent: NetworkAgent) async throws {
    let slow = SlowRequests()
    agent.configure { $0.accessories.append(slow) }
    let user = try await agent.send(GetUser(id: 7), options: CallOptions(accessories: [slow])).value
    _ = user
}

struct AddTrace: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.headers["X-Trace"] = "\(exchange.activity.id)"
        return try await next(exchange)
    }
}

private func closures(_ agent: NetworkAgent) {
    agent.configure {
        $0.filters.append(
            .closure { exchange, next in
                exchange.note("timing", "sent")
                return try await next(exchange)
            })
    }
}

struct OnceMore: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let (staged, final) = (exchange.stagedWorkCount, exchange.finalFailureCount)
        let first = try await next(exchange)
        guard first.status == 503, exchange.http.method.isIdempotent, exchange.http.body.isReplayable,
            exchange.finalFailureCount == final
        else { return first }
        let wake = exchange.time.now.advanced(by: .seconds(1))
        if let deadline = exchange.deadline, deadline <= wake { return first }
        await exchange.discardStagedWork(after: staged)
        await exchange.discard(first)
        try await exchange.time.sleep(until: wake)
        let second = try await next(exchange)
        if second.status == 503 { exchange.markFailureAsFinal() }
        return second
    }
}

nonisolated final class Notebook: Sendable {
    private let pages = Mutex<[Data]>([])
    func write(_ page: Data) { pages.withLock { $0.append(page) } }
    var all: [Data] { pages.withLock { $0 } }
}

struct Remember: Filter {
    let store: Notebook

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        exchange.checks.add(
            ResponseCheck("not empty") { response in
                if response.data.isEmpty { throw ErrandError(.checkFailed, "an empty response", response: response) }
            })
        let response = try await next(exchange)
        exchange.whenAccepted { store.write(response.data) }
        return response
    }
}

nonisolated protocol Traced: Request { var trace: String { get } }

struct TraceHeader: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let traced = exchange.request as? any Traced else { return try await next(exchange) }
        var exchange = exchange
        exchange.http.headers["X-Trace"] = traced.trace
        return try await next(exchange)
    }
}

struct Echo: Transport {
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let body = try await request.body.open().collect(upTo: options.maximumBodyBytes)
        return HTTPResponse(to: request, status: 200, headers: request.headers, body: HTTPBody(body))
    }
}

extension Transport where Self == Echo {
    static var echo: Echo { Echo() }
}

final class Countdown: HTTPBodySource {
    private let left = Mutex(3)

    func nextChunk() async throws -> Data? {
        try Task.checkCancellation()
        return left.withLock { left in
            defer { left -= 1 }
            return left > 0 ? Data("\(left) ".utf8) : nil
        }
    }

    func cancel() {}
}

@Suite("What the guides show", .leakChecked) struct GuideTests {
    private struct GetTraced: Traced {
        let trace = "t1"
        let headers: HTTPHeaders = ["X-Own": "yes"]
    }

    @Test("the filters of the guide work as described")
    func filters() async throws {
        let agent = NetworkAgent(
            baseURL: "http://echo", transport: .echo,
            filters: [AddTrace(), OnceMore(), TraceHeader()])
        let response = try await agent.send(GetTraced())
        #expect(response.http.headers["X-Trace"] == "t1" && response.http.headers["X-Own"] == "yes")
    }

    @Test("a response that a check rejects isn't stored")
    func remembering() async throws {
        struct Say: Request {
            let text: String
            var method: HTTPMethod { .post }
            var body: RequestBody { .text(text) }
        }
        let notebook = Notebook()
        let agent = NetworkAgent(baseURL: "http://echo", transport: .echo, filters: [Remember(store: notebook)])
        await #expect(throws: ErrandError.self) { try await agent.send(Say(text: "")) }
        _ = try await agent.send(Say(text: "hello"))
        #expect(notebook.all == [Data("hello".utf8)])
    }

    @Test("the guide's retry repeats a request, with the test's clock")
    func retry() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport()
        stub.on("/", response: .status(503), .text("second"))
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, filters: [OnceMore()], time: time)
        let handle = agent.start(Plain())
        try await time.waitForSleepers()
        time.advance(by: .seconds(1))
        #expect(try await handle.value.value == Data("second".utf8))
    }

    @Test("the guide's accessory can be tested as described")
    func accessory() async throws {
        let watched = SlowRequests()
        let stubbed = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.status(204)), accessories: [watched])
        try await stubbed.send(Plain())
        #expect(watched.all.isEmpty)
    }

    @Test("the stream of the guide ends")
    func countdown() async throws {
        #expect(try await HTTPBody(source: Countdown()).collect(upTo: 100) == Data("3 2 1 ".utf8))
    }
}
