import Synchronization

/// A state that many threads change, and one listener that receives the value derived from it: the latest one, in
/// order, on one thread at a time, outside of the lock. Values that a later change supersedes before their delivery are
/// skipped.
package final class LatestValueNotifier<State: Sendable, Value: Sendable>: Sendable {
    private let locked: Mutex<NotifierState<State>>
    private let value: @Sendable (State) -> Value
    private let notify: @Sendable (Value) -> Void

    /// - Parameters:
    ///   - state: the state to begin with; the listener does not receive it.
    ///   - value: derives what the listener receives; called under the lock.
    ///   - notify: the listener.
    package init(
        _ state: State, value: @escaping @Sendable (State) -> Value, notify: @escaping @Sendable (Value) -> Void
    ) {
        locked = Mutex(NotifierState(state))
        (self.value, self.notify) = (value, notify)
    }

    /// Changes the state without notifying the listener, which sees the change with the next one.
    package func changeSilently(_ body: (inout State) -> Void) { locked.withLock { body(&$0.state) } }

    /// Changes the state and notifies the listener, or leaves that to the thread that is notifying it already; so the
    /// listener may change the state itself.
    package func change(_ body: (inout State) -> Void) {
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

    /// Whether the listener has received the latest value, which ends the notification.
    private func isDone() -> Bool {
        guard let waiters = locked.withLock({ $0.turn.end() }) else { return false }
        for waiter in waiters { waiter.resume() }
        return true
    }

    /// Returns when the listener has received every change so far, also on another thread.
    package func allDelivered() async {
        await withCheckedContinuation { continuation in
            let isNotifying = locked.withLock { locked in
                if locked.turn.isNotifying { locked.turn.waiters.append(continuation) }
                return locked.turn.isNotifying
            }
            if !isNotifying { continuation.resume() }
        }
    }
}

/// The state, and who notifies the listener of it.
private struct NotifierState<State: Sendable>: Sendable {
    var state: State
    var turn = NotifierTurn()

    init(_ state: State) { self.state = state }
}

/// Whether a thread notifies the listener at this moment, and what waits for the end of that.
private struct NotifierTurn: Sendable {
    private(set) var isNotifying = false
    var hasChanged = false
    var waiters: [CheckedContinuation<Void, Never>] = []

    /// The state has changed; true for a thread that is to notify the listener.
    mutating func begin() -> Bool {
        hasChanged = true
        defer { isNotifying = true }
        return !isNotifying
    }

    /// Those that waited for the end of the notification; nil if the state has changed since.
    mutating func end() -> [CheckedContinuation<Void, Never>]? {
        if hasChanged { return nil }
        isNotifying = false
        defer { waiters = [] }
        return waiters
    }
}
