import Errand
import ErrandCache
import ErrandEssentials
import Synchronization

/// Reads a key many times during writes, because a store returns an outdated entry only in short moments.
struct ReaderLaw: Sendable {
    let count: Int
    var mayDrop = false

    private struct Read: Sendable {
        let least: Int
        let most: Int
        let found: Int?
    }

    private final class Progress: Sendable {
        let begun = Atomic(0)
        let ended = Atomic(0)
        let isOver = Atomic(false)
    }

    func check(_ make: CacheStoreSuite.Case.Maker) async throws {
        let store = try await make()
        try await store.removeAll { _ in true }
        let key = CacheKey("GET https://example.com/read")
        let progress = Progress()
        let wrong = try await withThrowingTaskGroup(of: Read?.self) { group in
            for lane in 0..<8 {
                group.addTask {
                    var (newest, pause) = (0, 0)
                    while !progress.isOver.load(ordering: .acquiring) {
                        let read = try await CacheStoreSuite.operate("read \(key.text), during writes") {
                            try await Self.read(key, from: store, newest: newest, progress)
                        }
                        guard let found = read.found else {
                            if !mayDrop { return read }
                            // A store that never suspends would keep the thread from the writer.
                            await Task.yield()
                            continue
                        }
                        if found < read.least || found > read.most { return read }
                        newest = found
                        // Vary the pauses, so some readers join a read that others already wait for.
                        pause = (pause + lane + 1) % 7
                        for _ in 0...pause { await Task.yield() }
                    }
                    return nil
                }
            }
            group.addTask { [count] in
                defer { progress.isOver.store(true, ordering: .releasing) }
                for version in 1...count {
                    progress.begun.store(version, ordering: .sequentiallyConsistent)
                    try await CacheStoreSuite.operate("write \(version) of \(key.text), during reads") {
                        try await Self.write(version, key, store)
                    }
                    progress.ended.store(version, ordering: .sequentiallyConsistent)
                    await Task.yield()
                }
                return nil
            }
            var wrong: Read?
            for try await read in group { wrong = wrong ?? read }
            return wrong
        }
        guard let wrong else { return }
        let came = wrong.found.map { "entry \($0)" } ?? "no entry"
        if wrong.found == nil { throw CacheStoreSuite.missing(key) }
        throw CacheStoreSuite.Failure(
            description:
                "a read that began after entry \(wrong.least) was stored or read found \(came). It must not share "
                + "the result of a read that began earlier")
    }

    /// Every third write updates only the head, so the body keeps an earlier version. Bodies differ in length.
    private static func write(_ version: Int, _ key: CacheKey, _ store: any CacheStore) async throws {
        if version.isMultiple(of: 3), let old = try await store.entry(for: key)?.head, let origin = old.tags.last {
            let head = try CacheStoreSuite.entry("", path: "\(version)", tags: ["\(version)", origin]).head
            if try await store.update(head, replacing: old, for: key) { return }
        }
        let entry = try CacheStoreSuite.entry(
            body(version), path: "\(version)", tags: ["\(version)", "\(version)"])
        try await store.store(entry, for: key)
    }

    private static func body(_ version: Int) -> String {
        String(repeating: "body \(version) ", count: 100 + version % 7 * 300)
    }

    private static func read(
        _ key: CacheKey, from store: any CacheStore, newest: Int, _ progress: Progress
    ) async throws -> Read {
        let ended = progress.ended.load(ordering: .sequentiallyConsistent)
        let entry = try await store.entry(for: key)
        let found = entry?.head.tags.first.flatMap { Int($0) }
        if let entry, let origin = entry.head.tags.last.flatMap({ Int($0) }) {
            await Task.yield()
            let text = String(decoding: try await entry.body.collect(upTo: 1 << 20), as: UTF8.self)
            guard text == body(origin) else {
                throw CacheStoreSuite.Failure(
                    description: "entry \(origin) was replaced while its body was read, and a reader got other bytes")
            }
        }
        let begun = progress.begun.load(ordering: .sequentiallyConsistent)
        return Read(least: max(newest, ended), most: begun, found: found ?? (ended == 0 ? 0 : nil))
    }
}
