import Errand
import ErrandCache
import ErrandExampleShop
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization

/// Caches responses on disk, shows cached news before fresh news, and removes a user's entries.
enum CacheChapter {
    private struct News: Decodable, Sendable { let headline: String }

    private struct GetNews: CacheableRequest {
        typealias Output = News
        let userID: String
        var path: String { "news" }
        var cachePolicy: CachePolicy { .timed(.seconds(180), partition: userID) }
    }

    static func run(_ shop: Shop) async throws {
        Chapter.begin("The response cache: on disk, by the app's own rules")
        let issue = Atomic(0)
        shop.server.on(.get, "/v1/news") { _ in
            .json(#"{"headline":"issue \#(issue.add(1, ordering: .relaxed).newValue)"}"#)
        }
        let directory = FileManager.default.temporaryDirectory.appending(path: "errand-quickstart-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let cache = ResponseCache(.disk(at: directory, limit: .megabytes(5)))
        let agent = NetworkAgent(baseURL: shop.server.url("v1"), transport: .system, filters: [cache])
        let news = GetNews(userID: "ada")
        for time in ["at first", "once more"] {
            let response = try await agent.send(news)
            Chapter.line("\(time) → \(response.value.headline), from the \(response.http.source)")
        }
        for try await response in agent.cachedThenFresh(news, always: true) {
            Chapter.line("cached, then fresh → \(response.value.headline), from the \(response.http.source)")
        }
        try await cache.remove(.partition("ada"))
        Chapter.line("after ada has signed out there is \(try await agent.cached(news) == nil ? "nothing" : "news")")
        Chapter.end()
    }
}
