package import Synchronization

/// Delivers events one after the other though they come from several threads, and from within one another, without
/// holding a lock while a listener runs: the thread that comes first delivers, also what comes in the meantime.
package final class OrderedEvents<Event: Sendable>: Sendable {
    // Inlinable, here and in NewsTeller: generic code that crosses modules unspecialised looks up metadata at each step.
    @usableFromInline struct State {
        @usableFromInline var isTelling = false
        @usableFromInline var isClosed = false
        @usableFromInline var untold: [Event] = []
        @usableFromInline var waiter: CheckedContinuation<Void, Never>?
        @usableFromInline init() {}
    }

    @usableFromInline let state = Mutex(State())

    @inlinable package init() {}

    /// Delivers an event, or leaves that to the thread that is delivering.
    ///
    /// - Parameters:
    ///   - closing: whether the queue closes with this event: what comes later, from any thread, is dropped, except for
    ///     events that close it too.
    ///   - isStale: whether the event before, which waits, is no longer of interest because of this one; so that a slow
    ///     listener is not followed by an ever longer queue.
    @inlinable package func tell(
        _ event: Event, closing: Bool = false, replacing isStale: (Event) -> Bool = { _ in false },
        to listener: (Event) -> Void
    ) {
        let isMine = state.withLock { state in
            if closing { state.isClosed = true } else if state.isClosed { return false }
            if state.isTelling {
                if let last = state.untold.last, isStale(last) { state.untold.removeLast() }
                state.untold.append(event)
            }
            defer { state.isTelling = true }
            return !state.isTelling
        }
        guard isMine else { return }
        listener(event)
        while true {
            let (next, waiter) = state.withLock { state -> ([Event], CheckedContinuation<Void, Never>?) in
                defer { state.untold = [] }
                if !state.untold.isEmpty { return (state.untold, nil) }
                state.isTelling = false
                defer { state.waiter = nil }
                return ([], state.waiter)
            }
            waiter?.resume()
            if next.isEmpty { return }
            for event in next { listener(event) }
        }
    }

    /// Returns when everything so far has been delivered, also what another thread is delivering. One may wait at a time.
    @inlinable package func allTold() async {
        await withCheckedContinuation { continuation in
            let isTelling = state.withLock { state in
                if state.isTelling { state.waiter = continuation }
                return state.isTelling
            }
            if !isTelling { continuation.resume() }
        }
    }
}
