import Errand
import ErrandSupport
import Synchronization

/// Makes keyed hashes (HMAC-SHA-256) of values that must not be stored in the clear.
final class KeyedHasher: Sendable {
    private let code: HMAC<SHA256Digest>
    /// The hashes of the last texts: each request of a user asks for the same ones.
    private let known = Mutex<[String: String]>([:])

    init(secret: [UInt8]) { code = HMAC(key: secret) }

    func hash(_ text: String) -> String {
        if let hash = known.withLock({ $0[text] }) { return hash }
        var code = code
        code.update(text.utf8)
        let hash = Hexadecimal.text(code.finalized())
        known.withLock { known in
            if known.count >= 64 { known.removeAll() }
            known[text] = hash
        }
        return hash
    }
}

/// The hasher of each store; a store's secret is read once.
final class StoreHashers: Sendable {
    private let known = Mutex<[ObjectIdentifier: (store: any CacheStore, hasher: KeyedHasher)]>([:])

    /// Nil where the secret of the store has not been read yet.
    func known(for store: any CacheStore) -> KeyedHasher? {
        let id = ObjectIdentifier(store)
        return known.withLock { $0[id]?.hasher }
    }

    func hasher(of store: any CacheStore) async throws -> KeyedHasher {
        let id = ObjectIdentifier(store)
        if let hasher = known(for: store) { return hasher }
        let hasher = KeyedHasher(secret: Array(try await store.secret()))
        known.withLock { known in
            // Bounded, for requests that return a new store each time.
            if known.count >= 64 { known.removeAll() }
            known[id] = (store, hasher)
        }
        return hasher
    }
}
