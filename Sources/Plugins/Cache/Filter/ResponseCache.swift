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
    var standardStore: any CacheStore { standardTerms.store }
    private var standardPolicy: CachePolicy { standardTerms.policy }
    let appVersion: String?
    let time: any TimeSource
    let writer = CacheWriter()
    let stores = OpenStores()
    /// The terms of requests without a policy of their own.
    private let standardTerms: CacheTerms
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
        standardTerms = CacheTerms(policy, store)
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
    @inline(__always) public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        try await step(of: exchange, next).response(next)
    }

    // Not async: what is decided here needs no room in a frame.
    @inline(never) private func step(of exchange: Exchange, _ next: Next) throws -> CacheStep {
        let mode = exchange.tags[CacheMode.self].kind
        if case .off = mode { return .pass(exchange) }
        let request = exchange.request
        let terms = terms(of: request)
        if exchange.stage == .call {
            // Requests on the wire see to the other policy.
            if !terms.isTimed, !mode.mustNotSend { return .pass(exchange) }
            guard terms.isTimed || terms.isHTTP, mayBeStored(exchange, request) else {
                if !mode.mustNotSend { return .pass(exchange) }
                let miss = CacheMiss(.off)
                exchange.tags[CacheMode.self].report?.recordMiss(miss)
                throw miss
            }
            guard let timed = terms.policy.timed else { return .pass(exchange) }
            return .timed(CacheHandler(self, exchange, next, terms, mode), timed)
        }
        let isStored = terms.isHTTP && mayBeStored(exchange, request)
        if !isStored, exchange.http.method.isSafe { return .pass(mode.applied(to: exchange)) }
        return try CacheHandler(self, exchange, next, terms, mode).begin(isStored ? terms.policy.http : nil)
    }

    private func terms(of request: any Request) -> CacheTerms {
        // Whether the type conforms is known in a fraction of the time that a failed cast of the value takes.
        guard type(of: request) is any CacheableRequest.Type, let request = request as? any CacheableRequest else {
            return standardTerms
        }
        return CacheTerms(request.cachePolicy, request.cacheStore ?? standardStore, request)
    }

    /// A download is stored in its own file, and a stream without an end is not stored.
    private func mayBeStored(_ exchange: Exchange, _ request: any Request) -> Bool {
        if case .file = exchange.delivery { return false }
        return !exchange.tags[LiveStream.self] && !request.isForFile
    }

    /// Waits until every response received before is written, except for streams that their readers have not finished.
    public func flush() async { await writer.flush() }

    /// Begins the only background validation of a key; nil if one is running.
    func beginRevalidation(_ location: CacheWriter.Location) -> RevalidationTurn? {
        let isFirst = revalidating.withLock { $0.insert(location).inserted }
        return isFirst ? RevalidationTurn { self.endRevalidation(location) } : nil
    }
    private func endRevalidation(_ location: CacheWriter.Location) { revalidating.withLock { _ = $0.remove(location) } }

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
