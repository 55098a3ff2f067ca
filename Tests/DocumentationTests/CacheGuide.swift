// The code of docs/cache.md.
import Errand
import ErrandCache
import ErrandCacheTesting
import ErrandSystemTransport
import Foundation
import Testing

nonisolated struct News: Decodable, Sendable {}

struct GetNews: CacheableRequest {
    typealias Output = News
    let userID: String
    var path: String { "news" }
    var cachePolicy: CachePolicy { .timed(.seconds(180), version: 3, partition: userID) }
}

private func start(directory: URL, me: String) async throws {
    let cache = ResponseCache(.disk(at: directory, limit: .megabytes(50)))
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .system, filters: [cache])

    let news = try await agent.send(GetNews(userID: me))
    print(news.http.source)  // network, or cache with its age and the reason: "hit; ttl=120; …"
}

private struct Keyed: CacheableRequest {
    var cachePolicy: CachePolicy { .timed(.seconds(1)) }
    var cacheKey: CacheKeyPolicy { .standard.dropping("timestamp").including("X-Region") }
}

private nonisolated func encrypt(_ data: Data) throws -> Data { data }
private nonisolated func decrypt(_ data: Data) throws -> Data { data }

private func seal(directory: URL) {
    let sealed = DiskStore(at: directory, seal: .init(seal: { try encrypt($0) }, open: { try decrypt($0) }))
    _ = sealed
}

@Suite(.leakChecked) struct MyStoreTests {
    private func MyStore() -> MemoryStore { MemoryStore() }

    @Test(arguments: CacheStoreSuite.cases) func conforms(_ test: CacheStoreSuite.Case) async throws {
        try await test.run { MyStore() }
    }

    @Test(arguments: CacheStoreSuite.persistentCases) func outlives(_ test: CacheStoreSuite.Case) async throws {
        let directory = URL.temporaryDirectory.appending(path: UUID().uuidString)
        try await test.run { DiskStore(at: directory) }
    }
}
