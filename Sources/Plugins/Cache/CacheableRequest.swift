public import Errand

/// A request whose answers may be kept.
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
/// Nothing is kept unless the agent, or the request, has the filter `.cache(…)`. A request whose body goes into a file is
/// never answered from a cache, nor kept.
public protocol CacheableRequest: Request {
    /// How long and by whose rules.
    var cachePolicy: CachePolicy { get }
    /// What makes two requests the same; `.standard` by default.
    var cacheKey: CacheKeyRule { get }
    /// Names by which entries can be removed together; none by default.
    var cacheTags: [String] { get }
    /// A store of this request's own, such as one in another directory; the filter's by default (nil). Return the same
    /// store each time.
    var cacheStore: (any CacheStore)? { get }
}

extension CacheableRequest {
    public var cacheKey: CacheKeyRule { .standard }
    public var cacheTags: [String] { [] }
    public var cacheStore: (any CacheStore)? { nil }
}
