import Synchronization

/// Delivers values from any thread to a closure on the main actor, in order.
///
/// ```swift
/// let listener = MainActorListener<TransferProgress>(merging: { _, newest in newest }) {
///     bar.fraction = $0.fraction ?? 0
/// }
/// let options = CallOptions(progress: { listener.receive($0) })
/// ```
///
/// Values wait while the main thread is blocked.
public final class MainActorListener<Value: Sendable>: Sendable {
    private struct State {
        var waiting: [Value] = []
        var isDelivering = false
    }

    private let state = Mutex(State())
    private let merge: @Sendable (Value, Value) -> Value?
    private let body: @MainActor @Sendable (Value) -> Void

    /// Creates a listener.
    ///
    /// - Parameters:
    ///   - merge: Combines two consecutive waiting values into one. By default, returns nil to deliver both. Called
    ///     under a lock, so return quickly.
    ///   - body: Receives each value on the main actor.
    public init(
        merging merge: @escaping @Sendable (_ waiting: Value, _ newest: Value) -> Value? = { _, _ in nil },
        _ body: @escaping @MainActor @Sendable (Value) -> Void
    ) {
        (self.merge, self.body) = (merge, body)
    }

    /// Passes a value to the closure, without waiting for its delivery. Call it on any thread.
    public func receive(_ value: Value) {
        let (isFirst, replaced) = state.withLock { state -> (Bool, Value?) in
            var replaced: Value?
            if let last = state.waiting.last, let merged = merge(last, value) {
                replaced = last
                state.waiting[state.waiting.count - 1] = merged
            } else {
                state.waiting.append(value)
            }
            defer { state.isDelivering = true }
            return (!state.isDelivering, replaced)
        }
        withExtendedLifetime(replaced) {}
        if isFirst { Task { @MainActor in deliver() } }
    }

    @MainActor private func deliver() {
        while true {
            let values = state.withLock { state -> [Value] in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isDelivering = false }
                return state.waiting
            }
            if values.isEmpty { return }
            for value in values { body(value) }
        }
    }
}
