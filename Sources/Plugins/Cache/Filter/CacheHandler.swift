import Errand
import ErrandEssentials

/// Handles one exchange in the cache: its mode, and the access to the store that both policies need. An object: the
/// frame of each function that waits would contain the whole of a value.
final class CacheHandler: Sendable {
    let cache: ResponseCache
    let exchange: Exchange
    let next: Next
    let terms: CacheTerms
    let mode: CacheMode.Kind
    /// Collects the result of a validation for the requests that share it.
    let leader: SharedValidations.Leader?

    init(
        _ cache: ResponseCache, _ exchange: Exchange, _ next: Next, _ terms: CacheTerms, _ mode: CacheMode.Kind,
        leader: SharedValidations.Leader? = nil
    ) {
        (self.cache, self.exchange, self.next, self.terms) = (cache, exchange, next, terms)
        (self.mode, self.leader) = (mode, leader)
    }

    /// The handler of the request that validates for others.
    func leading(_ leader: SharedValidations.Leader) -> CacheHandler {
        CacheHandler(cache, exchange, next, terms, mode, leader: leader)
    }

    /// The handler of another exchange, with the same rules.
    func handling(_ exchange: Exchange, _ mode: CacheMode.Kind) -> CacheHandler {
        CacheHandler(cache, exchange, next, terms, mode)
    }

    var policy: CachePolicy { terms.policy }
    var store: any CacheStore { terms.store }
    var now: Date { exchange.time.date }

    /// Whether the mode only reads or removes, and never sends a request.
    var isCacheOnly: Bool {
        switch mode {
        case .cacheOnly, .cacheOnlyIncludingStale, .remove: true
        default: false
        }
    }

    /// Records a miss in the report of the call, and returns it to be thrown.
    func miss(_ reason: CacheMiss.Reason) -> CacheMiss {
        let miss = CacheMiss(reason)
        exchange.tags[CacheMode.self].report?.recordMiss(miss)
        return miss
    }

    /// Sends the request in the background, once at a time for each key.
    ///
    /// - Parameter work: gets the handler of the detached exchange, in `mode`.
    func inBackground(
        _ verb: String, _ key: CacheKey, _ mode: CacheMode.Kind,
        _ work: @escaping @Sendable (CacheHandler) async throws -> Void
    ) {
        let location = CacheWriter.Location(store, key)
        guard let turn = cache.beginRevalidation(location) else { return }
        exchange.detach("\(verb) \(exchange.activity.label)") { [self] exchange in
            defer { turn.end() }
            var exchange = exchange
            exchange.delivery = .data
            try await work(handling(exchange, mode))
        }
    }

    /// The store with its secret; nil, with a note, if the store fails to return that.
    func openStore() async -> OpenStore? {
        do { return try await cache.stores.open(store) } catch {
            note("the store returned no secret", error)
            return nil
        }
    }

    /// Reads an entry; a failure of the store is noted and counts as unreadable.
    func read(_ key: CacheKey) async -> Stored {
        do {
            return try await cache.writer.entry(for: key, in: store).map(Stored.entry) ?? .nothing
        } catch {
            note("an entry could not be read", error)
            return .unreadable
        }
    }

    enum Stored: Sendable {
        case entry(CacheEntry)
        case nothing
        case unreadable
    }

    /// Removes an entry that is no longer valid, including one in flight. Returns the error of a store that failed.
    @discardableResult
    func remove(_ key: CacheKey) async -> (any Error)? {
        do { try await cache.writer.remove(key, from: store) } catch {
            note("an entry could not be removed", error)
            return error
        }
        return nil
    }

    /// The body in the delivery of the exchange; nil where it has to be collected first.
    func bodyAtOnce(_ entry: CacheEntry) -> HTTPBody? {
        entry.body.data != nil || exchange.delivery != .data ? entry.body : nil
    }

    /// The body in the delivery of the exchange; nil if it is damaged.
    func body(_ entry: CacheEntry) async -> HTTPBody? {
        if let body = bodyAtOnce(entry) { return body }
        return try? HTTPBody(await entry.body.collect(upTo: .max))
    }

    func note(_ what: String, _ error: any Error) {
        exchange.note("cache", "\(what): \((error as? CacheStoreError)?.description ?? "\(type(of: error))")")
    }

    func note(_ status: @autoclosure () -> CacheStatus) {
        // Made only where somebody listens.
        exchange.note("cache", status().description, details: status())
    }

    /// Whether a stale response may stand for a request that failed: the same one may succeed later.
    static func allowsStale(after error: any Error) -> Bool { (error as? any RequestFailure)?.isRetryable ?? false }
}
