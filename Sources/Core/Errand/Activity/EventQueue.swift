import ErrandHTTP
import Synchronization

/// Delivers the events of one activity in order, even if several threads report them, or an accessory reports one while
/// it handles another. No lock is held while a listener runs: the thread that finds the queue idle delivers its event,
/// and then all events that arrived in the meantime.
final class EventQueue: Sendable {
    struct Listeners {
        var accessories: [any Accessory] = []
        var progress: (@Sendable (TransferProgress) -> Void)?
    }

    /// The part of the queue that ends with an event.
    enum End {
        case nothing
        /// Later events are dropped on any thread, unless they also end a part.
        case events
        /// The listeners are released too, because an activity can be kept for longer.
        case all
    }

    private struct State {
        var listeners: Listeners
        /// The events that arrived during a delivery.
        var waiting: [ActivityEvent] = []
        /// The callers that wait until no event is being delivered.
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

    /// Delivers an event of an activity, or leaves it to the thread that is delivering.
    ///
    /// - Parameter end: the part that ends with the event.
    func deliver(_ event: ActivityEvent, of activity: Activity, end: End = .nothing) {
        guard let listeners = claim(event, end: end) else { return }
        pass(event, of: activity, to: listeners)
        deliverRest(of: activity)
    }

    /// Ends the queue without an event.
    func end(_ activity: Activity) {
        if claim(nil, end: .all) != nil { deliverRest(of: activity) }
    }

    /// Waits until no event is being delivered.
    func allDelivered() async {
        await withCheckedContinuation { continuation in
            let isDelivering = state.withLock { state in
                if state.isDelivering { state.waiters.append(continuation) }
                return state.isDelivering
            }
            if !isDelivering { continuation.resume() }
        }
    }

    /// Returns the listeners if the calling thread should deliver the event: no other thread is delivering, and the
    /// queue isn't closed.
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

    /// Returns the events that arrived in the meantime. If there are none, ends the delivery and returns nil.
    private func next() -> ([ActivityEvent], Listeners)? {
        // Releasing a listener can run user code, so it's done outside the lock.
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

    /// Keeps only the newest of consecutive progress values, so they don't pile up if a listener is slow.
    private static func add(_ event: ActivityEvent, to waiting: inout [ActivityEvent]) {
        if case .transport(.progress) = event, case .transport(.progress)? = waiting.last { waiting.removeLast() }
        waiting.append(event)
    }
}
