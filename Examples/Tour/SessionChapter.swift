import Errand
import ErrandAuthentication
import ErrandCookies
import ErrandExampleShop
import ErrandPaging
import ErrandSystemTransport
import ErrandTesting
import Synchronization

/// Shows an expiring token, cookies, and a paged list.
enum SessionChapter {
    private struct GetPage: PagedRequest {
        typealias Output = [Int]
        var page = PagePosition.offset(size: 2)
        var path: String { "numbers" }
        var query: Parameters { page.query("from") }
    }

    static func run(_ shop: Shop) async throws {
        Chapter.begin("A session: a token that expires, cookies, pages")
        let server = try TestServer()
        server.on("/numbers") { request in
            guard request.headers[.authorization] == "Bearer new" else { return .status(401) }
            let start = request.query("from").flatMap { Int($0) } ?? 0
            return .json("\(Array(start..<min(5, start + 2)))").header(.setCookie, "seen=\(start); Path=/")
        }
        let refreshes = Mutex(0)
        let session = AuthenticationSession(BearerToken("old")) { _ in
            refreshes.withLock { $0 += 1 }
            return BearerToken("new")
        }
        let jar = CookieJar()
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.authentication(session), .cookies(jar)])
        let first = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await agent.send(GetPage()).value.count } }
            return try await group.reduce(0, +)
        }
        Chapter.line("20 requests met an old token: \(refreshes.withLock { $0 }) refresh, \(first) numbers")
        var numbers: [Int] = []
        for try await number in agent.items(of: GetPage()) { numbers.append(number) }
        Chapter.line("three pages: \(numbers)")
        Chapter.line("the jar has \(jar.cookies)")
        Chapter.end()
    }
}
