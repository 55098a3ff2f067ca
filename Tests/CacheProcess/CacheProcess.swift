import Errand
import ErrandCache
import Foundation
import Synchronization

/// A process that uses a cache's directory until it's killed or its time is over, for tests of the disk store.
///
/// `errand-cache-process DIRECTORY BYTES SECONDS TASKS [full|filling]`: with `full`, some writes must fail for lack of
/// space without other consequences; with `filling`, the disk is smaller than the limit, and every write must succeed.
@main
struct CacheProcess {
    private static let refused = Atomic(0)
    private static let kept = Atomic(0)
    private static var isMissing: Bool { refused.load(ordering: .relaxed) == 0 || kept.load(ordering: .relaxed) == 0 }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5 || ["full", "filling"].contains(arguments.last), let limit = Int64(arguments[2]),
            let seconds = Double(arguments[3]),
            let tasks = Int(arguments[4])
        else { exit(2) }
        let store = DiskStore(at: URL(filePath: arguments[1]), limit: .bytes(limit))
        if arguments.last == "filling" { return try await fill(store) }
        let end = ContinuousClock.now + .seconds(seconds)
        try await work(store, until: end, tasks: tasks, mayBeFull: arguments.last == "full")
    }

    /// Stores four times as much as the disk can hold. Every write must succeed, and the last entry must be there.
    @concurrent static func fill(_ store: DiskStore) async throws {
        guard let url = URL(string: "https://example.com/") else { exit(2) }
        for number in 0..<200 {
            let key = CacheKey("filling \(number)")
            let body = Data(repeating: UInt8(truncatingIfNeeded: number), count: 20_000)
            let head = CacheEntryHead(url: url, received: .now, expires: .now + 60)
            try await store.store(CacheEntry(head: head, body: HTTPBody(body)), for: key)
            if try await store.entry(for: key)?.body.collect(upTo: 1 << 20) != body { exit(3) }
        }
        let used = try await store.usage()
        if used.entries < 10 || used.bytes > 1 << 20 { exit(4) }
    }

    /// Stores and reads bodies that contain their key. Exits with 3 if a body is torn or belongs to another key.
    @concurrent static func work(
        _ store: DiskStore, until end: ContinuousClock.Instant, tasks: Int, mayBeFull: Bool
    ) async throws {
        // A busy machine may not schedule this process for a while.
        let late = end + .seconds(60)
        defer { if mayBeFull, isMissing { exit(4) } }
        try await withThrowingTaskGroup { group in
            for _ in 0..<tasks {
                group.addTask {
                    while ContinuousClock.now < end || mayBeFull && isMissing && ContinuousClock.now < late {
                        if try await updates(store, mayBeFull) { continue }
                        let number = Int.random(in: 0..<200)
                        let key = CacheKey("key \(number)")
                        if Bool.random() {
                            do {
                                try await store.store(entry(number), for: key)
                                kept.add(1, ordering: .relaxed)
                            } catch {
                                if !mayBeFull { throw error }
                                refused.add(1, ordering: .relaxed)
                            }
                        } else if let found = try await store.entry(for: key) {
                            let data = try await found.body.collect(upTo: 1 << 20)
                            if !isWhole(data, number) { exit(3) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Occasionally updates the head of an entry with a long body. Exits with 3 if the entry has another body or an
    /// unknown head.
    @concurrent static func updates(_ store: DiskStore, _ mayBeFull: Bool) async throws -> Bool {
        guard Int.random(in: 0..<4) == 0, !mayBeFull, let url = URL(string: "https://example.com/long") else {
            return false
        }
        let key = CacheKey("long \(Int.random(in: 0..<3))")
        let body = Data(repeating: 7, count: 40_000)
        let head = CacheEntryHead(url: url, received: .now, expires: .now + 60)
        guard let found = try await store.entry(for: key) else {
            try await store.store(CacheEntry(head: head, body: HTTPBody(body)), for: key)
            return true
        }
        if found.head.url != url.absoluteString { exit(3) }
        if try await found.body.collect(upTo: 1 << 20) != body { exit(3) }
        _ = try await store.update(head, replacing: found.head, for: key)
        return true
    }

    static func entry(_ number: Int) throws -> CacheEntry {
        guard let url = URL(string: "https://example.com/\(number)") else { exit(2) }
        let fill = UInt8.random(in: 0 ... .max)
        let body = Data("\(number):".utf8) + Data(repeating: fill, count: 100 + number * 50 + Int(fill))
        return CacheEntry(head: CacheEntryHead(url: url, received: .now, expires: .now + 60), body: HTTPBody(body))
    }

    static func isWhole(_ data: Data, _ number: Int) -> Bool {
        let mark = Data("\(number):".utf8)
        guard data.starts(with: mark), let fill = data.last else { return false }
        return data.count == mark.count + 100 + number * 50 + Int(fill)
            && data.dropFirst(mark.count).allSatisfy { $0 == fill }
    }
}
