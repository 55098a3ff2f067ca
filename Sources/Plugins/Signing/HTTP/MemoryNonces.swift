public import ErrandEssentials
import ErrandSupport
import Synchronization

/// A nonce store in memory. It forgets a nonce when the nonce's signature is too old to be accepted.
public final class MemoryNonces: NonceStore {
    private struct Key: Hashable {
        let keyID: String?
        let nonce: String
    }

    private struct Expiry: Comparable {
        let date: Date
        let key: Key

        static func < (a: Expiry, b: Expiry) -> Bool { a.date < b.date }
    }

    private struct State {
        var known: Set<Key> = []
        var expiries = BinaryHeap<Expiry>()
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Creates an empty store.
    ///
    /// - Parameter limit: The number of nonces to remember. A full store refuses new signatures. Defaults to 100,000.
    public init(limit: Int = 100_000) { self.limit = limit }

    /// Records a nonce until it expires. Returns false if the nonce was recorded before or is longer than 512 bytes, or
    /// if the store is full.
    public func record(_ nonce: String, keyID: String?, at now: Date, until expiry: Date) -> Bool {
        let key = Key(keyID: keyID, nonce: nonce)
        return state.withLock { state in
            while let first = state.expiries.first, first.date < now {
                state.known.remove(first.key)
                _ = state.expiries.popFirst()
            }
            guard nonce.utf8.count <= 512, state.known.count < limit, state.known.insert(key).inserted else {
                return false
            }
            state.expiries.insert(Expiry(date: expiry, key: key))
            return true
        }
    }
}
