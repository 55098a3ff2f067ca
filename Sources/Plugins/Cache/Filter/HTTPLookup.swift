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
        let hasher: KeyedHasher
        /// The users whose responses these are.
        let users: Set<UserMark>
        /// Whether a partition or users own the responses.
        let isOwned: Bool
        let url: String
        let directives: CacheDirectives
        let preferences: HTTPCacheRules.CallPreferences
        let mark: CacheWriter.Mark
        /// Whether a partition names the owner of the responses.
        let hasPartition: Bool

        init(
            _ url: String, users: Set<UserMark>, partition: String?, _ directives: CacheDirectives,
            _ preferences: HTTPCacheRules.CallPreferences, _ hasher: KeyedHasher, _ mark: CacheWriter.Mark
        ) {
            key = CacheKeyBuilder.http(url, users: users, partition: partition, hasher)
            (isOwned, hasPartition) = (partition != nil || !users.isEmpty, partition != nil)
            (self.url, self.users, self.directives, self.preferences) = (url, users, directives, preferences)
            (self.hasher, self.mark) = (hasher, mark)
        }

        /// Whether the response to requests of these users may be stored; nil where nothing was sent.
        func mayKeep(_ sent: Set<UserMark>?) -> Bool {
            sent.map { $0.isStorable(for: users, hasPartition: hasPartition) } ?? true
        }
    }
}
