import Errand
import ErrandAuthentication
import ErrandBatch
import ErrandCache
import ErrandChain
import ErrandEnvelopes
import ErrandEssentials
import ErrandJSONValidation
import ErrandPaging
import ErrandRecording
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// A service whose status is always 200, and whose token expires.
private final class Shop: Sendable {
    let server: TestServer
    private let state = Mutex((valid: "t1", refreshes: 0))
    /// Bodies sent instead of the model, in order.
    private let failures = Mutex<[String]>([])

    init() throws {
        server = try TestServer()
        server.on("/*") { [weak self] request in self?.response(to: request) ?? .status(500) }
    }

    var refreshes: Int { state.withLock { $0.refreshes } }
    var requests: Int { server.received.count }

    func fail(_ bodies: String...) { failures.withLock { $0 += bodies } }
    func expire() { state.withLock { $0.valid = "another" } }

    private func refresh() -> String {
        state.withLock { state in
            state.refreshes += 1
            state.valid = "t\(state.refreshes + 1)"
            return state.valid
        }
    }

    private func response(to request: RecordedRequest) -> TestResponse {
        let token = state.withLock { $0.valid }
        let caching = { (body: String) in TestResponse.json(body).header(.cacheControl, "max-age=600") }
        if let sent = request.headers[.authorization], sent != "Bearer \(token)" {
            return caching(#"{"code":"40101","msg":"sign in again","data":""}"#)
        }
        if let body = failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return caching(body) }
        if let page = request.query("page").flatMap({ Int($0) }) {
            let items = (0..<10).map { "\(page * 10 + $0 - 10)" }.prefix(max(0, 25 - (page - 1) * 10))
            return .json(#"{"code":0,"total":25,"data":[\#(items.joined(separator: ","))]}"#)
        }
        return caching(ada)
    }

    func session() -> AuthenticationSession<BearerToken> {
        AuthenticationSession(BearerToken("t1")) { [weak self] _ in self.map { BearerToken($0.refresh()) } }
    }

    func agent(_ filters: any Filter..., accessories: [any Accessory] = []) -> NetworkAgent {
        NetworkAgent(
            baseURL: server.url, transport: .system, filters: filters, accessories: accessories,
            time: ManualTimeSource())
    }
}

private struct Cached: ShopRequest, CacheableRequest {
    typealias Output = User
    var path = "profile"
    let cachePolicy: CachePolicy
}

private final class BodyLog: CacheStore {
    private let store = MemoryStore()
    private let log = Log<String>()

    var bodies: [String] { log.all }

    func entry(for key: CacheKey) async throws -> CacheEntry? { await store.entry(for: key) }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let body = try await entry.body.collect(upTo: 1000)
        log.add(String(decoding: body, as: UTF8.self))
        try await store.store(CacheEntry(head: entry.head, body: HTTPBody(body)), for: key)
    }
    func remove(_ key: CacheKey) async throws { await store.remove(key) }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        await store.removeAll(where: matches)
    }
    func secret() async throws -> Data { await store.secret() }
}

@Suite("Envelopes and other plugins", .endsInTime, .leakChecked) struct CompanyTests {
    @Test("a token that a 200 response rejects is refreshed once for all, and every request is sent again")
    func refresh() async throws {
        let shop = try Shop()
        let agent = shop.agent(.authentication(shop.session()))
        shop.expire()
        let users = try await agent.run(Batch((0..<20).map { Get<User>(path: "users/\($0)") })).map(\.value)
        #expect(users == Array(repeating: User(), count: 20))
        #expect(shop.refreshes == 1 && shop.requests <= 40)
        shop.expire()
        try await agent.send(Post())
        #expect(try await agent.send(Call<User>(.get, "x", in: Reply.self)).value == User())
        #expect(shop.refreshes == 2)
    }

    @Test("if the new token is rejected as well, the call throws the service's error, without another refresh")
    func refusedAgain() async throws {
        let shop = try Shop()
        let session = AuthenticationSession(BearerToken("t1")) { _ in BearerToken("wrong") }
        shop.expire()
        let agent = shop.agent(.authentication(session))
        let error = await #expect(throws: EnvelopeError.self) { try await agent.send(Get<User>()) }
        #expect(error?.code == 40_101 && error?.refusesCredential == true && shop.requests == 2)
    }

    @Test("other failures, and requests without a credential, don't cause a refresh")
    func otherFailure() async throws {
        let shop = try Shop()
        let agent = shop.agent(.authentication(shop.session()))
        shop.fail(#"{"code":1004}"#, #"{"code":40101}"#)
        await #expect(throws: EnvelopeError.self) { try await agent.send(Get<User>()) }
        await #expect(throws: EnvelopeError.self) {
            try await agent.send(Get<User>(), options: .authentication(.off))
        }
        #expect(shop.refreshes == 0 && shop.requests == 2)
    }

    @Test(
        "a cache stores only successful responses, even after a refresh",
        arguments: [CachePolicy.timed(.seconds(600)), .http, .timed(.seconds(600)).and(.http)])
    func cache(policy: CachePolicy) async throws {
        let shop = try Shop()
        let store = BodyLog()
        let agent = shop.agent(.authentication(shop.session()), .cache(store))
        let request = Cached(cachePolicy: policy.waitingForWrite())
        shop.fail(#"{"code":1004,"data":""}"#)
        await #expect(throws: EnvelopeError.self) { try await agent.send(request) }
        #expect(try await agent.send(request).value == User())
        #expect(shop.requests == 2)
        let hit = try await agent.send(request)
        #expect(hit.value == User() && hit.http.source.isCache && shop.requests == 2)

        // The refusal is discarded, and the response after it is stored.
        shop.expire()
        let other = Cached(path: "other", cachePolicy: policy.waitingForWrite())
        #expect(try await agent.send(other).value == User())
        #expect(shop.requests == 4 && shop.refreshes == 1)
        #expect(try await agent.send(other).http.source.isCache)
        #expect(Set(store.bodies).subtracting([""]) == [ada])
    }

    @Test("a failed background refresh doesn't replace a stored success")
    func background() async throws {
        let shop = try Shop()
        let recording = RecordingAccessory()
        let agent = shop.agent(.cache(.memory()), accessories: [recording])
        let request = Cached(cachePolicy: .timed(.seconds(600)).waitingForWrite())
        #expect(try await agent.send(request).value == User())
        shop.fail(#"{"code":1004,"data":""}"#)
        #expect(try await agent.send(request, options: .cache(.staleWhileRevalidate)).value == User())
        try await recording.waitUntilQuiet()
        #expect(shop.requests == 2)
        #expect(try await agent.send(request, options: .cache(.cacheOnly)).value == User())
    }

    @Test("a retry repeats the codes that its policy names")
    func retry() async throws {
        let shop = try Shop()
        var policy = RetryPolicy(backoff: .none)
        policy.repeatsError = { ($0 as? EnvelopeError)?.code == 503 }
        let agent = shop.agent(.retry(policy))
        shop.fail(#"{"code":503,"data":{}}"#, #"{"code":"503"}"#)
        #expect(try await agent.send(Get<User>()).value == User())
        #expect(shop.requests == 3)
        shop.fail(#"{"code":1004}"#)
        await #expect(throws: EnvelopeError.self) { try await agent.send(Get<User>()) }
        #expect(shop.requests == 4)
    }

    @Test("a batch and a chain name the part that the service rejected, and keep its response")
    func composites() async throws {
        let shop = try Shop()
        let agent = shop.agent()
        shop.fail(#"{"code":1004,"msg":"sold out"}"#)
        let batch = await #expect(throws: BatchError.self) {
            try await agent.run(Batch([Get<User>()]))
        }
        #expect((batch?.underlying as? EnvelopeError)?.code == 1004 && batch?.response?.status == 200)
        shop.fail(#"{"code":1004,"msg":"sold out"}"#)
        let chain = await #expect(throws: ChainError.self) {
            try await agent.run(Chain("profile") { steps in try await steps.send(Get<User>()).value })
        }
        #expect((chain?.underlying as? EnvelopeError)?.message == "sold out")
        #expect(batch?.localizedDescription == "sold out" && chain?.localizedDescription == "sold out")
        shop.fail(#"{"code":1004,"msg":" "}"#)
        let wordless = await #expect(throws: BatchError.self) {
            try await agent.run(Batch([Get<User>()]))
        }
        #expect(wordless?.localizedDescription == FailureSentence.refused.text())
    }

    @Test("a list reads its pages and its total from the envelope")
    func pages() async throws {
        struct GetNumbers: ShopRequest, PagedRequest {
            typealias Output = [Int]
            typealias Item = Int
            var page = PagePosition.number()
            var path: String { "numbers" }
            var query: Parameters { page.query("page") }
            func total(in response: Response<[Int]>) throws -> Int? { try response.http.decoded(as: Reply.self).total }
        }
        let shop = try Shop()
        var numbers: [Int] = []
        for try await number in shop.agent().items(of: GetNumbers()) { numbers.append(number) }
        #expect(numbers == Array(0..<25) && shop.requests == 3)
    }

    @Test(
        "a failure is reported as the service's, not as a wrong shape, in any position of the filter"
    )
    func validated() async throws {
        struct Valid: ShopRequest, JSONValidatedRequest {
            typealias Output = User
            var path: String { "x" }
            var shape: JSONShape { ["code": .integer, "data": ["id": .integer, "name": .string]] }
        }
        for filters in [[], [JSONValidationFilter()]] {
            let shop = try Shop()
            let agent = shop.agent()
            agent.configure { $0.filters = filters }
            #expect(try await agent.send(Valid()).value == User())
            shop.fail(#"{"code":1004,"data":""}"#, #"{"code":0,"data":{"id":7}}"#)
            await #expect(throws: EnvelopeError.self) { try await agent.send(Valid()) }
            let error = await #expect(throws: ErrandError.self) { try await agent.send(Valid()) }
            #expect(error?.jsonValidation?.problems.first?.pointer == "/data/name")
        }
    }

    @Test("a recording has the whole body, with the failure as the outcome")
    func recorded() async throws {
        let shop = try Shop()
        let recorder = ExchangeRecorder(maximumBodyBytes: 4096)
        let agent = shop.agent(accessories: [recorder])
        shop.fail(#"{"code":1004,"msg":"sold out"}"#)
        await #expect(throws: EnvelopeError.self) { try await agent.send(Get<User>()) }
        try await eventually { recorder.recording.activities.count == 1 }
        let recording = recorder.recording
        #expect(recording.exchanges.map(\.response?.status) == [200])
        #expect(recording.activities.map(\.outcome) == [.failure("EnvelopeError")])
    }

    @Test("a field named code is masked in a recording, unless it may be shown")
    func masked() async throws {
        for isShown in [false, true] {
            let shop = try Shop()
            var redaction = Redaction()
            if isShown { redaction.shownNames.insert("code") }
            let recorder = ExchangeRecorder(maximumBodyBytes: 4096, redaction: redaction)
            let agent = shop.agent(accessories: [recorder])
            shop.fail(#"{"code":100412345,"msg":"sold out"}"#)
            await #expect(throws: EnvelopeError.self) { try await agent.send(Get<User>()) }
            try await eventually { recorder.recording.exchanges.count == 1 }
            let text = recorder.recording.exchanges.first?.response?.body.text
            #expect(text?.contains("100412345") == isShown && text?.contains("sold out") == true)
        }
    }

    private struct Expired: RequestFailure {
        var isRetryable: Bool { false }
        var refusesCredential: Bool { true }
    }

    private struct GetBalance: Request {
        typealias Output = String
        var path: String { "balance" }
        var acceptableContentTypes: ContentTypes { .any }
        var outcomeCheck: ResponseCheck? {
            ResponseCheck("session") { response in
                if try response.text().hasPrefix("ERR session") { throw Expired() }
            }
        }
    }

    @Test("a request with its own format declares which responses reject a credential, and the credential is refreshed")
    func ownFormat() async throws {
        let shop = try Shop()
        let agent = shop.agent(.authentication(shop.session()))
        shop.fail("ERR session is over", "7.50")
        #expect(try await agent.send(GetBalance()).value == "7.50")
        #expect(shop.refreshes == 1 && shop.requests == 2)
        shop.fail("ERR session", "ERR session")
        await #expect(throws: Expired.self) { try await agent.send(GetBalance()) }
    }

    @Test("explain names the check")
    func explained() throws {
        let shop = try Shop()
        let agent = shop.agent()
        #expect(agent.explain(Get<User>()).checks.contains("check envelope"))
    }
}
