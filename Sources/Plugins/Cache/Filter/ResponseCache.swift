public import Errand
import Synchronization

import ErrandEssentials

/// The filter that answers from a store and keeps answers in it.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.cache(.disk(at: directory))])
/// ```
///
/// Keep it in a constant to speak to it:
///
/// ```swift
/// let cache = ResponseCache(.disk(at: directory))
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [cache])
/// try await cache.remove(.partition(userID))                      // the user signed out
/// await cache.flush()                                         // everything is written
/// ```
///
/// One value for both stages: as a call filter it carries out the timed policy, once a call; as a hop filter HTTP's own,
/// on each request on the wire. Put it behind the filters that change the request, such as those that sign it, and before
/// those that retry. A store that fails is a miss and a note for logs, never the failure of a request. Several agents may
/// share it.
public final class ResponseCache: Filter {
    /// Both.
    public let stages: FilterStages = [.call, .hop]
    let standardStore: any CacheStore
    let standardPolicy: CachePolicy
    let appVersion: String?
    let time: any TimeSource
    let writer = CacheWriter()
    let keeper = SecretKeeper()
    /// One at a time changes the indexes of a URL.
    let places = SerialPlaces()
    let flights = Flights()
    private let revalidating = Mutex<Set<CacheWriter.Place>>([])

    /// - Parameters:
    ///   - store: where entries are, unless a request has a store of its own.
    ///   - policy: for requests that are not ``CacheableRequest``; `.off` by default.
    ///   - appVersion: timed entries of another version of the app are misses; the bundle's on Apple's platforms, none
    ///     on Linux, by default.
    ///   - time: says what has expired when ``remove(_:)`` is asked; requests go by their agent's.
    public init(
        _ store: some CacheStore, policy: CachePolicy = .off, appVersion: String? = ResponseCache.bundleVersion,
        time: some TimeSource = SystemTimeSource()
    ) {
        standardStore = store
        standardPolicy = policy
        self.appVersion = appVersion
        self.time = time
    }

    /// Answers from the store or keeps what `next` answers; throws what `next` throws, and ``CacheMiss`` for the modes
    /// that ask for the cache only.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let request = exchange.request as? any CacheableRequest
        let policy = request?.cachePolicy ?? standardPolicy
        let mode = exchange.tags[CacheModeTag.self].kind
        if case .bypass = mode { return try await next(exchange) }
        let isCall = exchange.stage == .call
        // A download has a cache of its own: the file (Y64).
        var isFile = false
        if case .file = exchange.delivery { isFile = true }
        if !policy.isOff, exchange.request.isForFile { isFile = true }
        if isCall, policy.isOff || isFile {
            guard mode.mustNotSend else { return try await next(exchange) }
            let miss = CacheMiss(.off)
            exchange.tags[CacheModeTag.self].report?.missed(miss)
            throw miss
        }
        if !isCall, policy.http == nil || isFile, exchange.http.method.isSafe {
            return try await next(mode.applied(to: exchange))
        }
        let stage = CacheStage(
            cache: self, exchange: exchange, next: next, policy: policy, mode: mode, request: request,
            store: request?.cacheStore ?? standardStore)
        if isCall {
            guard let timed = policy.timed else { return try await next(exchange) }
            return try await stage.timed(timed)
        }
        return try await stage.http(isFile ? nil : policy.http)
    }

    /// Waits until every answer that came before is written. A stream that its reader has not finished is not waited for.
    public func flush() async { await writer.flush() }

    /// Whether this is the first to revalidate a key; call ``endRevalidation(_:)`` then.
    func beginRevalidation(_ place: CacheWriter.Place) -> Bool { revalidating.withLock { $0.insert(place).inserted } }
    func endRevalidation(_ place: CacheWriter.Place) { revalidating.withLock { _ = $0.remove(place) } }

    /// The short version of the main bundle on Apple's platforms; nil elsewhere.
    public static var bundleVersion: String? { programVersion() }
}

extension Request {
    /// Whether the output is the place of a file, whoever writes it.
    fileprivate var isForFile: Bool { Output.self == URL.self }
}

extension Filter where Self == ResponseCache {
    /// Answers from a store and keeps answers in it; see ``ResponseCache``.
    public static func cache(_ store: some CacheStore, policy: CachePolicy = .off) -> ResponseCache {
        ResponseCache(store, policy: policy)
    }
}

/// The secret of each store, asked for once.
final class SecretKeeper: Sendable {
    private let hashers = Mutex<[ObjectIdentifier: (store: any CacheStore, hasher: KeyText.Hasher)]>([:])

    func hasher(of store: any CacheStore) async throws -> KeyText.Hasher {
        let id = ObjectIdentifier(store)
        if let known = hashers.withLock({ $0[id]?.hasher }) { return known }
        let hasher = KeyText.Hasher(secret: Array(try await store.secret()))
        hashers.withLock { hashers in
            // Requests that make a store each time must not make this grow.
            if hashers.count >= 64 { hashers.removeAll() }
            hashers[id] = (store, hasher)
        }
        return hasher
    }
}
