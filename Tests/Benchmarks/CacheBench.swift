import Errand
import ErrandCache
import ErrandTesting
import Foundation

/// What an answer from the cache costs beside a stubbed send, a bare file and an emptier store.
enum CacheBench {
    private struct Plain: Request { let path = "users/7" }
    private struct Timed: CacheableRequest {
        let path = "users/7"
        var cachePolicy: CachePolicy { .timed(.seconds(3600)) }
    }
    private struct Served: CacheableRequest {
        let path = "users/7"
        var cachePolicy: CachePolicy { .http }
    }

    static func run() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "errand-bench-\(getpid())")
        defer { try? FileManager.default.removeItem(at: directory) }
        try await hits()
        try await disk(directory.appending(path: "hits"))
        try await large(directory.appending(path: "large"))
    }

    private static func hits() async throws {
        let answer = StubAnswer.data(Data(count: 1000), contentType: "application/octet-stream")
            .header("Cache-Control", "max-age=3600")
        func agent(_ filters: [any Filter]) -> NetworkAgent {
            NetworkAgent(
                baseURL: "https://api.example.com/v1", transport: StubTransport(answer, recording: 0), filters: filters)
        }
        let bare = agent([])
        let cached = agent([.cache(.memory())])
        let count = 20_000
        var rounds = Rounds()
        for _ in 0..<7 {
            try await rounds.take("a stubbed send") {
                try await microseconds(count) { for _ in 0..<count { _ = try await bare.send(Plain()) } }
            }
            try await rounds.take("a timed hit in memory") {
                try await microseconds(count) { for _ in 0..<count { _ = try await cached.send(Timed()) } }
            }
            try await rounds.take("an HTTP hit in memory") {
                try await microseconds(count) { for _ in 0..<count { _ = try await cached.send(Served()) } }
            }
        }
        rounds.report("µs", against: "a stubbed send")
    }

    private static func entry(_ count: Int) -> CacheEntry? {
        URL(string: "https://example.com/feed").map { url in
            let head = CacheEntryHead(
                url: url, headers: ["Content-Type": "application/json"], received: .now, expires: .now + 3600)
            return CacheEntry(head: head, body: HTTPBody(Data(count: count)))
        }
    }

    private static func disk(_ directory: URL) async throws {
        let store = DiskStore(at: directory)
        let key = CacheKey("GET https://example.com/feed")
        guard let entry = entry(10_000) else { return }
        try await store.store(entry, for: key)
        let path = directory.appending(path: "entries/\(key.digest)").path
        let count = 20_000
        var rounds = Rounds()
        for _ in 0..<7 {
            await rounds.take("open, read and close the file") {
                await microseconds(count) { for _ in 0..<count { _ = bareRead(path) } }
            }
            try await rounds.take("a hit of 10 KB on disk") {
                try await microseconds(count) { for _ in 0..<count { _ = try await store.entry(for: key) } }
            }
        }
        rounds.report("µs", against: "open, read and close the file")
    }

    private static func bareRead(_ path: String) -> UInt64 {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            // Summed up by words, the cheapest check there is.
            let count = read(file, buffer.baseAddress, buffer.count)
            var sum: UInt64 = 0
            for offset in stride(from: 0, to: max(0, count) & ~7, by: 8) {
                sum = (sum &+ buffer.load(fromByteOffset: offset, as: UInt64.self)) &* 0x9E37_79B1_85EB_CA87
            }
            return sum
        }
    }

    /// 100,000 entries of 100 bytes.
    private static func large(_ directory: URL) async throws {
        let total = 100_000
        let limit = CacheLimit.megabytes(500).entries(total)
        guard let entry = entry(100) else { return }
        let filler = DiskStore(at: directory, limit: limit)
        func perEntry(_ store: DiskStore, _ numbers: Range<Int>) async throws -> Double {
            try await microseconds(numbers.count) {
                for number in numbers { try await store.store(entry, for: CacheKey("\(number)")) }
            }
        }
        let empty = try await perEntry(filler, 0..<10_000)
        _ = try await perEntry(filler, 10_000..<total)
        let before = residentBytes()
        let opening = try await microseconds(1) {
            let store = DiskStore(at: directory, limit: limit)
            _ = try await store.entry(for: CacheKey("5"))
        }
        let store = DiskStore(at: directory, limit: limit)
        let lookup = try await microseconds(20_000) {
            for number in 0..<20_000 { _ = try await store.entry(for: CacheKey("\(number * 5)")) }
        }
        let first = try await perEntry(store, total..<(total + 1))
        let full = try await perEntry(store, (total + 1)..<(total + 10_000))
        let held = Double(max(0, residentBytes() - before)) / 1_000_000
        for (name, value, unit) in [
            ("100,000 entries: opening and one look", opening, "µs"), ("  looking up", lookup, "µs"),
            ("  writing far below the limit", empty, "µs"), ("  the first write at the limit", first / 1000, "ms"),
            ("  writing at the limit", full, "µs"), ("  memory held", held, "MB"),
        ] { print("\(Rounds.pad(name, 44)) \(Rounds.number(value)) \(unit)") }
        print("\(Rounds.pad("  at the limit : far below it", 44)) \(Rounds.number(full / empty)) ×")
    }
}
