import Errand
import ErrandSupport
import Synchronization

/// Makes keyed hashes (HMAC-SHA-256) of values that must not be stored in the clear.
struct KeyedHasher: Sendable {
    let secret: [UInt8]

    func hash(_ text: String) -> String { Hexadecimal.text(HMAC<SHA256Digest>.code(for: text.utf8, key: secret)) }
}

/// The hasher of each store; a store's secret is read once.
final class StoreHashers: Sendable {
    private let known = Mutex<[ObjectIdentifier: (store: any CacheStore, hasher: KeyedHasher)]>([:])

    func hasher(of store: any CacheStore) async throws -> KeyedHasher {
        let id = ObjectIdentifier(store)
        if let hasher = known.withLock({ $0[id]?.hasher }) { return hasher }
        let hasher = KeyedHasher(secret: Array(try await store.secret()))
        known.withLock { known in
            // Bounded, for requests that return a new store each time.
            if known.count >= 64 { known.removeAll() }
            known[id] = (store, hasher)
        }
        return hasher
    }
}
