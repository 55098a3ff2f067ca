public import Errand
import ErrandCollections
import ErrandEssentials
import ErrandSupport
import Synchronization

/// A filter that serves stored responses and stores new ones.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.cache(.disk(at: directory))])
/// ```
///
/// Keep the cache in a constant to remove or flush entries:
///
/// ```swift
/// let cache = ResponseCache(.disk(at: directory))
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [cache])
/// try await cache.remove(.partition(userID))                      // the user signed out
/// await cache.flush()                                             // everything is written
/// ```
///
/// The filter runs once per call for timed policies, and once per request on the wire for HTTP policies. Put it after
/// filters that retry, change or sign the request, so the cache key includes the changes that these filters make.
/// Several agents can share a cache.
///
/// If the store fails, the filter notes the error and sends the request.
public final class ResponseCache: Filter {
    /// Both stages: the call stage for timed policies, and the hop stage for HTTP policies.
    public let stages: FilterStages = [.call, .hop]
    /// The trait ``FilterTraits/caches``, and ``FilterTraits/separatesUsers`` if the default policy has a partition.
    public let traits: FilterTraits
    /// Returns the traits for the policy of a ``CacheableRequest``. A timed policy adds ``FilterTraits/cachesCalls``.
    public func traits(for request: any Request) -> FilterTraits {
        guard let policy = (request as? any CacheableRequest)?.cachePolicy ?? defaultTimedPolicy, !policy.isOff else {
            return traits
        }
        var traits: FilterTraits = policy.separatesUsers ? [.caches, .separatesUsers] : .caches
        if policy.timed != nil { traits.insert(.cachesCalls) }
        return traits
    }
    private var defaultTimedPolicy: CachePolicy? { standardPolicy.timed == nil ? nil : standardPolicy }
    /// The store's type and the default policy.
    public var explanation: String { standardTerms.explanation }
    /// The filter's line in the agent's `explain`: the type of the request's store, and the request's policy.
    public func explanation(for request: any Request) -> String { terms(of: request).explanation }
    var standardStore: any CacheStore { standardTerms.store }
    private var standardPolicy: CachePolicy { standardTerms.policy }
    let appVersion: String?
    let time: any TimeSource
    let writer = CacheWriter()
    let stores = OpenStores()
    private let standardTerms: CacheTerms
    /// The last request type without its own policy.
    private let plain = PlainType()
    let indexAccess = SerialAccess()
    let sharedValidations = SharedValidations()
    private let revalidating = Mutex<Set<CacheWriter.Location>>([])

    /// Creates a cache with a store.
    ///
    /// - Parameters:
    ///   - store: The store for requests that don't have their own.
    ///   - policy: The policy for requests that don't conform to ``CacheableRequest``. Defaults to `.off`.
    ///   - appVersion: The version of the app. A timed entry that another version stored is a miss. Defaults to the
    ///     bundle's version on Apple platforms, and to nil elsewhere.
    ///   - time: The clock that ``remove(_:)`` uses to find expired entries. Requests use their agent's clock.
    public init(
        _ store: some CacheStore, policy: CachePolicy = .off, appVersion: String? = ResponseCache.bundleVersion,
        time: some TimeSource = SystemTimeSource()
    ) {
        standardTerms = CacheTerms(policy, store: store)
        traits = policy.separatesUsers ? [.caches, .separatesUsers] : .caches
        self.appVersion = appVersion
        self.time = time
    }

    /// Reports a problem if an outer filter is also a cache.
    public func orderProblem(after outer: any Filter) -> String? {
        outer is ResponseCache
            ? "both filters store each response; for two levels, use one cache with a two-level store" : nil
    }

    /// Serves the stored response, or sends the request and stores its response. Throws ``CacheMiss`` if the mode
    /// forbids sending the request.
    @inline(__always) public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        switch try plan(exchange, next) {
        case .pass(let exchange): return try await next(exchange)
        case .timed(let handler): return try await handler.respondTimed()
        case .http(let handler, let isStorable): return try await handler.respond(storing: isStorable)
        }
    }

    private enum Plan {
        case pass(Exchange)
        case timed(CacheHandler)
        case http(CacheHandler, isStorable: Bool)
    }

    /// Decides how to handle an exchange. Not async, because its variables would enlarge an async frame that lives as
    /// long as the request.
    @inline(never) private func plan(_ exchange: Exchange, _ next: Next) throws -> Plan {
        let mode = exchange.tags[CacheMode.self].kind
        if case .off = mode { return .pass(exchange) }
        let terms = terms(of: exchange.request)
        // A policy without a timed part applies only to requests on the wire.
        if exchange.stage == .call, terms.policy.timed == nil, !mode.mustNotSend { return .pass(exchange) }
        let isStorable = !terms.policy.isOff && isStorable(exchange)
        if exchange.stage == .call {
            if mode.mustNotSend, !isStorable { throw exchange.tags[CacheMode.self].miss(.off) }
            guard isStorable, terms.policy.timed != nil else { return .pass(exchange) }
            return .timed(CacheHandler(self, exchange: exchange, next: next, terms: terms, mode: mode))
        }
        let hasPolicy = isStorable && terms.policy.http != nil
        if !hasPolicy, exchange.http.method.isSafe { return .pass(mode.applied(to: exchange)) }
        return .http(
            CacheHandler(self, exchange: exchange, next: next, terms: terms, mode: mode), isStorable: hasPolicy)
    }

    private func terms(of request: any Request) -> CacheTerms {
        let type = type(of: request)
        if plain.excludes(type, unless: { type is any CacheableRequest.Type }) { return standardTerms }
        guard let request = request as? any CacheableRequest else { return standardTerms }
        return CacheTerms(request.cachePolicy, store: request.cacheStore ?? standardStore, request: request)
    }

    private func isStorable(_ exchange: Exchange) -> Bool {
        if case .file = exchange.delivery { return false }
        return !exchange.tags[LiveStream.self] && !exchange.request.isForFile
    }

    /// Waits until all responses received so far are written, except streams that are still being read.
    public func flush() async { await writer.flush() }

    /// Begins a background validation. Returns nil if a validation of the key is already running.
    func beginRevalidation(_ location: CacheWriter.Location) -> RevalidationTurn? {
        let isFirst = revalidating.withLock { $0.insert(location).inserted }
        return isFirst ? RevalidationTurn { self.endRevalidation(location) } : nil
    }
    private func endRevalidation(_ location: CacheWriter.Location) { revalidating.withLock { _ = $0.remove(location) } }

    /// The app's version from its bundle on Apple platforms, or nil elsewhere.
    public static var bundleVersion: String? { programVersion() }
}

extension Request {
    fileprivate var isForFile: Bool { Output.self == URL.self }
}

extension Filter where Self == ResponseCache {
    /// Creates a ``ResponseCache``: `filters: [.cache(.memory())]`.
    public static func cache(_ store: some CacheStore, policy: CachePolicy = .off) -> ResponseCache {
        ResponseCache(store, policy: policy)
    }
}

/// Serializes changes to an entry that concurrent responses read and rewrite, such as a URL's index.
final class SerialAccess: Sendable {
    private let waiting = Mutex<[CacheWriter.Location: FIFOQueue<CheckedContinuation<Void, Never>>]>([:])

    func run<Value: Sendable>(_ location: CacheWriter.Location, _ body: () async -> Value) async -> Value {
        await enter(location)
        defer { leave(location) }
        return await body()
    }

    private func enter(_ location: CacheWriter.Location) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                if waiting[location] == nil {
                    waiting[location] = FIFOQueue()
                    return true
                }
                waiting[location]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ location: CacheWriter.Location) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            if let next = waiting[location]?.popFirst() { return next }
            waiting[location] = nil
            return nil
        }
        next?.resume()
    }
}
