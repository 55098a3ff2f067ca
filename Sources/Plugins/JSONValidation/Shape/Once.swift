import Synchronization

/// A value that is created at its first use.
final class Once<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)

    func value(_ make: () -> Value) -> Value {
        if let value = made.withLock({ $0 }) { return value }
        // Created without the lock, so that no caller waits for another; of concurrent callers the first one wins.
        let new = make()
        return made.withLock { value in
            if let value { return value }
            value = new
            return new
        }
    }
}
