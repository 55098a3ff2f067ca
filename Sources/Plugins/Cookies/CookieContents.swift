import Errand
import ErrandEssentials
import Synchronization

/// The cookies of a jar behind their lock; what the jar shares with the work that writes its file.
final class CookieContents: Sendable {
    private let store: Mutex<CookieStore>
    private let holdsNone: Atomic<Bool>
    let limits: CookieLimits

    init(_ store: consuming CookieStore) {
        limits = store.policy.limits
        holdsNone = Atomic(store.count == 0)
        self.store = Mutex(store)
    }

    /// Whether there are no cookies; without the lock.
    var isEmpty: Bool { holdsNone.load(ordering: .acquiring) }

    func read<Result>(_ body: (inout sending CookieStore) -> sending Result) -> sending Result { store.withLock(body) }

    /// Changes the cookies in one step.
    func change<Result: Sendable>(_ body: (inout CookieStore) -> Result) -> Result {
        store.withLock { store in
            defer { holdsNone.store(store.count == 0, ordering: .releasing) }
            return body(&store)
        }
    }

    /// The cookies, and their version.
    var snapshot: (cookies: [Cookie], version: UInt64) { store.withLock { ($0.cookies, $0.version) } }

    /// The version of the cookies.
    var version: UInt64 { store.withLock { $0.version } }
}
