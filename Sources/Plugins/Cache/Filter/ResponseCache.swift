public import Errand
import ErrandEssentials
import Synchronization

/// The filter that serves responses from a store and stores responses in it.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.cache(.disk(at: directory))])
/// ```
///
/// Keep it in a constant to address it:
///
/// ```swift
/// let cache = ResponseCache(.disk(at: directory))
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [cache])
/// try await cache.remove(.partition(userID))                      // the user signed out
/// await cache.flush()                                             // everything is written
/// ```
///
/// One value for the call and the hop stage: as a call filter it applies the timed policy, once for each call; as a hop
/// filter it applies the HTTP policy to each request on the wire. Put it after the filters that retry and after those
/// that change or sign the request, so that its key contains what they change. A failure of the store is a miss and a
/// note for logs, never the failure of a request. Several agents may share one cache.
public final class ResponseCache: Filter {
    /// Both stages.
    public let stages: FilterStages = [.call, .hop]
    /// ``FilterTraits/caches``; with a partition in the default policy also ``FilterTraits/separatesUsers``.
    public let traits: FilterTraits
    /// The traits for the policy of a ``CacheableRequest``; a timed one adds ``FilterTraits/cachesCalls``.
    public func traits(for request: any Request) -> FilterTraits {
        guard let policy = (request as? any CacheableRequest)?.cachePolicy ?? defaultTimedPolicy, !policy.isOff else {
            return traits
        }
        var traits: FilterTraits = policy.separatesUsers ? [.caches, .separatesUsers] : .caches
        if policy.timed != nil { traits.insert(.cachesCalls) }
        return traits
    }
    private var defaultTimedPolicy: CachePolicy? { standardPolicy.timed == nil ? nil : standardPolicy }
    /// `cache in MemoryStore, timed and HTTP by each request's policy, default policy off`
    public let explanation: String
    let standardStore: any CacheStore
    let standardPolicy: CachePolicy
    let appVersion: String?
    let time: any TimeSource
    let writer = CacheWriter()
    let hashers = StoreHashers()
    /// Serializes changes of the index of a URL.
    let indexAccess = SerialAccess()
    let sharedValidations = SharedValidations()
    private let revalidating = Mutex<Set<CacheWriter.Location>>([])

    /// Makes a cache with a store.
    ///
    /// - Parameters:
    ///   - store: where entries are stored, unless a request has a store of its own.
    ///   - policy: for requests that do not conform to ``CacheableRequest``; `.off` by default.
    ///   - appVersion: timed entries of another version of the app are misses; by default the bundle's version on
    ///     Apple's platforms, none on Linux.
    ///   - time: determines the expired entries for ``remove(_:)``; requests use the time source of their agent.
    public init(
        _ store: some CacheStore, policy: CachePolicy = .off, appVersion: String? = ResponseCache.bundleVersion,
        time: some TimeSource = SystemTimeSource()
    ) {
        standardStore = store
        standardPolicy = policy
        traits = policy.separatesUsers ? [.caches, .separatesUsers] : .caches
        explanation =
            "cache in \(type(of: store)), timed and HTTP by each request's policy, default policy \(policy.summary)"
        self.appVersion = appVersion
        self.time = time
    }

    /// Another cache around it is misplaced.
    public func orderProblem(after outer: any Filter) -> String? {
        outer is ResponseCache ? "both store each response; a store of two levels needs one cache" : nil
    }

    /// Serves the stored response, or stores the response of `next`; throws the error of `next`, and ``CacheMiss`` for
    /// the modes that use the cache only.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        switch try way(of: exchange, next) {
        case .passed(let exchange): return try await next(exchange)
        case .handled(let handler):
            if exchange.stage == .call, let timed = handler.policy.timed { return try await handler.timed(timed) }
            return try await handler.http(mayBeStored(exchange, handler.policy) ? handler.policy.http : nil)
        }
    }

    private enum Way {
        /// Neither policy applies.
        case passed(Exchange)
        case handled(CacheHandler)
    }

    // Not async: what is decided here needs no room in a frame.
    private func way(of exchange: Exchange, _ next: Next) throws -> Way {
        // Whether the type conforms is known in a fraction of the time that a failed cast of the value takes.
        let isCacheable = type(of: exchange.request) is any CacheableRequest.Type
        let request = isCacheable ? exchange.request as? any CacheableRequest : nil
        let (policy, mode) = (request?.cachePolicy ?? standardPolicy, exchange.tags[CacheMode.self].kind)
        if case .off = mode { return .passed(exchange) }
        let isStored = mayBeStored(exchange, policy)
        if exchange.stage == .call, policy.isOff || !isStored {
            guard mode.mustNotSend else { return .passed(exchange) }
            let miss = CacheMiss(.off)
            exchange.tags[CacheMode.self].report?.recordMiss(miss)
            throw miss
        }
        if exchange.stage == .call, policy.timed == nil { return .passed(exchange) }
        if exchange.stage != .call, policy.http == nil || !isStored, exchange.http.method.isSafe {
            return .passed(mode.applied(to: exchange))
        }
        return .handled(
            CacheHandler(
                cache: self, exchange: exchange, next: next, policy: policy, mode: mode, request: request,
                store: request?.cacheStore ?? standardStore))
    }

    /// A download is stored in its own file, and a stream without an end is not stored.
    private func mayBeStored(_ exchange: Exchange, _ policy: CachePolicy) -> Bool {
        if case .file = exchange.delivery { return false }
        return !exchange.tags[LiveStream.self] && (policy.isOff || !exchange.request.isForFile)
    }

    /// Waits until every response received before is written, except for streams that their readers have not finished.
    public func flush() async { await writer.flush() }

    /// Begins the only background validation of a key; false if one is running. Call ``endRevalidation(_:)`` after it.
    func beginRevalidation(_ location: CacheWriter.Location) -> Bool {
        revalidating.withLock { $0.insert(location).inserted }
    }
    func endRevalidation(_ location: CacheWriter.Location) { revalidating.withLock { _ = $0.remove(location) } }

    /// The short version of the main bundle on Apple's platforms; nil elsewhere.
    public static var bundleVersion: String? { programVersion() }
}

extension Request {
    /// Whether the output is the URL of a file.
    fileprivate var isForFile: Bool { Output.self == URL.self }
}

extension Filter where Self == ResponseCache {
    /// Serves responses from a store and stores responses in it; see ``ResponseCache``.
    public static func cache(_ store: some CacheStore, policy: CachePolicy = .off) -> ResponseCache {
        ResponseCache(store, policy: policy)
    }
}
