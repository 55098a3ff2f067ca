import Errand

import ErrandEssentials

/// One exchange at the cache: what it was asked with, and what both policies do with a store.
struct CacheStage: Sendable {
    let cache: ResponseCache
    let exchange: Exchange
    let next: Next
    let policy: CachePolicy
    let mode: CacheMode.Kind
    let request: (any CacheableRequest)?
    let store: any CacheStore

    /// What this request learns for others that wait for it.
    var leader: Flights.Leader?

    var now: Date { exchange.time.date }

    /// Whether nothing may be sent.
    var asksCacheOnly: Bool {
        switch mode {
        case .cacheOnly, .onlyEvenStale, .take: true
        default: false
        }
    }

    /// A miss to throw.
    func miss(_ reason: CacheMiss.Reason) -> CacheMiss {
        let miss = CacheMiss(reason)
        exchange.tags[CacheModeTag.self].report?.missed(miss)
        return miss
    }

    /// Makes keyed hashes; nil, and a note, if the store has no secret.
    func hasher() async -> KeyText.Hasher? {
        do { return try await cache.keeper.hasher(of: store) } catch {
            note("the store gave no secret", error)
            return nil
        }
    }

    /// What is stored; a store that fails has nothing.
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

    /// Removes an entry that holds no longer, also if its response is on its way. Returns why a store could not.
    @discardableResult
    func remove(_ key: CacheKey) async -> (any Error)? {
        do { try await cache.writer.remove(key, from: store) } catch {
            note("an entry could not be removed", error)
            return error
        }
        return nil
    }

    /// Takes the entry out of the cache for a caller that asked for it.
    func take(_ key: CacheKey) async {
        exchange.tags[CacheModeTag.self].report?.done(await remove(key))
    }

    /// The body as the exchange wants it. Throws if it turns out damaged.
    func body(_ entry: CacheEntry) async throws -> HTTPBody {
        if entry.body.data != nil || exchange.delivery != .data { return entry.body }
        return HTTPBody(try await entry.body.collect(upTo: .max))
    }

    func note(_ what: String, _ error: any Error) {
        exchange.note("cache", "\(what): \((error as? CacheStoreError)?.description ?? "\(type(of: error))")")
    }

    func note(_ status: CacheStatus) { exchange.note("cache", status.description, details: status) }

    /// Whether a failure means that the server could not be reached.
    static func isUnreachable(_ error: any Error) -> Bool { (error as? ErrandError)?.isRetryable ?? false }
}
