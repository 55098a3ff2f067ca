import Errand

/// The latest removals, which also apply to the responses to requests that began earlier.
///
/// A removal is found by the URLs or the key that it names, and a later removal of the same name replaces it. So any
/// number of requests that invalidate the same URLs need only one place. If there are too many removals, the oldest are
/// forgotten. Whether a forgotten removal applies to a response is unknown, so that response must not be stored.
struct RecentRemovals: Sendable {
    /// The entries that a removal applies to.
    enum Target: Sendable {
        /// The HTTP entries of these URLs, for all users and in all variants.
        case urls(Set<String>)
        case key(CacheKey)
        /// The HTTP entry of a key, if it differs from a response to HEAD with these fields.
        case outdated(CacheKey, by: HTTPHeaders)
        case selection(@Sendable (CacheKey, CacheEntryHead) -> Bool)

        func contains(_ key: CacheKey, _ head: CacheEntryHead) -> Bool {
            switch self {
            case .urls(let urls): head.kind != .timed && urls.contains(head.url)
            case .key(let removed): key == removed
            case .outdated(let removed, let headers):
                key == removed && head.kind == .http && !HTTPCacheHeaders.describesSame(headers, head.headers)
            case .selection(let selects): selects(key, head)
            }
        }
    }

    enum Match {
        case none
        case removed
        /// The removals since the request began are too many to remember.
        case unknown
    }

    private struct Name: Hashable {
        enum Subject: Hashable {
            case url(String)
            case key(CacheKey)
            case outdated(CacheKey)
        }

        let store: ObjectIdentifier
        let subject: Subject
    }

    private struct Removal: Sendable {
        let number: UInt64
        let store: ObjectIdentifier
        let target: Target
    }

    /// The number of removals so far, which is also the number of the latest removal.
    private(set) var count: UInt64 = 0
    /// The number of the latest removal that was forgotten.
    private var forgotten: UInt64 = 0
    private var named: [Name: Removal] = [:]
    /// Removals that name neither a URL nor a key, such as the removal of a tag.
    private var selections: [Removal] = []
    private static let maximumNames = 4096
    private static let maximumSelections = 256

    mutating func add(_ target: Target, in store: ObjectIdentifier) {
        count += 1
        let removal = Removal(number: count, store: store, target: target)
        switch target {
        case .urls(let urls): for url in urls { named[Name(store: store, subject: .url(url))] = removal }
        case .key(let key): named[Name(store: store, subject: .key(key))] = removal
        case .outdated(let key, _): named[Name(store: store, subject: .outdated(key))] = removal
        case .selection: selections.append(removal)
        }
        if named.count > Self.maximumNames { forgetOlderHalf() }
        if selections.count > Self.maximumSelections { forget(upTo: selections.removeFirst().number) }
    }

    private mutating func forgetOlderHalf() {
        let numbers = named.values.map(\.number).sorted()
        let last = numbers[numbers.count / 2]
        named = named.filter { $0.value.number > last }
        forget(upTo: last)
    }

    private mutating func forget(upTo number: UInt64) { forgotten = max(forgotten, number) }

    /// Returns whether a removal since the request began applies to an entry.
    func match(
        _ written: CacheWriter.Written, _ location: CacheWriter.Location, since start: CacheWriter.Start
    ) -> Match {
        if count == start.removals { return .none }
        let (store, key) = (location.store, location.key)
        func applies(_ removal: Removal?) -> Bool {
            guard let removal, removal.store == store, removal.number > start.removals else { return false }
            return written.isIn(removal.target, key)
        }
        let subjects: [Name.Subject] = [.url(written.head.url), .key(key), .outdated(key)]
        if subjects.contains(where: { applies(named[Name(store: store, subject: $0)]) }) { return .removed }
        if selections.contains(where: { applies($0) }) { return .removed }
        return forgotten > start.removals ? .unknown : .none
    }
}

extension CacheWriter.Written {
    func isIn(_ target: RecentRemovals.Target, _ key: CacheKey) -> Bool {
        target.contains(key, head) || old.map { target.contains(key, $0) } == true
    }
}
