import Errand
import ErrandAuthentication
import ErrandExampleRequests
import ErrandTesting
import Foundation
import Synchronization

/// Serves a feed, and misbehaves: tokens expire after three pages, the second request fails with 503, the fifth
/// connection breaks in the middle of a page, and the first refresh fails.
final class NewsServer: Sendable {
    private struct State {
        var token = ""
        var uses = 0
        var requests = 0
        var counts: [String: Int] = [:]
    }

    private let server: TestServer
    private let state: Mutex<State>

    init(articles count: Int) throws {
        server = try TestServer()
        state = Mutex(State())
        server.on(.put, "/token") { [weak self] _ in self?.newToken() ?? .status(500) }
        server.on(.get, "/articles") { [weak self] request in self?.page(request, of: count) ?? .status(500) }
        server.on(.get, "/articles/*") { [weak self] request in
            guard let self else { return .status(500) }
            if !accepts(request, isCounted: false) { return .status(401) }
            note("articles")
            let id = Int(request.path.split(separator: "/").last ?? "") ?? 0
            return try .json(Self.text(Self.article(id)))
        }
    }

    var url: String { server.url }

    /// Invalidates all issued tokens.
    func forgetTokens() { state.withLock { $0.token = "forgotten" } }

    /// The counts of everything it has done, sorted by name.
    var summary: String {
        state.withLock { state in
            state.counts.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
        }
    }

    private func note(_ what: String) { state.withLock { $0.counts[what, default: 0] += 1 } }

    private func newToken() -> TestResponse {
        let number = state.withLock { state in
            state.counts["tokens asked for", default: 0] += 1
            return state.counts["tokens asked for"] ?? 0
        }
        // The first refresh fails: the server is busy.
        if number == 2 { return .status(503, headers: ["Retry-After": "0"]) }
        state.withLock { ($0.token, $0.uses) = ("token-\(number)", 0) }
        return (try? .json(Self.text(BearerToken("token-\(number)", refreshToken: "refresh-\(number)"))))
            ?? .status(500)
    }

    /// Whether the token is current. If `isCounted`, the request uses up one of its three uses.
    private func accepts(_ request: RecordedRequest, isCounted: Bool) -> Bool {
        let isGood = state.withLock { state in
            guard request.headers[.authorization] == "Bearer \(state.token)" else { return false }
            if isCounted { state.uses += 1 }
            return state.uses <= 3
        }
        if !isGood { note("refused tokens") }
        return isGood
    }

    private func page(_ request: RecordedRequest, of count: Int) -> TestResponse {
        if !accepts(request, isCounted: true) { return .status(401) }
        let number = state.withLock { state in
            state.requests += 1
            return state.requests
        }
        if number == 2 {
            note("failures")
            return .status(503, headers: ["Retry-After": "0"])
        }
        let start = ((request.query("page").flatMap { Int($0) } ?? 1) - 1) * 10
        let tag = "\"\(start)\""
        if request.headers["If-None-Match"] == tag {
            note("pages that had not changed")
            return .status(304, headers: ["ETag": tag])
        }
        let ids = start..<min(max(start, count), start + 10)
        let articles = Articles(articles: ids.map { Self.article($0 + 1) }, total: count)
        guard let text = try? Self.text(articles) else { return .status(500) }
        let page = TestResponse.json(text).header("ETag", tag).header("Cache-Control", "private, no-cache")
        if number == 5 {
            note("connections broken off")
            return page.closing(afterBodyBytes: 20)
        }
        note("pages")
        return page
    }

    private static func article(_ id: Int) -> Article { Article(id: id, title: "Article \(id)") }

    private static func text(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }
}
