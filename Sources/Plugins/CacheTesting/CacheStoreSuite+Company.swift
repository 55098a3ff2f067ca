import Errand
import ErrandCache
import ErrandEssentials
import Synchronization

/// Entries that are written and removed at the same time, and heads of every size.
extension CacheStoreSuite {
    static let company: [Case] = [
        Case(description: "keys that resemble each other have separate entries, which are updated and removed alone") {
            store in
            for group in VariantLaw.groups {
                let keys = group.map { CacheKey($0) }
                let (old, new) = (try head(tags: ["old"]), try head(tags: ["new"]))
                for key in keys {
                    try await store.store(CacheEntry(head: old, body: HTTPBody(Data(key.text.utf8))), for: key)
                }
                for (index, key) in keys.enumerated() {
                    let name = String(key.text.prefix(60)).debugDescription
                    let done = try await store.update(new, replacing: old, for: key)
                    try expect(done, "the head of the key \(name) was not replaced")
                    for (other, key) in keys.enumerated() {
                        guard let found = try await store.entry(for: key) else { throw missing(key) }
                        let expected = other <= index ? new : old
                        try expect(
                            found.head.encoded() == expected.encoded(),
                            "updating the key \(name) changed the head of another key")
                        try await expect(key.text, at: key, in: store, "a key has the body of another key")
                    }
                }
                for (index, key) in keys.enumerated() {
                    let name = String(key.text.prefix(60)).debugDescription
                    try await store.remove(key)
                    for (other, key) in keys.enumerated() {
                        try expect(
                            (try await store.entry(for: key) == nil) == (other <= index),
                            "removing the key \(name) removed another key, or not this key")
                    }
                }
            }
        },
        Case(description: "concurrent writes of a key never combine the head of one with the body of another") {
            store in
            let key = CacheKey("k")
            @Sendable func body(_ version: Int) -> Data {
                Data("\(version):".utf8)
                    + Data(repeating: UInt8(truncatingIfNeeded: version), count: [0, 40, 5_000, 60_000][version % 4])
            }
            try await withThrowingTaskGroup { group in
                for task in 0..<12 {
                    group.addTask {
                        for round in 0..<8 {
                            let version = task * 8 + round
                            let data = body(version)
                            let chunks = [Data(data.prefix(3)), Data(data.dropFirst(3))]
                            let isStreamed = (task + round) % 2 == 0
                            let new = CacheEntry(
                                head: try head(path: "\(version)", tags: ["\(version)"]),
                                body: isStreamed ? HTTPBody(source: Chunks(chunks, failing: false)) : HTTPBody(data))
                            try await store.store(new, for: key)
                            guard let found = try await store.entry(for: key) else { continue }
                            let stored = found.head.tags.first.flatMap { Int($0) } ?? -1
                            let bytes = try await found.body.collect(upTo: 1 << 20)
                            try expect(
                                stored >= 0 && bytes == body(stored),
                                "the head of entry \(stored) was returned with \(bytes.count) other bytes")
                        }
                    }
                }
                try await group.waitForAll()
            }
            try expect(try await store.entry(for: key) != nil, "the entry is missing after concurrent writes")
        },
        Case(description: "entries that are stored during a removal by predicate are kept, unless they match") {
            store in
            let written = Counter()
            try await withThrowingTaskGroup { group in
                for task in 0..<4 {
                    group.addTask {
                        defer { written.increase() }
                        for round in 0..<10 {
                            let name = "\(task) \(round)"
                            try await store.store(try entry("new \(name)", tags: ["new"]), for: CacheKey("new \(name)"))
                            await Task.yield()
                            try await store.store(try entry("old \(name)", tags: ["old"]), for: CacheKey("old \(name)"))
                            await Task.yield()
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<1_000 where written.value < 4 {
                        try await store.removeAll { $0.tags.contains("old") }
                        await Task.yield()
                    }
                }
                try await group.waitForAll()
            }
            try await store.removeAll { $0.tags.contains("old") }
            for task in 0..<4 {
                for round in 0..<10 {
                    let name = "\(task) \(round)"
                    try await expect(
                        "new \(name)", at: CacheKey("new \(name)"), in: store, "an entry was returned with another body"
                    )
                    try expect(
                        try await store.entry(for: CacheKey("old \(name)")) == nil,
                        "an entry that matches the predicate still exists")
                }
            }
        },
        Case(description: "a head of 100,000 bytes is stored, replaced and judged") { store in
            let key = CacheKey("large")
            let large = try head(
                path: String(repeating: "p", count: 8_000),
                headers: [.entityTag: "\"1\"", "X-Large": String(repeating: "v", count: 40_000)],
                tags: (0..<500).map { "tag \($0) " + String(repeating: "t", count: 90) },
                partition: String(repeating: "u", count: 4_000))
            let small = try head(path: "small", tags: ["small"])
            try await store.store(CacheEntry(head: large, body: HTTPBody(Data())), for: key)
            for (new, old) in [(small, large), (large, small), (small, large), (large, small)] {
                let found = try await store.entry(for: key)?.head
                try expect(found?.encoded() == old.encoded(), "a large head was returned with changes, or is missing")
                let done = try await store.update(new, replacing: old, for: key)
                try expect(done, "a large head was not replaced")
                try expect(try await data(key, in: store) == Data(), "the entry is missing, or its body isn't empty")
            }
            try await store.removeAll { $0.tags.contains { $0.hasPrefix("tag 499") } }
            try expect(try await store.entry(for: key) == nil, "a large head wasn't found by its last tag")
        },
    ]
}

private final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .acquiring) }

    func increase() { count.add(1, ordering: .acquiringAndReleasing) }
}
