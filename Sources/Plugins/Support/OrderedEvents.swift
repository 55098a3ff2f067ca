package import Synchronization

/// Tells events one after the other though they come from several threads, and within one another, without holding a lock
/// while telling: whoever comes first tells, also what comes in the meantime.
package final class OrderedEvents<Event: Sendable>: Sendable {
    // Inlinable, here and in NewsTeller: generic code that crosses modules unspecialised looks up metadata at each step.
    @usableFromInline struct State {
        @usableFromInline var isTelling = false
        @usableFromInline var untold: [Event] = []
        @usableFromInline var waiter: CheckedContinuation<Void, Never>?
        @usableFromInline init() {}
    }

    @usableFromInline let state = Mutex(State())

    @inlinable package init() {}

    @inlinable package func tell(_ event: Event, to listener: (Event) -> Void) {
        let isMine = state.withLock { state in
            if state.isTelling { state.untold.append(event) }
            defer { state.isTelling = true }
            return !state.isTelling
        }
        guard isMine else { return }
        var next: Event? = event
        while let event = next {
            listener(event)
            let waiter: CheckedContinuation<Void, Never>?
            (next, waiter) = state.withLock { state in
                if !state.untold.isEmpty { return (state.untold.removeFirst(), nil) }
                state.isTelling = false
                defer { state.waiter = nil }
                return (nil, state.waiter)
            }
            waiter?.resume()
        }
    }

    /// Returns when everything told so far has been heard, also what another thread is telling. One may wait at a time.
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
