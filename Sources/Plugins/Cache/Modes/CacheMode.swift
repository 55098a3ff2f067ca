public import Errand
import Synchronization

/// How one call uses the cache, in addition to the policy of its request.
///
/// ```swift
/// try await agent.send(GetFeed(), options: .cache(.reload))
/// ```
///
/// ``cacheOnly`` and ``cacheOnlyIncludingStale`` never send: if the request passes no cache filter they throw
/// ``CacheMiss`` with the reason ``CacheMiss/Reason/notInstalled``. All other modes may send, and do so without a
/// cache.
public struct CacheMode: Sendable {
    enum Kind: Sendable {
        case standard, reload, reloadFromOrigin, preferCache, cacheOnly, cacheOnlyIncludingStale, staleIfError
        case staleWhileRevalidate, off, remove
        case store(HTTPResponse)
    }

    let kind: Kind
    /// Receives the result, for the methods of an agent that address the cache.
    var report: CacheReport?

    /// A miss to be thrown, which the report of the call has.
    func miss(_ reason: CacheMiss.Reason) -> CacheMiss {
        let miss = CacheMiss(reason)
        return report?.recorded(miss) ?? miss
    }

    /// A valid response from the cache, otherwise the server's response. The default.
    public static let standard = CacheMode(kind: .standard)

    /// The server's response, which is stored; `no-cache` in the Fetch standard. A stored HTTP response is validated
    /// rather than fetched again, and `Cache-Control: max-age=0` makes intermediate caches validate too, unless the
    /// request has a `Cache-Control` of its own. A fresh `immutable` response needs no validation (RFC 8246, section
    /// 2).
    public static let reload = CacheMode(kind: .reload)

    /// The server's response, fetched in full and stored; `reload` in the Fetch standard. Sends `Pragma: no-cache` and
    /// `Cache-Control: no-cache`, unless the request has them, and no validators. For a user who suspects that the
    /// stored response is broken.
    public static let reloadFromOrigin = CacheMode(kind: .reloadFromOrigin)

    /// The stored response, however old, otherwise the server's response; `force-cache` in the Fetch standard.
    public static let preferCache = CacheMode(kind: .preferCache)

    /// A valid response from the cache, otherwise ``CacheMiss``; nothing is sent. `only-if-cached` in the Fetch
    /// standard.
    public static let cacheOnly = CacheMode(kind: .cacheOnly)

    /// The stored response, however old, otherwise ``CacheMiss``; nothing is sent. Version, partition and app version
    /// still have to match.
    public static let cacheOnlyIncludingStale = CacheMode(kind: .cacheOnlyIncludingStale)

    /// As `standard`, but the stored response, however old, if the server cannot be reached or fails. The deadline of
    /// the call takes precedence: when it passes, the call throws `deadlineExceeded`.
    public static let staleIfError = CacheMode(kind: .staleIfError)

    /// The stored response, however old, while a fresh one is fetched in the background for later calls. If nothing is
    /// stored, the server's response.
    public static let staleWhileRevalidate = CacheMode(kind: .staleWhileRevalidate)

    /// Neither reads from the cache nor writes to it.
    public static let off = CacheMode(kind: .off)
}

/// Modes are equal if they treat a call in the same way.
extension CacheMode: Equatable {
    /// Whether both are the same mode.
    public static func == (a: CacheMode, b: CacheMode) -> Bool {
        guard a.report === b.report else { return false }
        return switch (a.kind, b.kind) {
        case (.standard, .standard), (.reload, .reload), (.reloadFromOrigin, .reloadFromOrigin),
            (.preferCache, .preferCache), (.cacheOnly, .cacheOnly), (.staleIfError, .staleIfError),
            (.cacheOnlyIncludingStale, .cacheOnlyIncludingStale), (.off, .off), (.remove, .remove),
            (.staleWhileRevalidate, .staleWhileRevalidate):
            true
        // Each has a report of its own.
        case (.store, .store): a.report != nil
        default: false
        }
    }
}

/// The tag of the mode of a call.
extension CacheMode: TagKey {
    /// `.standard`
    public static var defaultValue: CacheMode { .standard }
    /// True.
    public static var affectsResponse: Bool { true }
}

extension CallOptions {
    /// Options with a cache mode and nothing else.
    public static func cache(_ mode: CacheMode) -> CallOptions { CallOptions().cache(mode) }

    /// The same options with a cache mode.
    public func cache(_ mode: CacheMode) -> CallOptions {
        var options = self
        options.tags[CacheMode.self] = mode
        return options
    }
}

/// The result of the cache for a call. The caller reads it here, since the agent's error mapping may replace a
/// ``CacheMiss``.
final class CacheReport: Sendable {
    private let state = Mutex(State())
    /// The reasons that the caller gets as a failure; any other one says that nothing is stored.
    private let failures: Set<CacheMiss.Reason>?

    private struct State {
        var miss: CacheMiss?
        var isCompleted = false
        var failure: (any Error)?
    }

    /// The reason why no stored response was served.
    var miss: CacheMiss? { state.withLock { $0.miss } }
    /// Whether a cache carried out the removal or the storing.
    var isCompleted: Bool { state.withLock { $0.isCompleted } }
    /// The error of the store, if it failed.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// The miss that caused an error, which the agent may have mapped; nil for other failures.
    func miss(behind error: any Error) -> CacheMiss? {
        if error is CancellationError || (error as? ErrandError)?.isCancelled == true { return nil }
        return miss ?? error as? CacheMiss
    }

    /// - Parameter failures: the misses that are failures of the call; nil stands for all.
    init(failures: Set<CacheMiss.Reason>? = nil) { self.failures = failures }

    /// Records a miss, and returns it to be thrown.
    func recorded(_ miss: CacheMiss) -> CacheMiss {
        var miss = miss
        miss.isExpected = failures?.contains(miss.reason) == false
        state.withLock { $0.miss = miss }
        return miss
    }

    func complete(_ failure: (any Error)? = nil) {
        state.withLock { state in
            state.isCompleted = true
            state.failure = state.failure ?? failure
        }
    }
}
