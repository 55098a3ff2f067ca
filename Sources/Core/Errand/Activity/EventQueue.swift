import ErrandHTTP
import Synchronization

/// Delivers an activity's events in order. The thread that finds the queue idle also delivers all events that arrive
/// meanwhile. It doesn't hold a lock while a listener runs.
final class EventQueue: Sendable {
    struct Listeners {
        var accessories: [any Accessory] = []
        var progress: (@Sendable (TransferProgress) -> Void)?
    }

    enum End {
        case nothing
        /// This event is the last normal event. Later events are dropped, unless they also have an end.
        case events
        /// This event is the very last. The queue then releases the listeners, because the activity can live longer
        /// than its events.
        case all
    }

    fileprivate struct State {
        var listeners: Listeners
        var waiting: [ActivityEvent] = []
        /// The number of messages that were dropped, because too many events were waiting.
        var dropped = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
        var isDelivering = false
        var isClosed = false
        var hasEnded = false
    }

    let isObserved: Bool
    let observesNotes: Bool
    private let state: Mutex<State>

    init(
        _ accessories: [any Accessory], observesNotes: Bool, _ progress: (@Sendable (TransferProgress) -> Void)?
    ) {
        (isObserved, self.observesNotes) = (!accessories.isEmpty, observesNotes)
        state = Mutex(State(listeners: Listeners(accessories: accessories, progress: progress)))
    }

    var accessories: [any Accessory] { state.withLock { $0.listeners.accessories } }

    var isDelivering: Bool { state.withLock { $0.isDelivering } }

    func deliver(_ event: ActivityEvent, of activity: Activity, end: End = .nothing) {
        guard let listeners = claim(event, end: end) else { return }
        pass(event, of: activity, to: listeners)
        deliverRest(of: activity)
    }

    func end(_ activity: Activity) {
        if claim(nil, end: .all) != nil { deliverRest(of: activity) }
    }

    func allDelivered() async {
        await withCheckedContinuation { continuation in
            let isDelivering = state.withLock { state in
                if state.isDelivering { state.waiters.append(continuation) }
                return state.isDelivering
            }
            if !isDelivering { continuation.resume() }
        }
    }

    /// Returns the listeners if the calling thread should deliver the event. Returns nil if the event is dropped, or if
    /// another thread is delivering events and takes over this one.
    private func claim(_ event: ActivityEvent?, end: End) -> Listeners? {
        state.withLock { state in
            if state.isClosed, end == .nothing { return nil }
            if end != .nothing { state.isClosed = true }
            if end == .all { state.hasEnded = true }
            if state.isDelivering {
                if let event { state.add(event) }
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

    private func next() -> ([ActivityEvent], Listeners)? {
        // Release the listeners outside the lock, because releasing them can run user code.
        var released = Listeners()
        var waiters: [CheckedContinuation<Void, Never>] = []
        let next = state.withLock { state -> ([ActivityEvent], Listeners)? in
            if !state.waiting.isEmpty { return (state.takeWaiting(isNoted: observesNotes), state.listeners) }
            state.isDelivering = false
            swap(&waiters, &state.waiters)
            if state.hasEnded { swap(&released, &state.listeners) }
            return nil
        }
        withExtendedLifetime(released) {}
        for waiter in waiters { waiter.resume() }
        return next
    }
}

extension EventQueue.State {
    /// The number of waiting events from which messages are dropped. A call has few other events, but a WebSocket can
    /// send messages faster than a slow accessory handles them.
    private static let maximumWaiting = 1024

    /// Adds an event to the waiting events. Of consecutive progress values, keeps only the newest.
    mutating func add(_ event: ActivityEvent) {
        switch event {
        case .transport(.progress): if case .transport(.progress)? = waiting.last { waiting.removeLast() }
        case .message:
            if waiting.count >= Self.maximumWaiting {
                dropped += 1
                return
            }
        default: break
        }
        waiting.append(event)
    }

    /// Takes the waiting events. If messages were dropped, a note with their number follows the events before them.
    mutating func takeWaiting(isNoted: Bool) -> [ActivityEvent] {
        var events: [ActivityEvent] = []
        swap(&events, &waiting)
        if dropped > 0, isNoted {
            let text = "\(dropped) messages were dropped, because the accessories are too slow for them"
            events.insert(.note(ActivityNote("events", text)), at: min(Self.maximumWaiting, events.count))
        }
        dropped = 0
        return events
    }
}
