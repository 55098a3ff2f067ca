public import Errand

/// A request whose responses can be cached.
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
/// Add the filter `.cache(…)` to the agent or the request. If a request saves its response to a file, the response
/// isn't cached.
public protocol CacheableRequest: OwnedRequest, FilterDependentRequest {
    /// Which responses are stored, and how long they're valid.
    var cachePolicy: CachePolicy { get }
    /// The rule that decides which requests share an entry of a timed policy. Defaults to `.standard`. HTTP policies
    /// don't use this rule, because they find responses by their URL and `Vary`.
    var cacheKey: CacheKeyPolicy { get }
    /// Tags for removing entries together. Defaults to no tags.
    var cacheTags: [String] { get }
    /// A separate store for this request, for example in another directory. Return the same object each time. Defaults
    /// to nil: the filter's store.
    var cacheStore: (any CacheStore)? { get }
}

extension CacheableRequest {
    /// The partition of ``cachePolicy``, as a ``ErrandHTTP/UserMark``. The cache keeps the responses of each partition
    /// apart. Empty if there's no partition.
    public var owners: Set<UserMark> {
        let policy = cachePolicy
        return Set(
            [policy.timed?.partition, policy.http?.partition].compactMap { partition in
                partition.map { UserMark($0, source: "partition") }
            })
    }
    /// Reports settings without effect: a policy without a cache filter, and a ``cacheKey`` without a timed policy.
    public func problems(with filters: [any Filter]) -> [String] {
        let policy = cachePolicy
        if policy.isOff { return [] }
        guard filters.contains(where: { $0 is ResponseCache }) else {
            return ["the cache policy (\(policy.summary)) has no effect, because there is no .cache(…) filter"]
        }
        guard policy.timed == nil, cacheKey != .standard else { return [] }
        return ["the cacheKey has no effect, because the policy (\(policy.summary)) finds responses by URL and Vary"]
    }
    /// The default implementation returns `.standard`.
    public var cacheKey: CacheKeyPolicy { .standard }
    /// The default implementation returns no tags.
    public var cacheTags: [String] { [] }
    /// The default implementation returns nil.
    public var cacheStore: (any CacheStore)? { nil }
}
