import ErrandHTTP
import Synchronization

/// Delivers the events of one activity one after the other though they come from several threads, and from within one
/// another, without holding a lock while a listener runs: the thread that comes first delivers, also what comes in the
/// meantime.
final class EventQueue: Sendable {
    fileprivate struct State {
        var isDelivering = false
        var isClosed = false
        var waiting: [ActivityEvent] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// Held until the last event has reached them: an activity may be kept for longer.
        var listeners: Listeners
    }

    fileprivate typealias Listeners = (accessories: [any Accessory], progress: (@Sendable (TransferProgress) -> Void)?)

    /// Whether there are accessories, or were.
    let isObserved: Bool
    private let state: Mutex<State>

    init(_ accessories: [any Accessory], _ progress: (@Sendable (TransferProgress) -> Void)?) {
        isObserved = !accessories.isEmpty
        state = Mutex(State(listeners: (accessories, progress)))
    }

    var accessories: [any Accessory] { state.withLock { $0.listeners.accessories } }

    /// Delivers an event of an activity, or leaves that to the thread that is delivering.
    ///
    /// - Parameter isLast: whether the queue closes with this event: what comes later, from any thread, is dropped, except
    ///   for events that close it too.
    func deliver(_ event: ActivityEvent, of activity: Activity, isLast: Bool = false) {
        let listeners = state.withLock { state -> Listeners? in
            if isLast { state.isClosed = true } else if state.isClosed { return nil }
            if state.isDelivering {
                state.add(event)
                return nil
            }
            state.isDelivering = true
            return state.listeners
        }
        guard let listeners else { return }
        pass(event, of: activity, to: listeners)
        while let next = next() {
            for event in next { pass(event, of: activity, to: listeners) }
        }
    }

    private func pass(_ event: ActivityEvent, of activity: Activity, to listeners: Listeners) {
        if let listener = listeners.progress, case .transport(.progress(let progress)) = event { listener(progress) }
        for accessory in listeners.accessories { accessory.activity(activity, did: event) }
    }

    /// What came in the meantime; nil, and the delivery is over, if that is nothing.
    private func next() -> [ActivityEvent]? {
        if state.withLock({ $0.rest() }) { return nil }
        let (next, waiters) = state.withLock { state in
            defer { (state.waiting, state.waiters) = ([], state.waiting.isEmpty ? [] : state.waiters) }
            state.isDelivering = !state.waiting.isEmpty
            return (state.waiting, state.waiting.isEmpty ? state.waiters : [])
        }
        for waiter in waiters { waiter.resume() }
        return next.isEmpty ? nil : next
    }

    /// Lets go of the listeners, who receive nothing any more but what is being delivered; after the last event.
    func close() {
        _ = state.withLock { state in
            defer { (state.listeners, state.isClosed) = (([], nil), true) }
            return state.listeners
        }
    }

    /// Returns when everything so far has been delivered, also what another thread is delivering.
    @inline(never) func allDelivered() async {
        await withCheckedContinuation { continuation in
            let isDelivering = state.withLock { state in
                if state.isDelivering { state.waiters.append(continuation) }
                return state.isDelivering
            }
            if !isDelivering { continuation.resume() }
        }
    }

    /// Whether an event is being delivered at this moment.
    var isDelivering: Bool { state.withLock { $0.isDelivering } }
}

extension EventQueue.State {
    /// Ends the delivery and returns true, if nothing waits for anything.
    fileprivate mutating func rest() -> Bool {
        guard waiting.isEmpty, waiters.isEmpty else { return false }
        isDelivering = false
        return true
    }

    /// Of several steps of progress that wait, the last one counts, so that a slow listener is not followed by an ever
    /// longer queue.
    fileprivate mutating func add(_ event: ActivityEvent) {
        if case .transport(.progress) = event, case .transport(.progress)? = waiting.last { waiting.removeLast() }
        waiting.append(event)
    }
}
