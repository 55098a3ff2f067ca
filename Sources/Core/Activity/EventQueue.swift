import Synchronization

/// Delivers events one after the other though they come from several threads, and from within one another, without
/// holding a lock while a listener runs: the thread that comes first delivers, also what comes in the meantime.
final class EventQueue<Event: Sendable>: Sendable {
    struct State {
        var isDelivering = false
        var isClosed = false
        var waiting: [Event] = []
        var waiter: CheckedContinuation<Void, Never>?
        init() {}
    }

    let state = Mutex(State())

    init() {}

    /// Delivers an event, or leaves that to the thread that is delivering.
    ///
    /// - Parameters:
    ///   - closing: whether the queue closes with this event: what comes later, from any thread, is dropped, except for
    ///     events that close it too.
    ///   - isStale: whether the event before, which waits, is no longer of interest because of this one; so that a slow
    ///     listener is not followed by an ever longer queue.
    func deliver(
        _ event: Event, closing: Bool = false, replacing isStale: (Event) -> Bool = { _ in false },
        to listener: (Event) -> Void
    ) {
        let isMine = state.withLock { state in
            if closing { state.isClosed = true } else if state.isClosed { return false }
            if state.isDelivering {
                if let last = state.waiting.last, isStale(last) { state.waiting.removeLast() }
                state.waiting.append(event)
            }
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard isMine else { return }
        listener(event)
        while true {
            let (next, waiter) = state.withLock { state -> ([Event], CheckedContinuation<Void, Never>?) in
                defer { state.waiting = [] }
                if !state.waiting.isEmpty { return (state.waiting, nil) }
                state.isDelivering = false
                defer { state.waiter = nil }
                return ([], state.waiter)
            }
            waiter?.resume()
            if next.isEmpty { return }
            for event in next { listener(event) }
        }
    }

    /// Returns when everything so far has been delivered, also what another thread is delivering. One may wait at a time.
    func allDelivered() async {
        await withCheckedContinuation { continuation in
            let isDelivering = state.withLock { state in
                if state.isDelivering { state.waiter = continuation }
                return state.isDelivering
            }
            if !isDelivering { continuation.resume() }
        }
    }
}
