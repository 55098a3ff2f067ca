import Errand

extension CacheHandler {
    /// A stored response that matches a request on the wire.
    struct StoredResponse: Sendable {
        let key: CacheKey
        let entry: CacheEntry
    }

    /// The keys and directives of a request on the wire. An object, so that frames of async functions stay small.
    final class HTTPLookup: Sendable {
        let key: CacheKey
        let store: OpenStore
        /// The users whose responses these are.
        let users: Set<UserMark>
        /// Whether a partition or users own the responses.
        let isOwned: Bool
        let url: String
        let directives: CacheDirectives
        let preferences: HTTPCacheRules.CallPreferences
        /// The header fields of the request.
        let headers: HTTPHeaders
        /// Whether these have conditions or a range.
        let hasConditions: Bool
        /// Whether the method is HEAD, and not GET.
        let isHead: Bool
        let mark: CacheWriter.Mark
        /// Whether a partition names the owner of the responses.
        let hasPartition: Bool

        var hasher: KeyedHasher { store.hasher }

        init(
            _ exchange: Exchange, partition: String?, _ directives: CacheDirectives,
            _ preferences: HTTPCacheRules.CallPreferences, _ store: OpenStore, _ mark: CacheWriter.Mark
        ) {
            // The resource URL concerns the first hop only, not the target of a redirect.
            let resource = exchange.hop == 1 ? exchange.tags[ResourceURL.self] : nil
            let http = exchange.http
            (url, users) = (CacheKeyBuilder.url(resource, of: http), exchange.userMarks)
            key = CacheKeyBuilder.http(url, users: users, partition: partition, store.hasher)
            (isOwned, hasPartition) = (partition != nil || !users.isEmpty, partition != nil)
            (headers, isHead) = (http.headers, http.method == .head)
            hasConditions = HTTPConditions.areAny(in: headers)
            (self.directives, self.preferences, self.store, self.mark) = (directives, preferences, store, mark)
        }

        /// Whether the response to requests of these users may be stored; nil where nothing was sent.
        func mayKeep(_ sent: Set<UserMark>?) -> Bool {
            sent.map { $0.isStorable(for: users, hasPartition: hasPartition) } ?? true
        }
    }
}
