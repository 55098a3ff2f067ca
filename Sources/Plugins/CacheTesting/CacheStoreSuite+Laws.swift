import Errand
import ErrandCache
import ErrandEssentials
import Synchronization

/// Compares random operations on a store with a model.
///
/// Every result on a key must fit some sequential order of the operations (linearizability). Keys that differ in one
/// byte, or that share a short hash, must not share an entry. Long sequences are used to reach rare work such as
/// compaction. A failure is reduced to the fewest operations and printed as a test.
extension CacheStoreSuite {
    /// Returns the cases that compare random operations with a model. ``cases`` includes them with the defaults. Before
    /// a release, run more rounds.
    ///
    /// - Parameters:
    ///   - rounds: The number of random sequences of operations for each case. Defaults to 60.
    ///   - seed: The seed of the random operations. Defaults to 1, so failures repeat.
    ///   - mayDrop: Whether the store may drop any entry at any time, as in ``droppingCases``. Defaults to `false`.
    public static func laws(rounds: Int = 60, seed: UInt64 = 1, droppingEntries mayDrop: Bool = false) -> [Case] {
        [
            law("law: consecutive operations have the same results as a dictionary") { make in
                try await StoreLaw(tasks: 1, operations: 12, rounds: rounds, seed: seed, mayDrop: mayDrop).search(make)
            },
            law("law: concurrent operations have the results of some sequential order") { make in
                try await StoreLaw(tasks: 3, operations: 3, rounds: rounds, seed: seed, mayDrop: mayDrop).search(make)
            },
            law("law: a long series of operations on few keys has the results of a dictionary") { make in
                let rounds = max(1, rounds / 10)
                try await StoreLaw(tasks: 1, operations: 300, rounds: rounds, seed: seed, mayDrop: mayDrop).search(
                    make)
            },
            law("law: entries that share a URL, tags or a head are separate entries") { make in
                let rounds = max(1, rounds / 3)
                try await VariantLaw(rounds: rounds, seed: seed, mayDrop: mayDrop).check(make)
            },
            law("law: no key returns the entry of another key") { make in
                try await KeyLaw(count: 20 * rounds, seed: seed).check(make)
            },
            law("law: a read finds the entry that was stored last before it began, or a later one") { make in
                try await ReaderLaw(count: 10 * rounds, mayDrop: mayDrop).check(make)
            },
        ]
    }

    /// Creates a case whose failures name the law, also if the store throws an error.
    private static func law(
        _ description: String, _ check: @escaping @Sendable (Case.Maker) async throws -> Void
    ) -> Case {
        Case(
            description: description,
            opening: { make in
                do { try await check(make) } catch let failure as Failure {
                    throw Failure(description: "\(description): \(failure.description)")
                } catch {
                    if Task.isCancelled { throw error }
                    throw Failure(description: "\(description): the store threw \(error)")
                }
            })
    }

    /// Runs an operation of a law. If the store throws an error, throws a failure that names the operation.
    static func operate<Value>(
        _ operation: @autoclosure () -> String, _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch let failure as Failure { throw failure } catch {
            if Task.isCancelled { throw error }
            throw Failure(description: "the store threw \(error), in: \(operation())")
        }
    }
}

/// An operation that writes has a version, which identifies the entry.
private struct Operation: Sendable {
    enum Kind: Sendable { case store, storeSlowly, storeTorn, read, update, remove, removeTagged, removeEven }

    let kind: Kind
    let key: Int
    let version: Int
}

extension Operation.Kind {
    fileprivate var concernsAll: Bool { self == .removeTagged || self == .removeEven }
    fileprivate var isRemoval: Bool { self == .remove || concernsAll }
}

private struct Record: Sendable {
    let operation: Operation
    var old: Int?
    var found: Int?
    var isUpdated = false
    var begin = 0
    /// When the store began to read the body of a slow write.
    var reading: Int?
    var end = 0
}

private final class History: Sendable {
    let clock = Atomic(0)
    let current = Mutex<[Int: Int]>([:])
}

private struct StoreLaw: Sendable {
    let tasks: Int
    let operations: Int
    let rounds: Int
    let seed: UInt64
    let mayDrop: Bool

    /// Each key differs from another key only in characters that a store might normalize.
    static let keys = [
        "GET https://example.com/a", "GET https://example.com/A", "GET https://example.com/a/",
        "GET https://example.com/\u{E4}", "GET https://example.com/a\u{308}", "GET https://example.com/a\0",
        "GET https://example.com/a ", "GET https://example.com/a\n", "GET https://example.com_a",
        "GET https://example.com/a%2F", "GET https://example.com/\u{FB01}", "GET https://example.com/fi",
        "GET https://example.com/a?\u{2028}", String(repeating: "k", count: 300), String(repeating: "k", count: 301),
        "get https://example.com/a", "GET https://example.com/a\u{200B}", "GET https://example.com/\u{212B}",
        "GET https://example.com/\u{C5}", "../a", "a", ".", "",
    ]

    func search(_ make: CacheStoreSuite.Case.Maker) async throws {
        var random = StoreRandom(state: seed)
        for _ in 0..<rounds {
            try Task.checkCancellation()
            let plan = plan(&random)
            guard let problem = try await problem(of: plan, make) else { continue }
            let (smallest, last) = try await shrunk(plan, problem, make)
            throw CacheStoreSuite.Failure(description: "\(last). To repeat it:\n\n\(Self.code(smallest))")
        }
    }

    private func plan(_ random: inout StoreRandom) -> [[Operation]] {
        let kinds: [Operation.Kind] = [
            .store, .store, .storeSlowly, .storeTorn, .read, .read, .read, .update, .update, .remove,
            tasks == 1 ? .removeEven : .removeTagged,
        ]
        // Uses few keys, so operations conflict.
        let keys = (0..<(tasks == 1 ? 4 : 2)).map { _ in Int(random.next() % UInt64(Self.keys.count)) }
        var version = 0
        return (0..<tasks).map { _ in
            (0..<operations).map { _ in
                version += 1
                return Operation(
                    kind: kinds[Int(random.next() % UInt64(kinds.count))],
                    key: keys[Int(random.next() % UInt64(keys.count))], version: version)
            }
        }
    }

    private func shrunk(
        _ plan: [[Operation]], _ problem: String, _ make: CacheStoreSuite.Case.Maker
    ) async throws -> ([[Operation]], String) {
        var (best, last) = (plan, problem)
        var length = max(1, operations / 2)
        while true {
            var isSmaller = false
            search: for task in best.indices {
                for start in stride(from: 0, to: best[task].count, by: length) {
                    var copy = best
                    copy[task].removeSubrange(start..<min(start + length, copy[task].count))
                    // A race doesn't occur every time.
                    for _ in 0..<(tasks == 1 ? 1 : 20) {
                        guard let problem = try await self.problem(of: copy, make) else { continue }
                        (best, last, isSmaller) = (copy, problem, true)
                        break search
                    }
                }
            }
            if isSmaller { continue }
            if length == 1 { break }
            length = max(1, length / 2)
        }
        return (best.filter { !$0.isEmpty }, last)
    }

    // MARK: Running

    private func problem(of plan: [[Operation]], _ make: CacheStoreSuite.Case.Maker) async throws -> String? {
        let store = try await make()
        // A store on disk can have entries of an earlier round.
        try await store.removeAll { _ in true }
        let history = History()
        let records: [Record]
        do {
            records = try await withThrowingTaskGroup(of: [Record].self) { group in
                for operations in plan {
                    group.addTask { try await Self.run(operations, on: store, history) }
                }
                return try await group.reduce(into: [Record]()) { $0 += $1 }
            }
        } catch let failure as CacheStoreSuite.Failure { return failure.description }
        for key in Set(records.map(\.operation.key)).sorted() {
            let own = records.filter { $0.operation.key == key || $0.operation.kind.concernsAll }
            if let wrong = own.first(where: { $0.found == Self.mixed }) {
                return "key \(Self.text(wrong.operation.key)) has the head of one entry and the body of another"
            }
            if !isExplained(own, isSerial: tasks == 1) {
                return "the results for key \(Self.text(key)) don't match any order of the operations: "
                    + own.sorted { $0.begin < $1.begin }.suffix(20).map { Self.result(of: $0) }.joined(separator: ", ")
            }
        }
        return nil
    }

    private static let mixed = -1

    private static func run(
        _ operations: [Operation], on store: any CacheStore, _ history: History
    ) async throws -> [Record] {
        var records: [Record] = []
        for operation in operations {
            // Another task may have replaced the version already.
            var record = Record(operation: operation, old: history.current.withLock { $0[operation.key] })
            record.begin = history.clock.add(1, ordering: .sequentiallyConsistent).newValue
            try await CacheStoreSuite.operate(line(operation)) { try await perform(&record, on: store, history) }
            record.end = history.clock.add(1, ordering: .sequentiallyConsistent).newValue
            let isWritten =
                switch operation.kind {
                case .store, .storeSlowly: true
                case .update: record.isUpdated
                default: false
                }
            if isWritten { history.current.withLock { $0[operation.key] = operation.version } }
            records.append(record)
        }
        return records
    }

    private static func perform(
        _ record: inout Record, on store: any CacheStore, _ history: History
    ) async throws {
        let (operation, key) = (record.operation, CacheKey(keys[record.operation.key]))
        switch operation.kind {
        case .store:
            try await store.store(entry(operation.version), for: key)
        case .storeSlowly:
            let source = SlowBody(text(of: operation.version), isTorn: false, history)
            let new = CacheEntry(head: try entry(operation.version).head, body: HTTPBody(source: source))
            try await store.store(new, for: key)
            record.reading = source.firstRead
        case .storeTorn:
            let body = HTTPBody(source: SlowBody(text(of: operation.version), isTorn: true, history))
            do {
                try await store.store(CacheEntry(head: entry(operation.version).head, body: body), for: key)
                throw CacheStoreSuite.Failure(description: "store(_:for:) didn't throw the error of an entry's body")
            } catch is Chunks.Torn {}
        case .read:
            guard let found = try await store.entry(for: key) else { return }
            let head = Int(found.head.tags.first ?? "") ?? mixed
            let text = String(decoding: try await found.body.collect(upTo: 1 << 16), as: UTF8.self)
            // An update changes only the head, so the body can have an older version.
            let body = text.split(separator: "|").first.flatMap { Int($0) }
            let origin = found.head.tags.dropFirst().first.flatMap { Int($0) }
            let isWhole = text.hasSuffix("|end")
            record.found = isWhole && body == origin ? head : mixed
        case .update:
            guard let old = record.old, let current = try await store.entry(for: key) else {
                record.old = nil
                return
            }
            record.old = Int(current.head.tags.first ?? "") ?? old
            let origin = current.head.tags.dropFirst().first ?? ""
            let head = try head(operation.version, origin: origin)
            await Task.yield()
            record.isUpdated = try await store.update(head, replacing: current.head, for: key)
        case .remove:
            try await store.remove(key)
        case .removeTagged:
            try await store.removeAll { $0.tags.contains("all") }
        case .removeEven:
            try await store.removeAll { $0.tags.contains("even") }
        }
    }

    private static func text(of version: Int) -> String {
        "\(version)|" + String(repeating: "body \(version) ", count: 40) + "|end"
    }

    private static func head(_ version: Int, origin: String) throws -> CacheEntryHead {
        let parity = version.isMultiple(of: 2) ? "even" : "odd"
        return try CacheStoreSuite.entry("", path: "\(version)", tags: ["\(version)", origin, "all", parity]).head
    }

    private static func entry(_ version: Int) throws -> CacheEntry {
        CacheEntry(head: try head(version, origin: "\(version)"), body: HTTPBody(Data(text(of: version).utf8)))
    }

    // MARK: Judging

    /// Whether some order of the operations explains all results. Each operation must take effect between its start and
    /// its end.
    private func isExplained(_ records: [Record], isSerial: Bool) -> Bool {
        let steps = records.sorted { $0.begin < $1.begin }.flatMap { self.steps(of: $0) }
        if isSerial {
            var value: Int?
            for step in steps {
                let (isPossible, next) = step.apply(value)
                if !isPossible { return false }
                value = next
            }
            return true
        }
        var visited: Set<[Int?]> = []

        func search(_ done: UInt64, _ value: Int?) -> Bool {
            if done == (UInt64(1) << UInt64(steps.count)) - 1 { return true }
            if !visited.insert([Int(done), value]).inserted { return false }
            let pending = steps.indices.filter { done & (1 << UInt64($0)) == 0 }
            let firstEnd = pending.map { steps[$0].end }.min() ?? 0
            for index in pending where steps[index].begin <= firstEnd {
                // An update has two steps, and its write must follow its comparison.
                if steps[index].isSecond, done & (1 << UInt64(index - 1)) == 0 { continue }
                // A removal also removes what a store has begun to read.
                if steps[index].isRemoval, pending.contains(where: { steps[$0].reading < steps[index].begin }) {
                    continue
                }
                let (isPossible, next) = steps[index].apply(value)
                if isPossible, search(done | 1 << UInt64(index), next) { return true }
            }
            return false
        }

        return search(0, nil)
    }

    private struct Step {
        let begin: Int
        let end: Int
        var isSecond = false
        var isRemoval = false
        var reading = Int.max
        /// Applies a step to the key's value. Returns whether the result is possible, and the value after the step.
        let apply: (Int?) -> (Bool, Int?)
    }

    private func steps(of record: Record) -> [Step] {
        func step(isSecond: Bool = false, _ apply: @escaping (Int?) -> (Bool, Int?)) -> Step {
            Step(
                begin: record.begin, end: record.end, isSecond: isSecond, isRemoval: record.operation.kind.isRemoval,
                reading: record.reading ?? .max, apply: apply)
        }
        let version = record.operation.version
        switch record.operation.kind {
        case .store, .storeSlowly: return [step { _ in (true, version) }]
        case .storeTorn: return []
        case .read:
            let isMissing = mayDrop && record.found == nil
            return [step { ($0 == record.found || isMissing, $0) }]
        case .update:
            guard let old = record.old else { return [] }
            if !record.isUpdated { return [step { [mayDrop] in (mayDrop || $0 != old, $0) }] }
            // The default implementation of `update` reads and then stores, so other operations can run in between.
            return [step { ($0 == old, $0) }, step(isSecond: true) { _ in (true, version) }]
        case .remove, .removeTagged: return [step { _ in (true, nil) }]
        case .removeEven: return [step { (true, $0?.isMultiple(of: 2) == true ? nil : $0) }]
        }
    }

    // MARK: Texts

    private static func text(_ key: Int) -> String { keys[key].debugDescription }

    private static func result(of record: Record) -> String {
        switch record.operation.kind {
        case .store, .storeSlowly: "stored \(record.operation.version)"
        case .storeTorn: "a failed store"
        case .read: "found \(record.found.map(String.init) ?? "no entry")"
        case .update:
            record.old.map { "update of \($0) to \(record.operation.version): \(record.isUpdated)" } ?? "no update"
        case .remove, .removeTagged: "removed"
        case .removeEven: "removed if even"
        }
    }

    private static func code(_ plan: [[Operation]]) -> String {
        let tasks = plan.map { operations in operations.map { "    \(line($0))" }.joined(separator: "\n") }
        var text = "@Test func keepsLaw() async throws {\n    let store = MyStore()\n"
        text += """
                func entry(_ number: Int) -> CacheEntry {
                    let head = CacheEntryHead(
                        url: URL(string: "https://example.com/\\(number)")!, received: .now, expires: .distantFuture,
                        tags: ["\\(number)", "all", number % 2 == 0 ? "even" : "odd"])
                    return CacheEntry(head: head, body: HTTPBody(Data("\\(number)".utf8)))
                }

            """
        if tasks.count == 1 { return text + tasks[0] + "\n}\n" }
        text += "    try await withThrowingTaskGroup { group in\n"
        for task in tasks {
            let body = task.split(separator: "\n").map { "        \($0)" }.joined(separator: "\n")
            text += "        group.addTask {\n\(body)\n        }\n"
        }
        return text + "        try await group.waitForAll()\n    }\n}\n"
    }

    private static func line(_ operation: Operation) -> String {
        let key = "CacheKey(\(text(operation.key)))"
        return switch operation.kind {
        case .store: "try await store.store(entry(\(operation.version)), for: \(key))"
        case .storeSlowly: "try await store.store(entry(\(operation.version)), for: \(key))  // with a streamed body"
        case .storeTorn: "try? await store.store(entry(\(operation.version)), for: \(key))  // with a body that fails"
        case .read: "print(try await store.entry(for: \(key))?.head.tags ?? [])"
        case .update:
            "if let old = try await store.entry(for: \(key))?.head { "
                + "print(try await store.update(entry(\(operation.version)).head, replacing: old, for: \(key))) }"
        case .remove: "try await store.remove(\(key))"
        case .removeTagged: "try await store.removeAll { $0.tags.contains(\"all\") }"
        case .removeEven: "try await store.removeAll { $0.tags.contains(\"even\") }"
        }
    }
}

/// A body whose chunks suspend, so other tasks run in between.
private final class SlowBody: HTTPBodySource {
    private let text: String
    private let isTorn: Bool
    private let history: History
    private let index = Atomic(0)
    private let reading = Atomic(0)

    init(_ text: String, isTorn: Bool, _ history: History) {
        (self.text, self.isTorn, self.history) = (text, isTorn, history)
    }

    /// When the store read the first chunk. `nil` if it hasn't read the chunk yet.
    var firstRead: Int? {
        let time = reading.load(ordering: .sequentiallyConsistent)
        return time == 0 ? nil : time
    }

    func nextChunk() async throws -> Data? {
        if index.load(ordering: .relaxed) == 0 {
            let time = history.clock.add(1, ordering: .sequentiallyConsistent).newValue
            reading.store(time, ordering: .sequentiallyConsistent)
        }
        for _ in 0..<3 { await Task.yield() }
        switch index.add(1, ordering: .relaxed).oldValue {
        case 0: return Data(text.utf8.prefix(10))
        case 1 where isTorn: throw Chunks.Torn()
        case 1: return Data(text.utf8.dropFirst(10))
        default: return nil
        }
    }

    func cancel() {}
}

/// Repeatable random numbers (SplitMix64).
struct StoreRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
