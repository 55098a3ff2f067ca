import Synchronization

/// Notifies a listener of a value that is derived from a state, which many threads can change. The listener receives
/// the values in order, on one thread at a time and outside the lock. Values that are replaced before their delivery
/// are skipped.
public final class LatestValueNotifier<State: Sendable, Value: Sendable>: Sendable {
    private let locked: Mutex<NotifierState<State>>
    private let value: @Sendable (State) -> Value
    private let notify: @Sendable (Value) -> Void

    /// Creates a notifier.
    ///
    /// - Parameters:
    ///   - state: The initial state. The listener doesn't receive it.
    ///   - value: Derives the listener's value. Runs under the lock.
    ///   - notify: The listener. Runs outside the lock.
    public init(
        _ state: State, value: @escaping @Sendable (State) -> Value, notify: @escaping @Sendable (Value) -> Void
    ) {
        locked = Mutex(NotifierState(state))
        (self.value, self.notify) = (value, notify)
    }

    /// Changes the state without notifying the listener. The next notification includes the change.
    public func changeSilently(_ body: (inout State) -> Void) { locked.withLock { body(&$0.state) } }

    /// Changes the state and notifies the listener, which may also change the state. If another thread is already
    /// notifying the listener, that thread delivers the value.
    public func change(_ body: (inout State) -> Void) {
        let isFirst = locked.withLock { locked in
            body(&locked.state)
            return locked.turn.begin()
        }
        guard isFirst else { return }
        repeat {
            let latest = locked.withLock { locked in
                locked.turn.hasChanged = false
                return value(locked.state)
            }
            notify(latest)
        } while !isDone()
    }

    private func isDone() -> Bool {
        guard let waiters = locked.withLock({ $0.turn.end() }) else { return false }
        for waiter in waiters { waiter.resume() }
        return true
    }

    /// Waits until the listener has received all changes so far.
    public func allDelivered() async {
        await withCheckedContinuation { continuation in
            let isNotifying = locked.withLock { locked in
                if locked.turn.isNotifying { locked.turn.waiters.append(continuation) }
                return locked.turn.isNotifying
            }
            if !isNotifying { continuation.resume() }
        }
    }
}

private struct NotifierState<State: Sendable>: Sendable {
    var state: State
    var turn = NotifierTurn()

    init(_ state: State) { self.state = state }
}

private struct NotifierTurn: Sendable {
    private(set) var isNotifying = false
    var hasChanged = false
    var waiters: [CheckedContinuation<Void, Never>] = []

    /// Returns `true` if the calling thread must notify the listener.
    mutating func begin() -> Bool {
        hasChanged = true
        defer { isNotifying = true }
        return !isNotifying
    }

    /// Returns `nil` if the state has changed since the listener's latest value.
    mutating func end() -> [CheckedContinuation<Void, Never>]? {
        if hasChanged { return nil }
        isNotifying = false
        defer { waiters = [] }
        return waiters
    }
}
