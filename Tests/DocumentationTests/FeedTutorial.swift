// The code that docs/tutorials/feed.md builds, step by step.
import Errand
import ErrandCache
import ErrandPaging
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

enum FeedTutorial {
    nonisolated struct Post: Codable, Sendable {
        let id: Int
        let title: String
    }

    nonisolated struct Posts: Codable, Sendable {
        let posts: [Post]
        let total: Int
    }

    struct GetPosts: PagedRequest, CacheableRequest {
        typealias Output = Posts
        var search = ""
        var page = PagePosition.number(size: 20)
        var path: String { "posts" }
        var query: Parameters {
            var query = page.query("page", size: "per_page")
            if !search.isEmpty { query.append("q", search) }
            return query
        }
        var cachePolicy: CachePolicy { search.isEmpty ? .timed(.seconds(300)) : .off }

        func items(in response: Response<Posts>) -> [Post] { response.value.posts }
        func total(in response: Response<Posts>) -> Int? { response.value.total }
    }

    static func agent(_ caches: URL) -> NetworkAgent {
        NetworkAgent(
            baseURL: "https://api.example.com", transport: .system,
            filters: [.standardResilience, .cache(.disk(at: caches.appending(path: "posts"), limit: .megabytes(20)))])
    }

    @MainActor final class FeedScreen {
        private(set) var titles: [String] = []
        private(set) var isLast = false
        private let agent: NetworkAgent
        private var list: PageController<Post, Posts>

        init(agent: NetworkAgent) {
            self.agent = agent
            list = PageController(GetPosts(), on: agent)
        }

        func open() async throws {
            for try await first in agent.cachedThenFresh(GetPosts(), includingStale: true) {
                titles = first.value.posts.map(\.title)
            }
        }

        func more() async throws {
            try await list.next()
            show()
        }

        func pull() async throws {
            try await list.reload()
            show()
        }

        func find(_ text: String) async throws {
            list.cancel()
            list = PageController(GetPosts(search: text), on: agent)
            try await more()
        }

        private func show() { (titles, isLast) = (list.state.items.map(\.title), list.state.isLast) }
    }
}

@Suite("The tutorial of a feed", .leakChecked) struct FeedTutorialTests {
    typealias FeedScreen = FeedTutorial.FeedScreen

    private func posts(_ numbers: ClosedRange<Int>, of total: Int) -> StubResponse {
        let posts = numbers.map { #"{"id":\#($0),"title":"Post \#($0)"}"# }.joined(separator: ",")
        return .json(#"{"posts":[\#(posts)],"total":\#(total)}"#)
    }

    @Test("pages are loaded, cached for some minutes, reloaded, and found by a search word")
    @MainActor func feed() async throws {
        let stub = StubTransport()
        stub.on(.get, "/posts", query: ["page": "1", "per_page": "20"], response: posts(1...20, of: 25))
        stub.on(.get, "/posts", query: ["page": "2", "per_page": "20"], response: posts(21...25, of: 25))
        stub.on(.get, "/posts", query: ["page": "1", "per_page": "20", "q": "sea"], response: posts(7...7, of: 1))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: [.cache(.memory())])
        let screen = FeedScreen(agent: agent)

        try await screen.open()
        #expect(screen.titles.count == 20)
        try await screen.more()
        try await screen.more()
        #expect(screen.titles.count == 25 && screen.isLast)
        #expect(stub.received.count == 2)  // the first page came from the cache

        try await screen.find("sea")
        #expect(screen.titles == ["Post 7"])
    }
}
