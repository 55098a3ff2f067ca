import Errand

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One exchange at the cache: what it was asked with, and what both policies do with a store.
struct CacheStage: Sendable {
    let cache: ResponseCache
    let exchange: Exchange
    let next: Next
    let policy: CachePolicy
    let mode: CacheMode.Kind
    let request: (any CacheableRequest)?
    let store: any CacheStore

    var now: Date { exchange.time.date }

    /// Whether nothing may be sent.
    var asksCacheOnly: Bool {
        switch mode {
        case .only, .onlyEvenStale, .take: true
        default: false
        }
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

    /// Removes an entry that is of no use.
    func discard(_ key: CacheKey) async {
        cache.writer.discard(key, in: store)
        do { try await store.remove(key) } catch { note("an entry could not be removed", error) }
    }

    /// Removes an entry that holds no longer, also if its answer is on its way.
    func remove(_ key: CacheKey) async {
        cache.writer.remove { other, _ in other == key }
        do { try await store.remove(key) } catch { note("an entry could not be removed", error) }
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
