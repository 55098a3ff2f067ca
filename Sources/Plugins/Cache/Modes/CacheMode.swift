public import Errand
import Synchronization

/// How a call uses the cache, in addition to its request's policy.
///
/// ```swift
/// try await agent.send(GetFeed(), options: .cache(.reload))
/// ```
///
/// ``cacheOnly`` and ``cacheOnlyIncludingStale`` never send a request. Without a cache filter, these two modes throw
/// ``CacheMiss`` with ``CacheMiss/Reason/notInstalled``, and all other modes send the request.
public struct CacheMode: Sendable {
    enum Kind: Sendable {
        case standard, reload, reloadFromOrigin, preferCache, cacheOnly, cacheOnlyIncludingStale, staleIfError
        case staleWhileRevalidate, off, remove
        case store(HTTPResponse)
    }

    let kind: Kind
    /// Receives the cache's result, for the methods of `Agent` that access the cache.
    var report: CacheReport?

    func miss(_ reason: CacheMiss.Reason) -> CacheMiss {
        let miss = CacheMiss(reason)
        return report?.recorded(miss) ?? miss
    }

    /// Uses a valid stored response, or else the server's response. The default.
    public static let standard = CacheMode(kind: .standard)

    /// Uses the server's response and stores it. Corresponds to `no-cache` in the Fetch standard.
    ///
    /// A stored HTTP response is validated, unless it's fresh and `immutable` (RFC 8246, section 2). The request
    /// includes `Cache-Control: max-age=0`, unless it has its own `Cache-Control`, so intermediate caches validate
    /// their responses too.
    public static let reload = CacheMode(kind: .reload)

    /// Fetches the server's response in full and stores it. Corresponds to `reload` in the Fetch standard.
    ///
    /// Use it if the stored response may be broken. The request has no validators. It includes `Pragma: no-cache` and
    /// `Cache-Control: no-cache`, unless it has its own fields.
    public static let reloadFromOrigin = CacheMode(kind: .reloadFromOrigin)

    /// Uses the stored response, whatever its age, or else the server's response. Corresponds to `force-cache` in the
    /// Fetch standard.
    public static let preferCache = CacheMode(kind: .preferCache)

    /// Uses a valid stored response, or else throws ``CacheMiss``. Never sends a request. Corresponds to
    /// `only-if-cached` in the Fetch standard.
    public static let cacheOnly = CacheMode(kind: .cacheOnly)

    /// Uses the stored response, whatever its age, or else throws ``CacheMiss``. Never sends a request. The version,
    /// partition and app version must still match.
    public static let cacheOnlyIncludingStale = CacheMode(kind: .cacheOnlyIncludingStale)

    /// Like `standard`, but uses the stored response, whatever its age, if the server fails or can't be reached. The
    /// call still throws `deadlineExceeded` when its deadline passes.
    public static let staleIfError = CacheMode(kind: .staleIfError)

    /// Uses the stored response, whatever its age, and fetches a fresh response in the background for later calls.
    /// Without a stored response, uses the server's response.
    public static let staleWhileRevalidate = CacheMode(kind: .staleWhileRevalidate)

    /// Neither reads nor writes the cache.
    public static let off = CacheMode(kind: .off)
}

extension CacheMode: Equatable {
    /// Returns whether two modes are equal.
    public static func == (a: CacheMode, b: CacheMode) -> Bool {
        guard a.report === b.report else { return false }
        return switch (a.kind, b.kind) {
        case (.standard, .standard), (.reload, .reload), (.reloadFromOrigin, .reloadFromOrigin),
            (.preferCache, .preferCache), (.cacheOnly, .cacheOnly), (.staleIfError, .staleIfError),
            (.cacheOnlyIncludingStale, .cacheOnlyIncludingStale), (.off, .off), (.remove, .remove),
            (.staleWhileRevalidate, .staleWhileRevalidate):
            true
        case (.store, .store): a.report != nil
        default: false
        }
    }
}

extension CacheMode: TagKey {
    /// The mode of calls without this tag is `.standard`.
    public static var defaultValue: CacheMode { .standard }
    /// Returns true, because the mode can change the response, so calls with different modes don't share one.
    public static var affectsResponse: Bool { true }
}

extension CallOptions {
    /// Creates options with a cache mode: `options: .cache(.reload)`.
    public static func cache(_ mode: CacheMode) -> CallOptions { CallOptions().cache(mode) }

    /// Returns a copy of these options with a cache mode.
    public func cache(_ mode: CacheMode) -> CallOptions {
        var options = self
        options.tags[CacheMode.self] = mode
        return options
    }
}

/// Passes the cache's result to the caller, because the agent may map a ``CacheMiss`` to another error.
final class CacheReport: Sendable {
    private let state = Mutex(State())
    /// The reasons for which the caller gets the miss as an error, or nil for every reason. For other reasons, the
    /// caller is told that no response is stored.
    private let failures: Set<CacheMiss.Reason>?

    private struct State {
        var miss: CacheMiss?
        var isCompleted = false
        var failure: (any Error)?
    }

    var miss: CacheMiss? { state.withLock { $0.miss } }
    var isCompleted: Bool { state.withLock { $0.isCompleted } }
    var failure: (any Error)? { state.withLock { $0.failure } }

    func miss(behind error: any Error) -> CacheMiss? {
        if error is CancellationError || (error as? ErrandError)?.isCancelled == true { return nil }
        return miss ?? error as? CacheMiss
    }

    init(failures: Set<CacheMiss.Reason>? = nil) { self.failures = failures }

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

extension CacheMode.Kind {
    var mustNotSend: Bool {
        switch self {
        case .cacheOnly, .cacheOnlyIncludingStale, .remove, .store: true
        case .standard, .reload, .reloadFromOrigin, .preferCache, .staleIfError, .staleWhileRevalidate, .off: false
        }
    }

    var usesValidators: Bool {
        if case .reloadFromOrigin = self { false } else { true }
    }

    var reloads: Bool {
        switch self {
        case .reload, .reloadFromOrigin: true
        default: false
        }
    }

    var acceptsExpired: Bool {
        switch self {
        case .cacheOnlyIncludingStale, .preferCache, .staleWhileRevalidate, .remove: true
        default: false
        }
    }

    var refreshes: Bool {
        if case .staleWhileRevalidate = self { true } else { false }
    }

    /// Returns an exchange with the Fetch standard's directives for intermediate caches.
    func applied(to exchange: Exchange) -> Exchange {
        let fields: HTTPHeaders
        switch self {
        case .reload: fields = ["Cache-Control": "max-age=0"]
        case .reloadFromOrigin: fields = ["Pragma": "no-cache", "Cache-Control": "no-cache"]
        default: return exchange
        }
        guard exchange.stage == .hop, exchange.http.method == .get || exchange.http.method == .head else {
            return exchange
        }
        var exchange = exchange
        for field in fields where !exchange.http.headers.contains(field.name) {
            exchange.http.headers.add(field.name, field.value)
        }
        return exchange
    }
}

extension CacheMode: FilterProvidingTag {
    /// Installs a filter that throws if the mode forbids sending requests.
    public var requiredFilters: [any Filter] { kind.mustNotSend ? [CacheGuard()] : [] }
}

/// Runs between all caches and the transport, for calls that a cache should have answered.
struct CacheGuard: Filter {
    var stages: FilterStages { .hop }
    var explanation: String { "rejects requests that need a cached response" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let mode = exchange.tags[CacheMode.self]
        guard mode.kind.mustNotSend else { return try await next(exchange) }
        throw mode.miss(.notInstalled)
    }
}
