package import Synchronization

/// A state that many threads change, and one listener that receives the value derived from it: the latest one, in order,
/// on one thread at a time, outside of the lock. Values that a later change supersedes before their delivery are skipped.
package final class LatestValueNotifier<State: Sendable, Value: Sendable>: Sendable {
    // Inlinable: generic code that crosses modules unspecialised looks up metadata at each step.
    @usableFromInline struct Guarded {
        @usableFromInline var state: State
        @usableFromInline var isNotifying = false
        @usableFromInline var hasChanged = false
        @usableFromInline var waiters: [CheckedContinuation<Void, Never>] = []
        @usableFromInline init(state: State) { self.state = state }
    }

    @usableFromInline let guarded: Mutex<Guarded>
    @usableFromInline let value: @Sendable (State) -> Value
    @usableFromInline let notify: @Sendable (Value) -> Void

    /// - Parameters:
    ///   - state: the state to begin with; the listener does not receive it.
    ///   - value: derives what the listener receives; called under the lock.
    ///   - notify: the listener.
    @inlinable package init(
        _ state: State, value: @escaping @Sendable (State) -> Value, notify: @escaping @Sendable (Value) -> Void
    ) {
        guarded = Mutex(Guarded(state: state))
        (self.value, self.notify) = (value, notify)
    }

    /// Changes the state without notifying the listener, which sees the change with the next one.
    @inlinable package func changeSilently(_ body: (inout State) -> Void) { guarded.withLock { body(&$0.state) } }

    /// Changes the state and notifies the listener, or leaves that to the thread that is notifying it already; so the
    /// listener may change the state itself.
    @inlinable package func change(_ body: (inout State) -> Void) {
        let isFirst = guarded.withLock { guarded in
            body(&guarded.state)
            guarded.hasChanged = true
            defer { guarded.isNotifying = true }
            return !guarded.isNotifying
        }
        guard isFirst else { return }
        while let latest = latest() { notify(latest) }
    }

    /// The value to deliver; nil if the listener has received it, which ends the notification.
    @inlinable func latest() -> Value? {
        let (latest, waiters) = guarded.withLock { guarded -> (Value?, [CheckedContinuation<Void, Never>]) in
            defer { guarded.hasChanged = false }
            if guarded.hasChanged { return (value(guarded.state), []) }
            guarded.isNotifying = false
            defer { guarded.waiters = [] }
            return (nil, guarded.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return latest
    }

    /// Returns when the listener has received every change so far, also on another thread.
    @inlinable package func allDelivered() async {
        await withCheckedContinuation { continuation in
            let isNotifying = guarded.withLock { guarded in
                if guarded.isNotifying { guarded.waiters.append(continuation) }
                return guarded.isNotifying
            }
            if !isNotifying { continuation.resume() }
        }
    }
}
