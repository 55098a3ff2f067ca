import Errand
import ErrandAuthentication
import ErrandCache
import ErrandCoalescing
import ErrandCookies
import ErrandEssentials
import ErrandLoadingIndicatorLog
import ErrandRecording
import ErrandRetry
import ErrandTesting

/// An agent with some plugins. A plugin's cost is the difference it makes to a send on which it doesn't act.
struct PluginRow {
    let name: String
    private let agent: NetworkAgent
    private let post: Post?
    private let path: String

    private struct Get: Request { let path: String }

    private struct Post: Request {
        let path = "users/7"
        let method = HTTPMethod.post
        let body = RequestBody.data(
            Data(#"{"name":"Ada","password":"correct horse battery"}"#.utf8), contentType: "application/json")
    }

    private struct Deaf: Accessory { func activity(_ activity: Activity, did event: ActivityEvent) {} }

    private init(
        _ name: String, _ filters: [any Filter] = [], _ accessories: [any Accessory] = [], isPost: Bool = false,
        headers: HTTPHeaders = [:], path: String = "users/7"
    ) {
        let json = Data(#"{"id":7,"name":"Ada","token":"abcdefghijklmnop","items":[1,2,3]}"#.utf8)
        let response =
            isPost
            ? StubResponse.data(json, contentType: "application/json")
            : StubResponse(status: 200, headers: headers, body: Data([1, 2, 3]))
        let transport = StubTransport(response, maximumRecordedRequests: 0)
        agent = NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: transport, filters: filters, accessories: accessories)
        (self.name, self.path, post) = (name, path, isPost ? Post() : nil)
    }

    /// All rows, beginning with the one without plugins.
    static func all() -> [PluginRow] {
        let token = BearerToken("0123456789abcdefghij", expiry: Date(timeIntervalSinceNow: 86_400))
        let session = AuthenticationSession(token) { $0 }
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
            PluginRow("cache-off", [.cache(.memory())]),
            PluginRow("cache-miss", [.cache(.memory(), policy: .http)], headers: ["Cache-Control": "no-store"]),
            PluginRow("cache-hit", [.cache(.memory(), policy: .http)], headers: ["Cache-Control": "max-age=86400"]),
            PluginRow(
                "cache-user", [.authentication(session), .cache(.memory(), policy: .http)],
                headers: ["Cache-Control": "private, max-age=86400"]),
            PluginRow("log", [], [log]),
            PluginRow("recorder", [], [ExchangeRecorder()]),
            PluginRow("recorder-authentication", [.authentication(session)], [ExchangeRecorder()]),
            PluginRow("post", [.authentication(session)], isPost: true),
            PluginRow(
                "recorder-bodies", [.authentication(session)], [ExchangeRecorder(maximumBodyBytes: 4096)], isPost: true),
            PluginRow(
                "together",
                [.retry, .authentication(session), .cookies, .cache(.memory()), .coalescing], [log, ExchangeRecorder()]),
        ]
    }

    func send(_ count: Int) async throws {
        for _ in 0..<count {
            if let post { _ = try await agent.send(post) } else { _ = try await agent.send(Get(path: path)) }
        }
    }
}
