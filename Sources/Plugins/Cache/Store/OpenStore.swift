import Errand
import ErrandEssentials
import Synchronization

/// A store whose secret has been read.
final class OpenStore: Sendable {
    let store: any CacheStore
    let hasher: KeyedHasher
    let immediate: (any ImmediateStore)?

    init(_ store: any CacheStore, secret: Data) {
        self.store = store
        hasher = KeyedHasher(secret: Array(secret))
        immediate = store as? any ImmediateStore
    }
}

/// Reads each store's secret once.
final class OpenStores: Sendable {
    private struct State {
        var last: OpenStore?
        var all: [ObjectIdentifier: OpenStore] = [:]
    }

    private let state = Mutex(State())

    func known(_ store: any CacheStore) -> OpenStore? {
        state.withLock { state in
            if let last = state.last, last.store === store { return last }
            guard let known = state.all[ObjectIdentifier(store)] else { return nil }
            state.last = known
            return known
        }
    }

    func open(_ store: any CacheStore) async throws -> OpenStore {
        if let known = known(store) { return known }
        let opened = OpenStore(store, secret: try await store.secret())
        state.withLock { state in
            // Forget the stores if there are too many, because a request may return a new store each time.
            if state.all.count >= 64 { state.all.removeAll() }
            state.all[ObjectIdentifier(store)] = opened
        }
        return opened
    }
}
