import ErrandHTTP
import Synchronization

/// Delivers the events of one activity in order, though several threads report them, and accessories from within one
/// another. No lock is held while a listener runs: the thread that finds the queue idle delivers its own event, and
/// then whatever has arrived in the meantime.
final class EventQueue: Sendable {
    struct Listeners {
        var accessories: [any Accessory] = []
        var progress: (@Sendable (TransferProgress) -> Void)?
    }

    /// The part of the queue that ends with an event.
    enum End {
        case nothing
        /// Later events, from any thread, are dropped unless they end something, too.
        case events
        /// The listeners are released as well, since an activity may be kept for longer.
        case all
    }

    private struct State {
        var listeners: Listeners
        /// The events that arrived while another was delivered.
        var waiting: [ActivityEvent] = []
        /// Those who wait until nothing is being delivered.
        var waiters: [CheckedContinuation<Void, Never>] = []
        var isDelivering = false
        var isClosed = false
        var hasEnded = false
    }

    /// Whether there are accessories, or were.
    let isObserved: Bool
    private let state: Mutex<State>

    init(_ accessories: [any Accessory], _ progress: (@Sendable (TransferProgress) -> Void)?) {
        isObserved = !accessories.isEmpty
        state = Mutex(State(listeners: Listeners(accessories: accessories, progress: progress)))
    }

    var accessories: [any Accessory] { state.withLock { $0.listeners.accessories } }

    var isDelivering: Bool { state.withLock { $0.isDelivering } }

    /// Delivers an event of an activity, or leaves that to the thread that is delivering.
    ///
    /// - Parameter end: what ends with the event.
    func deliver(_ event: ActivityEvent, of activity: Activity, end: End = .nothing) {
        guard let listeners = claim(event, end: end) else { return }
        pass(event, of: activity, to: listeners)
        deliverRest(of: activity)
    }

    /// Ends without an event.
    func end(_ activity: Activity) {
        if claim(nil, end: .all) != nil { deliverRest(of: activity) }
    }

    /// Waits until nothing is being delivered.
    func allDelivered() async {
        await withCheckedContinuation { continuation in
            let isDelivering = state.withLock { state in
                if state.isDelivering { state.waiters.append(continuation) }
                return state.isDelivering
            }
            if !isDelivering { continuation.resume() }
        }
    }

    /// The listeners, if the calling thread is to deliver the event: nobody else is delivering, and the queue isn't
    /// closed.
    private func claim(_ event: ActivityEvent?, end: End) -> Listeners? {
        state.withLock { state in
            if state.isClosed, end == .nothing { return nil }
            if end != .nothing { state.isClosed = true }
            if end == .all { state.hasEnded = true }
            if state.isDelivering {
                if let event { Self.add(event, to: &state.waiting) }
                return nil
            }
            state.isDelivering = true
            return state.listeners
        }
    }

    private func pass(_ event: ActivityEvent, of activity: Activity, to listeners: Listeners) {
        if let progress = listeners.progress, case .transport(.progress(let value)) = event { progress(value) }
        for accessory in listeners.accessories { accessory.activity(activity, did: event) }
    }

    private func deliverRest(of activity: Activity) {
        while let (events, listeners) = next() {
            for event in events { pass(event, of: activity, to: listeners) }
        }
    }

    /// The events that arrived in the meantime. Nil if there are none, which ends the delivery.
    private func next() -> ([ActivityEvent], Listeners)? {
        // The end of a listener may run the user's code: what the queue lets go of is released outside the lock.
        var released = Listeners()
        var waiters: [CheckedContinuation<Void, Never>] = []
        let next = state.withLock { state -> ([ActivityEvent], Listeners)? in
            if !state.waiting.isEmpty {
                defer { state.waiting = [] }
                return (state.waiting, state.listeners)
            }
            state.isDelivering = false
            swap(&waiters, &state.waiters)
            if state.hasEnded { swap(&released, &state.listeners) }
            return nil
        }
        withExtendedLifetime(released) {}
        for waiter in waiters { waiter.resume() }
        return next
    }

    /// Keeps only the newest of several progress values in a row, so that nothing piles up behind a slow listener.
    private static func add(_ event: ActivityEvent, to waiting: inout [ActivityEvent]) {
        if case .transport(.progress) = event, case .transport(.progress)? = waiting.last { waiting.removeLast() }
        waiting.append(event)
    }
}
