import Synchronization

/// A value that is created on first use.
final class Once<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)

    func value(_ make: () -> Value) -> Value {
        if let value = made.withLock({ $0 }) { return value }
        // Created outside the lock, so no caller waits for another. If callers race, the first to store its value wins.
        let new = make()
        return made.withLock { value in
            if let value { return value }
            value = new
            return new
        }
    }
}
