import Errand
import ErrandCache
import ErrandTesting
import Foundation

/// Compares a response from the cache with a stubbed send, a bare file, and a store with fewer entries.
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
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let response = StubResponse.data(Data(count: 1000), contentType: "application/octet-stream")
            .header("Cache-Control", "max-age=3600")
        func agent(_ filters: [any Filter]) -> NetworkAgent {
            NetworkAgent(
                baseURL: "https://api.example.com/v1", transport: StubTransport(response, maximumRecordedRequests: 0),
                filters: filters)
        }
        let bare = agent([])
        let cached = agent([.cache(.memory())])
        let directory = FileManager.default.temporaryDirectory.appending(path: "errand-bench-hits-\(getpid())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let large = StubResponse.data(Data(count: 10_000), contentType: "application/octet-stream")
        let disk = NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: StubTransport(large, maximumRecordedRequests: 0),
            filters: [.cache(.disk(at: directory))])
        let count = 5_000
        var costs = Costs()
        for _ in 0..<9 {
            await costs.take(Costs.unit, count) {
                for _ in 0..<count { await Task.immediate { @concurrent in }.value }
            }
            try await costs.take("a stubbed send", count) { for _ in 0..<count { _ = try await bare.send(Plain()) } }
            try await costs.take("a timed hit in memory", count) {
                for _ in 0..<count { _ = try await cached.send(Timed()) }
            }
            try await costs.take("an HTTP hit in memory", count) {
                for _ in 0..<count { _ = try await cached.send(Served()) }
            }
            try await costs.take("a timed hit of 10 KB on disk", count) {
                for _ in 0..<count { _ = try await disk.send(Timed()) }
            }
        }
        costs.report(against: Costs.unit)
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
        let path = directory.appending(path: "errand-cache/entries/\(key.digest)").path
        let count = 5_000
        var costs = Costs()
        for _ in 0..<9 {
            await costs.take("open, read and sum up the file", count) {
                var sum: UInt64 = 0
                for _ in 0..<count { sum ^= bareRead(path) &+ 1 }
                // Use the sum, or the compiler drops the loop.
                if sum == 1 { print("the file is damaged") }
            }
            try await costs.take("the store's entry of 10 KB", count) {
                for _ in 0..<count { _ = try await store.entry(for: key) }
            }
        }
        costs.report(against: "open, read and sum up the file")
    }

    private static func bareRead(_ path: String) -> UInt64 {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            // Summing words is the cheapest possible check.
            let count = read(file, buffer.baseAddress, buffer.count)
            var sum: UInt64 = 0
            for offset in stride(from: 0, to: max(0, count) & ~7, by: 8) {
                sum = (sum &+ buffer.load(fromByteOffset: offset, as: UInt64.self)) &* 0x9E37_79B1_85EB_CA87
            }
            return sum
        }
    }

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

/// Takes rounds in turn and keeps the minimum processor time of each, so other load on the machine doesn't count.
struct Costs {
    /// The unit for costs that are mostly concurrency: awaiting an immediate task.
    static let unit = "I, an immediate task awaited"

    private var least: [String: Double] = [:]
    private var order: [String] = []

    mutating func take(_ name: String, _ count: Int, _ body: () async throws -> Void) async rethrows {
        let start = Self.now
        try await body()
        let cost = (Self.now - start) * 1e6 / Double(count)
        if least[name] == nil { order.append(name) }
        least[name] = min(least[name] ?? cost, cost)
    }

    func report(against base: String) {
        for name in order {
            let (value, whole) = (least[name] ?? 0, least[base] ?? 1)
            print(
                "\(Rounds.pad(name, 44)) \(Rounds.number(value)) CPU µs   \(Rounds.number(value / whole)) × \(base)")
        }
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
