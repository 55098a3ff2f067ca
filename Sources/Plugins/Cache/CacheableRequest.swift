public import Errand

/// A request whose responses may be cached.
///
/// ```swift
/// struct GetFeed: CacheableRequest {
///     typealias Output = Feed
///     let userID: String
///     var path: String { "feed" }
///     var cachePolicy: CachePolicy { .timed(.seconds(180), version: 3, partition: userID) }
/// }
/// ```
///
/// The agent, or the request, needs the filter `.cache(…)`. A request whose response is delivered into a file is
/// neither served from a cache nor stored.
public protocol CacheableRequest: OwnedRequest, FilterExpectingRequest {
    /// The rules by which responses are stored, and for how long.
    var cachePolicy: CachePolicy { get }
    /// The rule that decides which requests share an entry; `.standard` by default.
    var cacheKey: CacheKeyRule { get }
    /// Tags by which entries can be removed together; none by default.
    var cacheTags: [String] { get }
    /// A store for this request, such as one in another directory; nil, the default, for the filter's. Return the same
    /// store each time.
    var cacheStore: (any CacheStore)? { get }
}

extension CacheableRequest {
    /// The partitions of the policy, so that requests of different ones share nothing.
    public var owners: Set<UserMark> {
        let policy = cachePolicy
        return Set(
            [policy.timed?.partition, policy.http?.partition].compactMap { partition in
                partition.map { UserMark($0, source: "partition") }
            })
    }
    /// The policy has no effect where there is no cache.
    public func problems(with filters: [any Filter]) -> [String] {
        if cachePolicy.isOff || filters.contains(where: { $0 is ResponseCache }) { return [] }
        return ["the cache policy (\(cachePolicy.summary)) has no effect: no .cache(…) is among the filters"]
    }
    /// `.standard`
    public var cacheKey: CacheKeyRule { .standard }
    /// None.
    public var cacheTags: [String] { [] }
    /// Nil: the filter's store.
    public var cacheStore: (any CacheStore)? { nil }
}
