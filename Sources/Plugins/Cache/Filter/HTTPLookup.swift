import Errand

extension CacheHandler {
    struct StoredResponse: Sendable {
        let key: CacheKey
        let entry: CacheEntry
    }

    /// The lookup of one request. A class, to keep async frames small.
    final class HTTPLookup: Sendable {
        let key: CacheKey
        let store: OpenStore
        let users: Set<UserMark>
        let hasPartition: Bool
        let url: String
        let directives: CacheDirectives
        let preferences: HTTPCacheRules.CallPreferences
        let headers: HTTPHeaders
        let hasConditions: Bool
        let isHead: Bool
        let start: CacheWriter.Start

        var hasher: KeyedHasher { store.hasher }
        var isOwned: Bool { hasPartition || !users.isEmpty }

        init(
            _ exchange: Exchange, partition: String?, directives: CacheDirectives,
            preferences: HTTPCacheRules.CallPreferences, store: OpenStore, start: CacheWriter.Start
        ) {
            // The resource URL belongs to the first hop, not to a redirect's target.
            let resource = exchange.hop == 1 ? exchange.tags[ResourceURL.self] : nil
            let http = exchange.http
            (url, users) = (CacheKeyBuilder.url(resource, of: http), exchange.userMarks)
            key = CacheKeyBuilder.http(url, users: users, partition: partition, store.hasher)
            hasPartition = partition != nil
            (headers, isHead) = (http.headers, http.method == .head)
            hasConditions = HTTPConditions.areAny(in: headers)
            (self.directives, self.preferences, self.store, self.start) = (directives, preferences, store, start)
        }

        func variantKey(_ names: [String]) -> CacheKey {
            CacheKeyBuilder.variant(of: key, names: names, headers: headers, hasher)
        }

        /// Returns whether the response may be stored. `sent` are the users for whom the request was sent, or nil if it
        /// wasn't sent.
        func mayKeep(_ sent: Set<UserMark>?) -> Bool {
            sent.map { $0.isStorable(for: users, hasPartition: hasPartition) } ?? true
        }
    }

    func lookup(_ policy: CachePolicy.HTTP, directives: CacheDirectives, store: OpenStore) -> HTTPLookup {
        var directives = directives
        var preferences = HTTPCacheRules.CallPreferences(staleIfError: policy.staleIfError?.wholeSeconds)
        switch mode {
        case .reload: preferences.requiresValidation = true
        case .reloadFromOrigin: directives.noCache = true
        case .cacheOnlyIncludingStale, .preferCache, .staleWhileRevalidate: preferences.acceptsStale = true
        case .staleIfError: preferences.staleIfError = .max
        default: break
        }
        return HTTPLookup(
            exchange, partition: policy.partition, directives: directives, preferences: preferences, store: store,
            start: cache.writer.start())
    }

    enum SearchResult: Sendable {
        case found(StoredResponse)
        case nothing(CacheStatus.Forward)

        var found: StoredResponse? { if case .found(let found) = self { found } else { nil } }
    }

    /// Returns the stored response for a request. If several variants match, the variant whose header names were stored
    /// last is used.
    func search(_ lookup: HTTPLookup) async -> SearchResult {
        var read = ReadEntries()
        while true {
            switch search(lookup, among: read) {
            case .success(let result): return result
            case .failure(let unread):
                let entry: CacheEntry?
                if case .entry(let found) = await self.read(unread.key) { entry = found } else { entry = nil }
                read.entries.append((unread.key, entry))
            }
        }
    }

    /// Searches without waiting. Returns nil if the search has to wait for a store.
    func searchAtOnce(_ lookup: HTTPLookup) -> SearchResult? { try? search(lookup, among: ReadEntries()).get() }

    private struct ReadEntries {
        var entries: [(key: CacheKey, entry: CacheEntry?)] = []
    }

    private struct Unread: Error { let key: CacheKey }

    /// Searches among entries that were already read. If the search needs an entry that the store must read first, it
    /// fails with the entry's key. The caller then reads the entry and searches again.
    ///
    /// This method is synchronous, so a hit in memory doesn't cost an async frame.
    private func search(_ lookup: HTTPLookup, among read: ReadEntries) -> Result<SearchResult, Unread> {
        Result { () throws(Unread) in
            var serial: UInt64 = 0
            if lookup.isOwned {
                guard let record = try entry(CacheKeyBuilder.record(of: lookup.url), for: lookup, among: read) else {
                    return .nothing(.uriMiss)
                }
                serial = record.head.serial
            }
            guard let entry = try entry(lookup.key, for: lookup, among: read), entry.head.generation == serial else {
                return .nothing(.uriMiss)
            }
            switch entry.head.kind {
            case .timed: return .nothing(.uriMiss)
            case .http: return .found(StoredResponse(key: lookup.key, entry: entry))
            case .index:
                for names in entry.head.variants {
                    let key = lookup.variantKey(names)
                    // A variant with another generation belongs to an earlier index.
                    if let variant = try self.entry(key, for: lookup, among: read), variant.head.kind == .http,
                        variant.head.generation == entry.head.serial
                    {
                        return .found(StoredResponse(key: key, entry: variant))
                    }
                }
                return .nothing(.varyMiss)
            }
        }
    }

    private func entry(
        _ key: CacheKey, for lookup: HTTPLookup, among read: ReadEntries
    ) throws(Unread) -> CacheEntry? {
        if let known = read.entries.first(where: { $0.key == key }) { return known.entry }
        guard let store = lookup.store.immediate else { throw Unread(key: key) }
        return switch cache.writer.entryAtOnce(for: key, in: store) {
        case .entry(let entry): entry
        case .nothing: nil
        case .unknown: throw Unread(key: key)
        }
    }
}
