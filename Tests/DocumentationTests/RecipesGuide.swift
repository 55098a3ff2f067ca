// The code of docs/recipes.md.
import Errand
import ErrandBatch
import ErrandCache
import ErrandChain
import ErrandCookies
import ErrandLoadingIndicatorLog
import ErrandResumableDownload
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import ErrandURLFilters
import Foundation
import Testing

private nonisolated struct NewUser: Encodable, Sendable { let name: String }
private nonisolated struct Order: Decodable, Sendable {}
private nonisolated struct Settings: Decodable, Sendable {}
private nonisolated struct Envelope: Decodable { let code: Int }
private struct BusinessError: Error { let code: Int }
private func show(_ values: Any?...) {}
private func handle(_ chunk: Data) {}

private enum SendRecipes {
    static func short(_ agent: NetworkAgent, text: String, page: Int, name: String, password: String) async throws {
        let user = try await agent.send(Call<User>(.get, "users/7")).value

        let users = try await agent.send(Call<[User]>(.get, "users", query: ["q": text, "page": page])).value

        let created = try await agent.send(Call<User>(.post, "users", body: .json(NewUser(name: "Ada")))).value

        try await agent.send(Call<Void>(.post, "session", body: .form(["user": name, "password": password])))
        _ = (user, users, created)
    }

    static func authorized(_ agent: NetworkAgent, token: String, password: String, key: String) async throws {
        agent.configure { $0.authorization = .bearer(token) }
        try await agent.send(Call<Void>(.get, "admin") { $0.authorization = .basic(user: "ada", password: password) })

        agent.configure { $0.headers.set("X-Api-Key", key, sensitive: true) }
    }

    static func upload(_ agent: NetworkAgent, file: URL) async throws {
        let photo = Call<Void>(.post, "photos", body: .file(file, contentType: "image/jpeg"))
        let options = CallOptions(progressOnMain: { show($0.sent, $0.totalToSend) })
        try await agent.send(photo, options: options)
    }

    static func signed(_ agent: NetworkAgent, secret: String) {
        agent.configure { $0.filters = [.urls(.query(["platform": "linux"]), .sign(key: .init(secret)))] }
    }
}

struct SignedIn: Filter {
    let session: UserSession
    var traits: FilterTraits { .authenticates }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted else { return try await next(exchange) }
        var exchange = exchange
        exchange.http.headers.set(.authorization, "Bearer \(try await session.token)", sensitive: true)
        return try await next(exchange)
    }
}

nonisolated struct Known<Element: Decodable & Sendable>: Decodable, Sendable {
    let elements: [Element]

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        var elements: [Element] = []
        while !list.isAtEnd {
            let value = try list.superDecoder()  // moves to the next element, even if this one fails
            if let element = try? Element(from: value) { elements.append(element) }
        }
        self.elements = elements
    }
}

nonisolated struct Trip: Decodable, Sendable {
    enum Service: String, Decodable, Sendable { case bus, train }
    let services: Known<Service>
}

struct PropertyLists: BodyDecoder {
    var contentTypes: ContentTypes { ["application/x-plist", "text/xml"] }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try PropertyListDecoder().decode(type, from: data)
    }
}

private enum ReceiveRecipes {
    nonisolated struct APIError: Error, Decodable {
        let code: Int
        let message: String
    }

    static func decoders(_ agent: NetworkAgent) async throws {
        agent.configure {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            $0.decoder = decoder
        }

        let settings = try await agent.send(Call<Settings>(.get, "settings") { $0.decoder = PropertyLists() })
            .value
        _ = settings
    }

    static func errors(_ agent: NetworkAgent) async throws {
        agent.configure {
            $0.mapError = { error in
                guard let response = (error as? ErrandError)?.response else { return error }
                return (try? response.json(APIError.self)) ?? error
            }
        }

        do { try await agent.send(GetUser(id: 7)) } catch let error as APIError { show(error.message) }
    }

    static func responses(_ agent: NetworkAgent, folder: URL) async throws {
        let head = Call<HTTPResponse>(.head, "users/7") { $0.acceptableStatuses = [200, 404] }
        let exists = try await agent.send(head).value.status == 200

        let response = try await agent.send(GetUser(id: 7))
        print(response.http.status, response.http.headers["ETag"] ?? "", response.http.source)

        for try await event in agent.download(GetVideo(destination: folder)) {
            switch event {
            case .progress(let status): show(status.fraction ?? 0, status.timeLeft)
            case .notice(let notice): print(notice)
            case .finished(let response): print(response.value)
            }
        }

        let body = try await agent.send(Call<HTTPBody>(.get, "feed")).value
        for try await chunk in body { handle(chunk) }
        _ = exists
    }

    struct GetReport: Request {
        typealias Output = URL
        let file: URL
        var path: String { "report.pdf" }
        var delivery: BodyDelivery { .file(file) }
    }

    struct GetVideo: DownloadRequest {
        var path: String { "videos/7.mp4" }
        let destination: URL
    }
}

nonisolated extension ShopRequest {
    var checks: [ResponseCheck] {
        [
            ResponseCheck("business code") { response in
                let reply = try response.json(Envelope.self)
                guard reply.code == 0 else { throw BusinessError(code: reply.code) }
            }
        ]
    }
}

struct RetryOnce: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method.isIdempotent, exchange.http.body.isReplayable else {
            return try await next(exchange)
        }
        do { return try await next(exchange) } catch let error as ErrandError where error.isRetryable {
            try await exchange.time.sleep(until: exchange.time.now.advanced(by: .seconds(1)))
            return try await next(exchange)
        }
    }
}

private enum ControlRecipes {
    enum Screen: TagKey { static let defaultValue = "" }

    struct GetNews: CacheableRequest {
        typealias Output = News
        var path: String { "news" }
        var cachePolicy: CachePolicy { .timed(.seconds(300)) }
    }

    static func timeouts() {
        let call = Call<User>(.get, "users/7") {
            $0.timeout = .seconds(5)  // inactivity
            $0.deadline = .seconds(20)  // everything
        }
        _ = call
    }

    static func cancelling(_ agent: NetworkAgent) async throws {
        try await agent.send(GetUser(id: 7), options: CallOptions(tags: Tags().with(Screen.self, "profile")))

        agent.cancelAll { $0.tags[Screen.self] == "profile" }
    }

    static func caching(_ agent: NetworkAgent, url: String, directory: URL) async throws {
        let steady = NetworkAgent(baseURL: url, transport: .system, filters: [.standardResilience])
        _ = steady

        let cached = NetworkAgent(baseURL: url, transport: .system, filters: [.cache(.disk(at: directory))])
        _ = cached

        for try await news in agent.cachedThenFresh(GetNews()) { show(news.value) }
    }

    static func cookies(_ agent: NetworkAgent) async throws {
        let news = try await agent.send(GetNews(), options: .cookies(.off)).value
        _ = news
    }

    static func composites(_ agent: NetworkAgent, ids: [Int]) async throws {
        let users = try await agent.run(Batch(ids.map(GetUser.init), maximumConcurrent: 4)).map(\.value)

        let orders = try await agent.run(
            Chain("orders") { steps in
                let user = try await steps.send(GetUser(id: 7)).value
                return try await steps.send(Call<[Order]>(.get, "users/\(user.id)/orders")).value
            })

        let (user, news) = try await agent.run(Batch(GetUser(id: 7), GetNews()))
        _ = (users, orders, user, news)
    }

    struct Backends: Sendable {
        let shop = NetworkAgent(baseURL: "https://shop.example.com/v2", transport: .system)
        let search = NetworkAgent(baseURL: "https://search.example.com", transport: .system)
    }

    static func environments() throws {
        let shop = try ServiceEnvironments(
            [
                .develop: ServiceConfiguration(baseURL: "https://dev.example.com"),
                .release: ServiceConfiguration(baseURL: "https://api.example.com"),
            ], selected: .develop)
        let agent = NetworkAgent(baseURL: shop.baseURL, transport: .system, filters: [.environment(shop)])
        try shop.select(.release)
        _ = agent
    }
}

private enum ExtendRecipes {
    static func log(_ agent: NetworkAgent) {
        let log = RequestLog(.headers, to: ClosureSink { if $0.outcome == .failure { print($0) } })
        agent.configure { $0.accessories.append(log) }
    }

    @MainActor static func indicator(_ agent: NetworkAgent) async {
        var isLoading = false
        let indicator = LoadingIndicator(label: "Loading…")
        agent.configure { $0.accessories.append(indicator) }
        for await state in indicator.states { isLoading = state.isShown }
        _ = isLoading
    }

    static func look(_ agent: NetworkAgent) throws {
        print(agent.explain(GetUser(id: 7)))

        print(try agent.httpRequest(for: GetUser(id: 7)).curlCommand())
    }
}

struct FakeAgent: Agent {
    let user: User

    func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        guard let value = user as? R.Output else { throw ErrandError(.invalidRequest, "no fake response") }
        return Response(value: value, http: HTTPResponse(url: URL(filePath: "/"), status: 200))
    }
}

@Suite("What the recipes show", .leakChecked) struct RecipeTests {
    @Test("a stubbed response")
    func stubbed() async throws {
        let stubbed = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json(#"{"id":7,"name":"Ada"}"#)))
        #expect(try await stubbed.send(GetUser(id: 7)).value.name == "Ada")
    }

    @Test("a timeout")
    func timeout() async throws {
        let time = ManualTimeSource()
        let slow = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json("{}").delayed(by: .seconds(90))), time: time)
        let task = Task { try await slow.send(GetUser(id: 7)) }
        try await time.waitForSleepers()
        time.advance(by: .seconds(60))
        await #expect(throws: ErrandError.self) { try await task.value }
    }

    @Test("a fake agent")
    func fake() async throws {
        #expect(try await FakeAgent(user: User(id: 7, name: "Ada")).send(GetUser(id: 7)).value.name == "Ada")
    }

    @Test("a retry by hand")
    func retry() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport()
        stub.on(
            "/users/7", response: .failure(ErrandError(.connectionLost, "pulled")), .json(#"{"id":7,"name":"Ada"}"#))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [RetryOnce()], time: time)
        let task = Task { try await agent.send(GetUser(id: 7)).value }
        try await time.waitForSleepers()
        time.advance(by: .seconds(1))
        #expect(try await task.value.name == "Ada")
    }

    @Test("the property list decoder reads the types that it names")
    func propertyList() async throws {
        let list = Data(
            "<plist version=\"1.0\"><dict><key>id</key><integer>7</integer><key>name</key><string>Ada</string></dict></plist>"
                .utf8)
        let agent = NetworkAgent(
            baseURL: "https://api.example.com",
            transport: .stub { _ in .data(list).header("Content-Type", "application/x-plist") })
        let user = try await agent.send(Call<User>(.get, "users/7") { $0.decoder = PropertyLists() }).value
        #expect(user.name == "Ada")
    }

    @Test("the API's own error reaches the call site, and the business code is checked")
    func errors() async throws {
        struct GetShop: ShopRequest {}
        let refusing = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json(#"{"code":5,"message":"sold out"}"#).status(409))
        )
        let error = await #expect(throws: APIError.self) { try await refusing.send(GetShop()) }
        #expect(error?.message == "sold out")
        let strange = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.json(#"{"code":5}"#)))
        await #expect(throws: BusinessError.self) { try await strange.send(GetShop()) }
    }
}
