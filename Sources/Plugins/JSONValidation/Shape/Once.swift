import Synchronization

/// A value that is made at its first use.
final class Once<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)

    func value(_ make: () -> Value) -> Value {
        if let value = made.withLock({ $0 }) { return value }
        // Made outside of the lock: the first of two that come at once wins, and nobody waits for a lock.
        let new = make()
        return made.withLock { value in
            if let value { return value }
            value = new
            return new
        }
    }
}
