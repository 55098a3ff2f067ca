public import Errand

/// What one call wants of the cache, beside its request's policy.
///
/// ```swift
/// try await agent.send(GetFeed(), options: .cache(.reload))
/// ```
public struct CacheMode: Sendable {
    enum Kind: Sendable {
        case standard, reload, only, onlyEvenStale, staleIfFails, staleThenRefresh, bypass, take
        case put(HTTPResponse)
    }

    let kind: Kind

    /// A valid answer from the cache, otherwise the server's. The default.
    public static let standard = CacheMode(kind: .standard)
    /// The server's answer, which is kept (Y73). What an HTTP cache has is validated, not fetched again.
    public static let reload = CacheMode(kind: .reload)
    /// A valid answer from the cache, or ``CacheMiss``; nothing is sent.
    public static let only = CacheMode(kind: .only)
    /// Whatever is stored, however old, or ``CacheMiss``; nothing is sent. Version, partition and app version count.
    public static let onlyEvenStale = CacheMode(kind: .onlyEvenStale)
    /// As `standard`, but if the server cannot be reached or fails, whatever is stored, however old.
    public static let staleIfFails = CacheMode(kind: .staleIfFails)
    /// Whatever is stored, however old, and a fresh answer fetched in the background for the next time (S10). Without a
    /// stored one as `standard`.
    public static let staleThenRefresh = CacheMode(kind: .staleThenRefresh)
    /// Neither reads nor writes.
    public static let bypass = CacheMode(kind: .bypass)

    /// Takes the entry out of the cache and answers with it.
    static let take = CacheMode(kind: .take)
    /// Answers with this as if the server had, and keeps it.
    static func put(_ response: HTTPResponse) -> CacheMode { CacheMode(kind: .put(response)) }
}

/// The tag that carries the mode of a call.
public enum CacheModeTag: TagKey {
    /// `.standard`
    public static var defaultValue: CacheMode { .standard }
}

extension CallOptions {
    /// Options with a mode and nothing else.
    public static func cache(_ mode: CacheMode) -> CallOptions { CallOptions().cache(mode) }

    /// The same options with a mode.
    public func cache(_ mode: CacheMode) -> CallOptions {
        var options = self
        options.tags[CacheModeTag.self] = mode
        return options
    }
}
