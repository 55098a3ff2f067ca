import Errand
import ErrandAuthentication
import ErrandCache
import ErrandCoalescing
import ErrandCookies
import ErrandEssentials
import ErrandInspector
import ErrandLoadingIndicatorLog
import ErrandRecording
import ErrandRetry
import ErrandTesting

/// An agent with some plugins. A plugin's cost is the difference it makes to a send.
struct PluginRow {
    let name: String
    private let agent: NetworkAgent
    private let kind: Kind
    private let path: String
    private let log: RequestLog?
    private let recorder: ExchangeRecorder?

    private enum Kind {
        case get
        case post
        /// A `Call<Data>`, the request that most users write.
        case call
    }

    private struct Get: Request { let path: String }

    private struct Post: Request {
        let path = "users/7"
        let method = HTTPMethod.post
        let body = RequestBody.data(
            Data(#"{"name":"Ada","password":"correct horse battery"}"#.utf8), contentType: "application/json")
    }

    private struct Deaf: Accessory { func activity(_ activity: Activity, did event: ActivityEvent) {} }

    private init(
        _ name: String, _ filters: [any Filter] = [], _ accessories: [any Accessory] = [], _ kind: Kind = .get,
        headers: HTTPHeaders = [:], isJSON: Bool = false, path: String = "users/7"
    ) {
        let json = Data(#"{"id":7,"name":"Ada","token":"abcdefghijklmnop","items":[1,2,3]}"#.utf8)
        var headers = headers
        if isJSON { headers[.contentType] = "application/json" }
        let response = StubResponse(status: 200, headers: headers, body: isJSON ? json : Data([1, 2, 3]))
        let transport = StubTransport(response, maximumRecordedRequests: 0)
        agent = NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: transport, filters: filters, accessories: accessories)
        (self.name, self.path, self.kind) = (name, path, kind)
        log = accessories.lazy.compactMap { $0 as? RequestLog }.first
        recorder = accessories.lazy.compactMap { $0 as? ExchangeRecorder }.first
    }

    /// All rows, beginning with the one without plugins.
    static func all() -> [PluginRow] {
        let session = session()
        let log = RequestLog(.line, to: ClosureSink { _ in }, maximumQueue: 100_000)
        return [
            PluginRow("bare"),
            PluginRow("absolute", path: "https://api.example.com/v1/users/7"),
            PluginRow("elsewhere", path: "https://cdn.example.net/v1/users/7"),
            PluginRow("accessory", [], [Deaf()]),
            PluginRow("authentication", [.authentication(session)]),
            PluginRow("retry", [.retry]),
            PluginRow("resilience", [.standardResilience]),
            PluginRow("coalescing", [.coalescing]),
            PluginRow("cookies", [.cookies]),
            PluginRow("call", [], [], .call),
            PluginRow("cookie", [.cookies(oneCookie())], [], .call),
            PluginRow("user", [.authentication(session), .cookies(oneCookie())]),
            PluginRow(
                "cache-miss-user", [.authentication(session), .cookies(oneCookie()), .cache(.memory(), policy: .http)],
                headers: ["Cache-Control": "no-store"]),
            PluginRow("cache-off", [.cache(.memory())]),
            PluginRow("cache-miss", [.cache(.memory(), policy: .http)], headers: ["Cache-Control": "no-store"]),
            PluginRow("cache-hit", [.cache(.memory(), policy: .http)], headers: ["Cache-Control": "max-age=86400"]),
            PluginRow(
                "cache-user", [.authentication(session), .cache(.memory(), policy: .http)],
                headers: ["Cache-Control": "private, max-age=86400"]),
            PluginRow("log", [], [log]),
            PluginRow("recorder", [], [ExchangeRecorder()]),
            PluginRow("recorder-authentication", [.authentication(session)], [ExchangeRecorder()]),
            PluginRow("inspector-off", [], [TrafficInspector()]),
            PluginRow("inspector", [], [inspector(maximumBodyBytes: 0)]),
            PluginRow("post", [.authentication(session)], [], .post, isJSON: true),
            PluginRow(
                "recorder-bodies", [.authentication(session)], [ExchangeRecorder(maximumBodyBytes: 4096)], .post,
                isJSON: true),
            PluginRow(
                "inspector-bodies", [.authentication(session)], [inspector(maximumBodyBytes: 4096)], .post,
                isJSON: true),
            PluginRow(
                "together",
                [.retry, .authentication(session), .cookies, .cache(.memory()), .coalescing], [log, ExchangeRecorder()]),
        ]
    }

    /// Rows whose plugins also work in the background: to measure the whole process. Files go to `directory`.
    static func whole(in directory: URL) -> [PluginRow] {
        func log(_ sink: some LogSink) -> RequestLog { RequestLog(.line, to: sink, maximumQueue: 100_000) }
        func filters(_ store: some CacheStore) -> [any Filter] {
            [.retry, .authentication(session()), .cookies(oneCookie()), .cache(store, policy: .http)]
        }
        let file = FileSink(at: directory.appending(path: "cost.log"))
        return [
            PluginRow("whole", [], [], .call),
            PluginRow("whole-log", [], [log(ClosureSink { _ in })], .call),
            PluginRow("whole-recorder", [], [ExchangeRecorder()], .call),
            PluginRow("whole-inspector", [], [inspector(maximumBodyBytes: 0)], .call),
            PluginRow(
                "everything", filters(.memory()), [log(ClosureSink { _ in }), ExchangeRecorder()], .call,
                headers: ["Cache-Control": "no-store"]),
            PluginRow(
                "everything-files", filters(.disk(at: directory)),
                [log(file), ExchangeRecorder(maximumBodyBytes: 4096)],
                .call, headers: ["Cache-Control": "no-store"], isJSON: true),
        ]
    }

    /// A started inspector, without a page.
    private static func inspector(maximumBodyBytes: Int) -> TrafficInspector {
        let inspector = TrafficInspector(maximumActivities: 1000, maximumBodyBytes: maximumBodyBytes)
        do { try inspector.start(inReleaseBuilds: true) { _ in } } catch { fatalError("\(error)") }
        return inspector
    }

    private static func session() -> AuthenticationSession<BearerToken> {
        AuthenticationSession(
            BearerToken("0123456789abcdefghij", expiry: Date(timeIntervalSinceNow: 86_400))
        ) { $0 }
    }

    private static func oneCookie() -> CookieJar {
        let jar = CookieJar()
        try? jar.insert(Cookie("session", "0123456789abcdef", domain: "api.example.com"))
        return jar
    }

    func send(_ count: Int) async throws {
        switch kind {
        case .get: for _ in 0..<count { _ = try await agent.send(Get(path: path)) }
        case .post: for _ in 0..<count { _ = try await agent.send(Post()) }
        case .call: for _ in 0..<count { _ = try await agent.send(Call<Data>(.get, path)) }
        }
    }

    /// Sends requests and waits for the background work that they cause. Also takes the recording, so every exchange is
    /// masked once. Otherwise, the number of masked exchanges would depend on the time that passes.
    func sendAndSettle(_ count: Int) async throws {
        for sent in stride(from: 0, to: count, by: 500) {
            try await send(min(500, count - sent))
            await log?.flush()
            recorder?.reset()
        }
    }
}
