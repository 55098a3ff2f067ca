import Errand
import ErrandCache
import ErrandEssentials

/// Several stores: one after another, at the same time, with one storage or with separate storages.
extension CacheStoreSuite {
    static let openings: [Case] = [
        Case(
            description: "stores that are opened one after another all work, and are released",
            opening: { make in
                let meter = try await OpeningMeter(make)
                for number in 0..<OpeningMeter.count {
                    try await meter.use(try await make()) { store in
                        let key = CacheKey("opened \(number)")
                        try await store.store(try entry("\(number)"), for: key)
                        if let found = try await text(key, in: store) {
                            try expect(found == "\(number)", "store \(number) returned another body")
                        }
                        try expect(try await store.secret().count >= 16, "store \(number) has a short secret")
                        try await store.remove(key)
                    }
                }
                try await meter.check(make)
            })
    ]

    static let reopenings: [Case] = [
        Case(
            description: "each of many stores on one storage finds the entries of the earlier ones",
            opening: { make in
                let meter = try await OpeningMeter(make)
                let secret = try await make().secret()
                for number in 0..<OpeningMeter.count {
                    try await meter.use(try await make()) { store in
                        try expect(try await store.secret() == secret, "store \(number) has another secret")
                        if number > 0 {
                            try await expect(
                                "body \(number - 1)", at: CacheKey("counter"), in: store,
                                "store \(number) doesn't have the body that the store before it stored")
                            try await expect(
                                "\(number - 1)", at: CacheKey("\(number - 1)"), in: store,
                                "store \(number) has another body under the key of the store before it")
                        }
                        try await store.store(try entry("body \(number)"), for: CacheKey("counter"))
                        try await store.store(try entry("\(number)"), for: CacheKey("\(number)"))
                    }
                }
                let last = try await make()
                for number in 0..<OpeningMeter.count {
                    try await expect(
                        "\(number)", at: CacheKey("\(number)"), in: last, "an entry of store \(number) has another body"
                    )
                }
                try await meter.check(make)
            }),
        Case(
            description: "stores that use one storage at the same time don't fail, and don't mix entries",
            opening: { make in
                var stores: [any CacheStore] = []
                for _ in 0..<8 { stores.append(try await make()) }
                let secrets = try await withThrowingTaskGroup(of: Data.self) { group in
                    for (number, store) in stores.enumerated() {
                        group.addTask {
                            let secret = try await store.secret()
                            for round in 0..<3 {
                                let own = CacheKey("own \(number)")
                                try await store.store(try entry("own \(number)", tags: ["\(round)"]), for: own)
                                try await store.store(
                                    try entry("\(number)", tags: ["\(number)"]), for: CacheKey("shared"))
                                guard let found = try await store.entry(for: CacheKey("shared")) else { continue }
                                let body = String(decoding: try await found.body.collect(upTo: 100), as: UTF8.self)
                                try expect(
                                    found.head.tags == [body], "the head of one store has the body of another one")
                            }
                            return secret
                        }
                    }
                    return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
                }
                try expect(secrets.count == 1, "\(secrets.count) different secrets for one storage")
                let last = try await make()
                for number in stores.indices {
                    guard let found = try await text(CacheKey("own \(number)"), in: last) else { continue }
                    try expect(found == "own \(number)", "an entry has the body of another one")
                }
            }),
        Case(
            description: "an interrupted write leaves a whole entry when the storage is opened again",
            opening: { make in
                let key = CacheKey("interrupted")
                for way in ["waits", "fails", "is cancelled"] {
                    let first = try await make()
                    try await first.store(try entry("old"), for: key)
                    let (second, head) = (try await make(), try head(path: "new"))
                    switch way {
                    case "waits":
                        let found = try await lookWhileWriting(head, key, first, second)
                        try expect(
                            found == nil || found == "old" || found == "held back",
                            "another store found a part of a body that was still being written")
                    case "fails":
                        let body = HTTPBody(source: Chunks([Data(repeating: 1, count: 300_000)], failing: true))
                        try? await first.store(CacheEntry(head: head, body: body), for: key)
                    default: await cancelWrite(head, key, first)
                    }
                    let third = try await make()
                    let found = try await text(key, in: third)
                    let allowed = way == "fails" ? ["old"] : way == "waits" ? ["held back"] : ["old", "held back"]
                    try expect(
                        found.map { allowed.contains($0) } ?? false,
                        "after a write that \(way), the storage has \(found?.prefix(20).debugDescription ?? "no entry")"
                    )
                    try await third.store(try entry("next"), for: key)
                    try await expect("next", at: key, in: try await make(), "the next write isn't found")
                }
            }),
        Case(
            description: "an updated head persists with its body, and entries that share its URL stay as they were",
            opening: { make in
                let keys = [CacheKey("de"), CacheKey("en"), CacheKey("fr")]
                let old = try head(headers: [.entityTag: "\"1\""], tags: ["old"])
                let first = try await make()
                for key in keys {
                    try await first.store(CacheEntry(head: old, body: HTTPBody(Data(key.text.utf8))), for: key)
                }
                let new = try head(
                    headers: [.entityTag: "\"2\""], tags: ["new", String(repeating: "t", count: 30_000)])
                let done = try await make().update(new, replacing: old, for: keys[1])
                try expect(done, "the head was not replaced after the storage was opened again")
                let second = try await make()
                for key in keys {
                    guard let found = try await second.entry(for: key) else { throw missing(key) }
                    let isUpdated = key == keys[1]
                    try expect(
                        found.head.encoded() == (isUpdated ? new : old).encoded(),
                        isUpdated ? "the new head didn't persist" : "updating an entry changed another one's head")
                    try await expect(key.text, at: key, in: second, "an update changed a body")
                }
                // The first operation of a store that was just opened.
                try await make().removeAll { $0.tags.contains("new") }
                let third = try await make()
                for key in keys {
                    try expect(
                        (try await third.entry(for: key) == nil) == (key == keys[1]),
                        "a removal by a new head's tag removed the wrong entries")
                }
            }),
    ]

    /// Begins to write an entry, reads its key with another store, and then lets the write end.
    private static func lookWhileWriting(
        _ head: CacheEntryHead, _ key: CacheKey, _ writer: any CacheStore, _ reader: any CacheStore
    ) async throws -> String? {
        let source = HeldBody()
        let (written, read) = (Flag(), Flag())
        return try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                defer { written.set() }
                try await writer.store(CacheEntry(head: head, body: HTTPBody(source: source)), for: key)
                return nil
            }
            while !source.isHeld, !written.isSet { try await Task.sleep(for: .milliseconds(1)) }
            group.addTask {
                defer { read.set() }
                // A store may lock its storage while it writes.
                return (try? await text(key, in: reader)) ?? nil
            }
            for _ in 0..<50 where !read.isSet { try await Task.sleep(for: .milliseconds(1)) }
            source.open()
            return try await group.reduce(nil) { $0 ?? $1 }
        }
    }

    private static func cancelWrite(_ head: CacheEntryHead, _ key: CacheKey, _ store: any CacheStore) async {
        let source = HeldBody()
        let written = Flag()
        let task = Task {
            defer { written.set() }
            try await store.store(CacheEntry(head: head, body: HTTPBody(source: source)), for: key)
        }
        while !source.isHeld, !written.isSet { try? await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        source.open()
        _ = await task.result
    }

    /// ``isolationCases`` for stores that may drop any entry at any time.
    public static let droppingIsolationCases = isolationCases.map(\.dropping)

    /// The cases for several stores in one app. For stores that may drop entries, use ``droppingIsolationCases``.
    /// `makeStore` must create a store with new and empty storage each time.
    ///
    /// ```swift
    /// @Test(arguments: CacheStoreSuite.isolationCases) func isolated(_ test: CacheStoreSuite.Case) async throws {
    ///     try await test.run { DiskStore(at: newDirectory()) }
    /// }
    /// ```
    public static let isolationCases: [Case] = [
        Case(
            description: "stores with separate storage don't share entries, limits or heads",
            opening: { make in
                var stores: [any CacheStore] = []
                for _ in 0..<20 { stores.append(try await make()) }
                let key = CacheKey("k")
                for (number, store) in stores.enumerated() {
                    try expect(try await store.entry(for: key) == nil, "a new store has an entry of another store")
                    try await store.store(try entry("\(number)"), for: key)
                    for part in 0..<4 {
                        try await store.store(
                            try entry(Data(repeating: UInt8(number), count: 40_000)), for: CacheKey("long \(part)"))
                    }
                }
                let old = try entry("").head
                _ = try await stores[0].update(try head(path: "new"), replacing: old, for: key)
                try await stores[1].remove(key)
                try await stores[2].removeAll { _ in true }
                stores.removeSubrange(0..<3)
                for (number, store) in stores.enumerated() {
                    try await expect("\(number + 3)", at: key, in: store, "a store has the body of another store")
                    try expect(
                        try await store.entry(for: key)?.head.encoded() == old.encoded(),
                        "updating an entry of one store changed another store")
                    for part in 0..<4 {
                        try expect(
                            try await data(CacheKey("long \(part)"), in: store)
                                == Data(repeating: UInt8(number + 3), count: 40_000),
                            "an entry is missing or differs, although its store has room")
                    }
                }
            }),
        Case(
            description: "what one store does while another one writes doesn't affect that write",
            opening: { make in
                for way in ["removes the key", "removes all", "stores the key", "fails to store the key"] {
                    let (writer, other, key) = (try await make(), try await make(), CacheKey("k"))
                    try await write(HeldBody(), key, in: writer) {
                        switch way {
                        case "removes the key": try await other.remove(key)
                        case "removes all": try await other.removeAll { _ in true }
                        case "stores the key": try await other.store(try entry("other"), for: key)
                        default:
                            let body = HTTPBody(source: Chunks([Data(count: 10)], failing: true))
                            try? await other.store(CacheEntry(head: try entry("").head, body: body), for: key)
                        }
                    }
                    try await expect(
                        "held back", at: key, in: writer, "a write got other bytes because another store \(way)")
                    let expected = way == "stores the key" ? "other" : nil
                    try expect(try await text(key, in: other) == expected, "a store has the entry of another store")
                }
            }),
        Case(
            description: "stores with separate storage that are used at the same time keep their own entries",
            opening: { make in
                var stores: [any CacheStore] = []
                for _ in 0..<12 { stores.append(try await make()) }
                try await withThrowingTaskGroup { group in
                    for (number, store) in stores.enumerated() {
                        group.addTask {
                            let key = CacheKey("k")
                            for round in 0..<10 {
                                let body = "\(number) \(round)"
                                try await store.store(try entry(body, tags: ["\(round)"]), for: key)
                                try await expect(body, at: key, in: store, "a store has the body of another store")
                                try await store.removeAll { $0.tags != ["\(round)"] }
                                try await expect(body, at: key, in: store, "a removal removed the wrong entry")
                                if round % 3 == 0 { try await store.remove(key) }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }),
    ]
}

/// Notes stores, and checks that they and their files are released.
private final class OpeningMeter {
    static let count = 40

    private struct Reference {
        weak var store: (any CacheStore)?
    }

    private let files = OpeningMeter.openFiles()
    private var references: [Reference] = []
    /// Whether the test returns one store each time.
    private let isShared: Bool

    init(_ make: CacheStoreSuite.Case.Maker) async throws {
        let (first, second) = (try await make(), try await make())
        isShared = first === second
    }

    func use(_ store: any CacheStore, _ body: (any CacheStore) async throws -> Void) async throws {
        references.append(Reference(store: store))
        try await body(store)
    }

    func check(_ make: CacheStoreSuite.Case.Maker) async throws {
        if isShared { return }
        // A store may end its work after its last call.
        for _ in 0..<200 where living > Self.count / 2 || !grown(since: files).isEmpty {
            try await Task.sleep(for: .milliseconds(25))
        }
        if living > Self.count / 2 {
            throw CacheStoreSuite.Failure(
                description: "\(living) of \(Self.count) stores stay in memory after their last reference")
        }
        // Other tests can open files at the same time, but not each time.
        var paths = grown(since: files)
        for _ in 0..<3 where !paths.isEmpty {
            let before = Self.openFiles()
            for _ in 0..<Self.count {
                let store = try await make()
                _ = try await store.entry(for: CacheKey("k"))
            }
            try await Task.sleep(for: .milliseconds(100))
            paths.formIntersection(grown(since: before))
        }
        if let path = paths.sorted().last {
            throw CacheStoreSuite.Failure(
                description: "files of \(path) stay open after \(Self.count) stores were released")
        }
    }

    private var living: Int { references.count { $0.store != nil } }

    /// The paths with more open files than before.
    private func grown(since before: [String: Int]) -> Set<String> {
        Set(Self.openFiles().filter { $0.value - before[$0.key, default: 0] > Self.count / 2 }.keys)
    }

    /// The number of open files for each path and each folder. Empty on systems without `/proc`.
    private static func openFiles() -> [String: Int] {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let shared = FileManager.default.temporaryDirectory.standardizedFileURL.path
        var counts: [String: Int] = [:]
        for name in names {
            guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"),
                path.hasPrefix("/"), !path.hasPrefix("/dev/")
            else { continue }
            counts[path, default: 0] += 1
            // Tests that run at the same time share the temporary folder itself.
            let parent = path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
            if parent != shared { counts[parent, default: 0] += 1 }
        }
        return counts
    }
}
