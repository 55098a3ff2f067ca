public import Errand

/// What one call wants of the cache, beside its request's policy.
///
/// ```swift
/// try await agent.send(GetFeed(), options: .cache(.reload))
/// ```
///
/// ``cacheOnly`` and ``onlyEvenStale`` never send: without a cache filter on the way of the request they throw
/// ``CacheMiss`` with the reason ``CacheMiss/Reason/notInstalled``. All other modes may send, and do so without a cache.
public struct CacheMode: Sendable {
    enum Kind: Sendable {
        case standard, reload, reloadFromOrigin, preferCache, cacheOnly, onlyEvenStale, staleIfError
        case staleWhileRevalidate, bypass, take
        case put(HTTPResponse)
    }

    let kind: Kind
    /// What became of it, for the functions of an agent that speak to the cache.
    var report: CacheReport?

    /// A valid response from the cache, otherwise the server's. The default.
    public static let standard = CacheMode(kind: .standard)

    /// The server's response, which is kept; Fetch calls it `no-cache`. What an HTTP cache has stored is validated, not
    /// fetched again, and `Cache-Control: max-age=0` has caches in between validate too, unless the request has a
    /// `Cache-Control` of its own. A fresh `immutable` response needs no validation (RFC 8246, section 2).
    public static let reload = CacheMode(kind: .reload)

    /// The server's response, fetched anew whatever is stored, and kept; Fetch calls it `reload`. Sends `Pragma: no-cache`
    /// and `Cache-Control: no-cache`, unless the request has them, and no validators. For what a user suspects is broken.
    public static let reloadFromOrigin = CacheMode(kind: .reloadFromOrigin)

    /// Whatever is stored, however old, otherwise the server's response; Fetch calls it `force-cache`.
    public static let preferCache = CacheMode(kind: .preferCache)

    /// A valid response from the cache, or ``CacheMiss``; nothing is sent. Fetch calls it `only-if-cached`.
    public static let cacheOnly = CacheMode(kind: .cacheOnly)

    /// Whatever is stored, however old, or ``CacheMiss``; nothing is sent. Version, partition and app version count.
    public static let onlyEvenStale = CacheMode(kind: .onlyEvenStale)

    /// As `standard`, but if the server cannot be reached or fails, whatever is stored, however old. The call's deadline is
    /// stronger: a call that it ends throws `deadlineExceeded`.
    public static let staleIfError = CacheMode(kind: .staleIfError)

    /// Whatever is stored, however old, and a fresh response fetched in the background for the next time. Without a stored
    /// one, the server's.
    public static let staleWhileRevalidate = CacheMode(kind: .staleWhileRevalidate)

    /// Neither reads nor writes.
    public static let bypass = CacheMode(kind: .bypass)
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
