import Errand
import ErrandCache
import ErrandCacheTesting
import ErrandSQLiteStore
import ErrandTesting
import Foundation
import Testing

@Suite("SQLiteStore", .enabled(if: SQLiteStore.isAvailable, "libsqlite3 is not installed"))
struct SQLiteStoreTests {
    @Test("passes the store suite", arguments: CacheStoreSuite.cases)
    func conformance(each: CacheStoreSuite.Case) async throws {
        try await Self.place { place in try await each.run { SQLiteStore(at: place) } }
    }

    @Test("passes the suite for stores that persist their entries", arguments: CacheStoreSuite.persistentCases)
    func persistence(each: CacheStoreSuite.Case) async throws {
        try await Self.place { place in try await each.run { SQLiteStore(at: place) } }
    }

    @Test("keeps its limit", arguments: CacheStoreSuite.limitCases + CacheStoreSuite.evictionCases)
    func limit(each: CacheStoreSuite.Case) async throws {
        try await Self.place { place in try await each.run { SQLiteStore(at: place, limit: .megabytes(1)) } }
    }

    @Test("two agents with stores of the same file share responses")
    func shared() async throws {
        try await Self.place { place in
            let stub = StubTransport(.text("page"))
            let cache = ResponseCache(SQLiteStore(at: place), policy: .timed(.seconds(60)))
            let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: [cache])
            _ = try await agent.send(Call<String>(.get, "page"))
            await cache.flush()
            let other = NetworkAgent(
                baseURL: "https://api.example.com", transport: stub,
                filters: [.cache(SQLiteStore(at: place), policy: .timed(.seconds(60)))])
            let second = try await other.send(Call<String>(.get, "page"))
            #expect(second.value == "page" && second.http.source.isCache)
        }
    }

    @Test("a file that isn't a database is replaced, and no request fails")
    func damaged() async throws {
        try await Self.place { place in
            try Data("this is no database, but a text of some length".utf8).write(to: place)
            let cache = ResponseCache(SQLiteStore(at: place), policy: .timed(.seconds(60)))
            let agent = NetworkAgent(
                baseURL: "https://api.example.com", transport: .stub(.text("page")), filters: [cache])
            _ = try await agent.send(Call<String>(.get, "page"))
            await cache.flush()
            let second = try await agent.send(Call<String>(.get, "page"))
            #expect(second.http.source.isCache)
        }
    }

    @Test("an unwritable location causes misses, but no failures")
    func unwritable() async throws {
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.text("page")),
            filters: [.cache(SQLiteStore(at: URL(filePath: "/no/such/folder/a.db")), policy: .timed(.seconds(60)))])
        let text = try await agent.send(Call<String>(.get, "page")).value
        #expect(text == "page")
    }

    @Test("only its owner can read the file, which doesn't contain a URL in plain text")
    func secrecy() async throws {
        try await Self.place { place in
            let cache = ResponseCache(SQLiteStore(at: place), policy: .timed(.seconds(60)))
            let agent = NetworkAgent(
                baseURL: "https://api.example.com", transport: .stub(.text("page")), filters: [cache])
            _ = try await agent.send(Call<String>(.get, "page") { $0.headers[.authorization] = "Bearer secret-51d0" })
            await cache.flush()
            for file in try FileManager.default.contentsOfDirectory(atPath: place.deletingLastPathComponent().path) {
                let path = place.deletingLastPathComponent().appending(path: file)
                let mode = try FileManager.default.attributesOfItem(atPath: path.path)[.posixPermissions] as? Int
                #expect(mode == 0o600, "\(file)")
                #expect(try !Data(contentsOf: path).contains(Data("secret-51d0".utf8)), "\(file)")
            }
        }
    }

    /// Runs a test with a file in a temporary folder.
    private static func place(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-sqlite-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "responses.db"))
    }
}

extension Data {
    fileprivate func contains(_ other: Data) -> Bool { range(of: other) != nil }
}
