import Errand
import ErrandCache
import ErrandEssentials
import Synchronization

/// Compares random operations with a dictionary. The entries share URLs, tags, partitions and whole heads, as variants
/// of a response do, and the keys resemble each other. Every operation may change only the entries that it names.
struct VariantLaw: Sendable {
    let rounds: Int
    let seed: UInt64
    let mayDrop: Bool

    /// Each group has different keys that a store could take for one key, for example because it escapes, compares,
    /// cuts or searches text.
    static let groups: [[String]] = [
        // Prefixes, and the wildcards of SQL, of file names and of regular expressions.
        ["a%", "a_", "a", "ab", "a*", "a?", "a.", "[ab]", "^a", "a\\", "a\\%", "%", "_", "*"],
        // Quotation marks and separators.
        ["a'b", "a''b", "a\"b", "a`b", "a;b", "a,b", "a|b", "a\tb", "a\nb", "a\r\nb", "a\0b", "a:b", "a=b", "a&b"],
        // Escapes.
        ["a/b", "a%2Fb", "a%2fb", "a%252Fb", "a b", "a%20b", "a+b", "a_b", "a-b", "a\\u002Fb"],
        // Cases, compositions and compatibility.
        ["stra\u{DF}e", "strasse", "STRASSE", "\u{130}", "i", "I", "\u{131}", "\u{3C3}", "\u{3C2}", "\u{FB01}", "fi"],
        // Spaces at the ends.
        ["a", " a", "a ", "a\n", "a\0", "\u{FEFF}a", "a\u{200B}", "", " "],
        // Texts that a database could take for one number or date.
        ["1", "01", "1.0", "1e0", "+1", "0x1", "true", "9007199254740992", "9007199254740993", "null", "NULL"],
        // Names of files.
        ["a/../b", "b", "./b", "b/", "b//", "/b", "..", ".", "con", "CON", "b.tmp", "b.json", "b~"],
        // Long keys that differ at one end, or in the middle.
        [
            long + "a", long + "b", long, "a" + long, "b" + long, "a" + long + "a", long + "a" + long,
            long + "b" + long, String(long.dropLast()),
        ],
    ]
    private static let long = String(repeating: "x", count: 600)
    private static let paths = ["a", "ab", "a%25", "a_", "a*", "A", "a?x=1", "a/"]
    private static let names = ["a", "ab", "a%", "a_", "a*", "A", "", "a,b", "b", "a\u{308}", "\u{E4}"]

    private enum Step: Sendable {
        case store(key: Int, CacheEntryHead, Data, isStreamed: Bool)
        case storeTorn(key: Int, CacheEntryHead)
        /// Replaces the head of another key, or a head that was never stored, if `source` isn't the key.
        case update(key: Int, CacheEntryHead, source: Int?)
        case remove(key: Int)
        case removeAll(Selection)
    }

    private enum Selection: Sendable {
        case url(String)
        case urlPrefix(String)
        case tag(String)
        case partition(String)

        func matches(_ head: CacheEntryHead) -> Bool {
            switch self {
            case .url(let url): Array(head.url.utf8) == Array(url.utf8)
            case .urlPrefix(let prefix): Array(head.url.utf8).starts(with: Array(prefix.utf8))
            case .tag(let tag): head.tags.contains { Array($0.utf8) == Array(tag.utf8) }
            case .partition(let name): head.partition.map { Array($0.utf8) == Array(name.utf8) } ?? false
            }
        }
    }

    private struct Stored {
        var head: CacheEntryHead
        let body: Data
    }

    func check(_ make: CacheStoreSuite.Case.Maker) async throws {
        var random = StoreRandom(state: seed)
        for round in 0..<rounds {
            try Task.checkCancellation()
            let group = Self.groups[round % Self.groups.count]
            // Neighbors in a group resemble each other most.
            let start = Int(random.next() % UInt64(group.count))
            let keys = (0..<5).map { CacheKey(group[(start + $0) % group.count]) }
            var heads: [CacheEntryHead] = []
            let plan = try (0..<14).map { _ in try Self.step(&random, keys.count, &heads) }
            guard let problem = try await problem(of: plan, keys, make) else { continue }
            var (best, last, index) = (plan, problem, 0)
            while index < best.count {
                var copy = best
                copy.remove(at: index)
                if let problem = try await self.problem(of: copy, keys, make) {
                    (best, last) = (copy, problem)
                } else {
                    index += 1
                }
            }
            let lines = best.map { "    \(Self.text(of: $0, keys))" }.joined(separator: "\n")
            throw CacheStoreSuite.Failure(description: "\(last). The operations were:\n\n\(lines)\n")
        }
    }

    // MARK: Plans

    /// - Parameter heads: The heads of earlier steps. Some steps use one of them again.
    private static func step(
        _ random: inout StoreRandom, _ count: Int, _ heads: inout [CacheEntryHead]
    ) throws -> Step {
        func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
        let key = below(count)
        let isOld = !heads.isEmpty && below(2) == 0
        let head = isOld ? heads[below(heads.count)] : try head(&random)
        heads.append(head)
        switch below(12) {
        case 0...4:
            let size = [0, 0, 1, 20, 3_000, 70_000][below(6)]
            let body = Data(repeating: UInt8(below(250)), count: size)
            return .store(key: key, head, body, isStreamed: below(3) == 0)
        case 5: return .storeTorn(key: key, head)
        case 6...8: return .update(key: key, head, source: below(10) < 7 ? key : below(count + 1))
        case 9: return .remove(key: key)
        default:
            let url = "https://example.com/\(paths[below(paths.count)])"
            let name = names[below(names.count)]
            return .removeAll([.url(url), .urlPrefix(url), .tag(name), .partition(name)][below(4)])
        }
    }

    /// A few values for each property, so different entries often share them.
    private static func head(_ random: inout StoreRandom) throws -> CacheEntryHead {
        func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
        let path = below(3) == 0 ? paths[below(paths.count)] : "a"
        var headers: HTTPHeaders = [.entityTag: "\"\(below(3))\"", .vary: "Accept-Language"]
        headers[.contentLanguage] = below(2) == 0 ? "de" : "en"
        return try CacheStoreSuite.head(
            path: path, headers: headers, received: Date(timeIntervalSince1970: 1_700_000_000 + Double(below(2))),
            tags: (0..<below(3)).map { _ in names[below(names.count)] },
            partition: below(2) == 0 ? names[below(names.count)] : nil)
    }

    // MARK: Running

    private func problem(
        of plan: [Step], _ keys: [CacheKey], _ make: CacheStoreSuite.Case.Maker
    ) async throws -> String? {
        let store = try await make()
        // A store on disk can have entries of an earlier round.
        try await store.removeAll { _ in true }
        var stored: [CacheKey: Stored] = [:]
        for step in plan {
            let text = Self.text(of: step, keys)
            do {
                let problem = try await CacheStoreSuite.operate(text) {
                    try await perform(step, keys, on: store, &stored)
                }
                if let problem { return "\(problem), in: \(text)" }
                let wrong = try await CacheStoreSuite.operate("a read after: \(text)") {
                    try await self.difference(keys, in: store, &stored)
                }
                if let wrong { return "\(wrong), after: \(text)" }
            } catch let failure as CacheStoreSuite.Failure { return failure.description }
        }
        return nil
    }

    private func perform(
        _ step: Step, _ keys: [CacheKey], on store: any CacheStore, _ stored: inout [CacheKey: Stored]
    ) async throws -> String? {
        switch step {
        case .store(let key, let head, let data, let isStreamed):
            let half = data.count / 2
            let body =
                isStreamed
                ? HTTPBody(source: Chunks([Data(data.prefix(half)), Data(data.dropFirst(half))], failing: false))
                : HTTPBody(data)
            try await store.store(CacheEntry(head: head, body: body), for: keys[key])
            stored[keys[key]] = Stored(head: head, body: data)
        case .storeTorn(let key, let head):
            let body = HTTPBody(source: Chunks([Data(repeating: 7, count: 2_000)], failing: true))
            do {
                try await store.store(CacheEntry(head: head, body: body), for: keys[key])
                return "store(_:for:) didn't throw the error of an entry's body"
            } catch is Chunks.Torn {}
        case .update(let key, let head, let source):
            var old = try CacheStoreSuite.head(path: "never-stored")
            if let source, source < keys.count, let known = stored[keys[source]] { old = known.head }
            let isExpected = stored[keys[key]].map { $0.head.encoded() == old.encoded() } ?? false
            let isDone = try await store.update(head, replacing: old, for: keys[key])
            if isDone != isExpected, isDone || !mayDrop {
                return "update(_:replacing:for:) returned \(isDone) although the old head "
                    + (isExpected ? "was stored" : "wasn't stored under this key")
            }
            if isDone { stored[keys[key]]?.head = head }
        case .remove(let key):
            try await store.remove(keys[key])
            stored[keys[key]] = nil
        case .removeAll(let selection):
            let seen = Heads()
            try await store.removeAll { head in
                seen.add(head.encoded())
                return selection.matches(head)
            }
            if !mayDrop, let missed = stored.first(where: { !seen.contains($0.value.head.encoded()) }) {
                return "the predicate didn't receive the head of the key \(missed.key.text.prefix(60).debugDescription)"
            }
            stored = stored.filter { !selection.matches($0.value.head) }
        }
        return nil
    }

    private func difference(
        _ keys: [CacheKey], in store: any CacheStore, _ stored: inout [CacheKey: Stored]
    ) async throws -> String? {
        for key in keys {
            let name = String(key.text.prefix(60)).debugDescription
            guard let found = try await store.entry(for: key) else {
                if mayDrop { stored[key] = nil }
                if stored[key] == nil { continue }
                return "the entry of the key \(name) is missing"
            }
            guard let expected = stored[key] else { return "the key \(name) has an entry that must not exist" }
            if found.head.encoded() != expected.head.encoded() { return "the key \(name) has another head" }
            let body = try await found.body.collect(upTo: 1 << 20)
            if body != expected.body {
                return "the key \(name) has a body of \(body.count) bytes, not its own \(expected.body.count) bytes"
            }
        }
        return nil
    }

    // MARK: Texts

    private static func text(of step: Step, _ keys: [CacheKey]) -> String {
        func name(_ key: Int) -> String {
            let text = keys[key].text
            return text.count > 60 ? "a key of \(text.count) characters" : text.debugDescription
        }
        switch step {
        case .store(let key, let head, let data, let isStreamed):
            return "store \(data.count) bytes\(isStreamed ? " as a stream" : "") for \(name(key)), \(text(of: head))"
        case .storeTorn(let key, let head): return "store a body that fails for \(name(key)), \(text(of: head))"
        case .update(let key, let head, let source):
            let old =
                source.map { $0 < keys.count ? "the head of \(name($0))" : "an unknown head" } ?? "an unknown head"
            return "update \(name(key)), replacing \(old), \(text(of: head))"
        case .remove(let key): return "remove \(name(key))"
        case .removeAll(.url(let url)): return "remove all with the URL \(url)"
        case .removeAll(.urlPrefix(let url)): return "remove all with the URL prefix \(url)"
        case .removeAll(.tag(let tag)): return "remove all with the tag \(tag.debugDescription)"
        case .removeAll(.partition(let name)): return "remove all with the partition \(name.debugDescription)"
        }
    }

    private static func text(of head: CacheEntryHead) -> String {
        "URL \(head.url), tags \(head.tags)"
            + ", partition \(head.partition?.debugDescription ?? "none")"
    }
}

private final class Heads: Sendable {
    private let state = Mutex<Set<Data>>([])
    func add(_ head: Data) { state.withLock { _ = $0.insert(head) } }
    func contains(_ head: Data) -> Bool { state.withLock { $0.contains(head) } }
}
