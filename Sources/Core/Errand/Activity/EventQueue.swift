import ErrandHTTP
import Synchronization

/// Delivers the events of one activity one after the other though they come from several threads, and from within one
/// another, without holding a lock while a listener runs: the thread that comes first delivers, also what comes in the
/// meantime.
final class EventQueue: Sendable {
    private struct State {
        /// The events that arrived while another was delivered.
        var waiting: [ActivityEvent] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private typealias Listeners = (accessories: [any Accessory], progress: (@Sendable (TransferProgress) -> Void)?)

    /// The bits of a queue's marks.
    private enum Mark {
        /// A thread delivers.
        static let delivering: UInt8 = 1
        /// The state has something for it; set under the lock.
        static let waiting: UInt8 = 2
        /// Further events are dropped, unless they end something.
        static let closed: UInt8 = 4
        /// The listeners are to be let go, once nothing waits for them.
        static let ended: UInt8 = 8
    }

    /// The part of the queue that ends with an event.
    enum End: UInt8 {
        case nothing = 0
        /// Later events, from any thread, are dropped, unless they end something, too.
        case events = 0b0100
        /// The listeners are let go as well: an activity may be kept for longer.
        case all = 0b1100
    }

    /// Whether there are accessories, or were.
    let isObserved: Bool
    // Most events come alone, and then these are all that is touched.
    private let marks = Atomic<UInt8>(0)
    private let state = Mutex(State())
    // Read under the lock or by the thread that delivers; changed under the lock by the thread that ends its delivery.
    @exclusivity(unchecked) nonisolated(unsafe) private var listeners: Listeners

    init(_ accessories: [any Accessory], _ progress: (@Sendable (TransferProgress) -> Void)?) {
        isObserved = !accessories.isEmpty
        listeners = (accessories, progress)
    }

    var accessories: [any Accessory] { state.withLock { _ in listeners.accessories } }

    /// Delivers an event of an activity, or leaves that to the thread that is delivering.
    ///
    /// - Parameter end: what ends with the event.
    @inline(never) func deliver(_ event: ActivityEvent, of activity: Activity, end: End = .nothing) {
        var isMine = claim(end, otherwise: 0)
        if isMine == false {
            isMine = state.withLock { state in
                let isMine = claim(end, otherwise: Mark.waiting)
                if isMine == false { Self.add(event, to: &state.waiting) }
                return isMine
            }
        }
        guard isMine == true else { return }
        pass(event, of: activity)
        deliverRest(of: activity)
    }

    /// Ends without an event.
    @inline(never) func end(_ activity: Activity) {
        if state.withLock({ _ in claim(.all, otherwise: Mark.waiting) }) == true { deliverRest(of: activity) }
    }

    @inline(__always) private func deliverRest(of activity: Activity) {
        while let next = next() {
            for event in next { pass(event, of: activity) }
        }
    }

    /// Marks the delivery as this thread's; returns false if it is another's, with the other mark set and what ends,
    /// but nothing if there is no other mark: an end must not be found before its event is. Nil if the queue is closed.
    private func claim(_ end: End, otherwise other: UInt8) -> Bool? {
        var found = marks.load(ordering: .relaxed)
        while found & Mark.closed <= end.rawValue {
            let isFree = found & Mark.delivering == 0
            if !isFree, other == 0 { return false }
            let wanted = found | end.rawValue | (isFree ? Mark.delivering : other)
            let (isStored, now) = marks.compareExchange(
                expected: found, desired: wanted, ordering: .acquiringAndReleasing)
            if isStored { return isFree }
            found = now
        }
        return nil
    }

    @inline(__always) private func pass(_ event: ActivityEvent, of activity: Activity) {
        if let listener = listeners.progress, case .transport(.progress(let progress)) = event { listener(progress) }
        // In place: a loop would copy each accessory.
        listeners.accessories.withUnsafeBufferPointer { accessories in
            for index in accessories.indices { accessories[index].activity(activity, did: event) }
        }
    }

    /// The events that arrived in the meantime; nil, which ends the delivery, if there are none.
    private func next() -> [ActivityEvent]? {
        if release(unless: Mark.waiting | Mark.ended) { return nil }
        // What is let go ends outside of the lock, since that may run code of the user's.
        var gone: Listeners = ([], nil)
        let left = state.withLock { state in
            var left = State()
            swap(&left.waiting, &state.waiting)
            if !left.waiting.isEmpty { return left }
            swap(&left.waiters, &state.waiters)
            if !release(unless: Mark.ended) {
                swap(&gone, &listeners)
                _ = release(unless: 0)
            }
            return left
        }
        withExtendedLifetime(gone) {}
        if !left.waiting.isEmpty { return left.waiting }
        for waiter in left.waiters { waiter.resume() }
        return nil
    }

    /// Ends this thread's delivery, unless it finds one of the marks.
    private func release(unless others: UInt8) -> Bool {
        var found = marks.load(ordering: .relaxed)
        while found & others == 0 {
            let wanted = found & ~(Mark.delivering | Mark.waiting)
            let (isStored, now) = marks.compareExchange(
                expected: found, desired: wanted, ordering: .acquiringAndReleasing)
            if isStored { return true }
            found = now
        }
        return false
    }

    /// Waits until nothing is being delivered.
    @inline(never) func allDelivered() async {
        await withCheckedContinuation { continuation in
            let isDelivering = state.withLock { state in
                // Where none delivers, the mark costs the next event a look and no more.
                let found = marks.bitwiseOr(Mark.waiting, ordering: .acquiringAndReleasing).oldValue
                if found & Mark.delivering != 0 { state.waiters.append(continuation) }
                return found & Mark.delivering != 0
            }
            if !isDelivering { continuation.resume() }
        }
    }

    var isDelivering: Bool { marks.load(ordering: .acquiring) & Mark.delivering != 0 }

    /// Only the newest of several progress values in a row is kept: a listener that is slower than the transport holds
    /// nothing up, and nothing piles up.
    private static func add(_ event: ActivityEvent, to waiting: inout [ActivityEvent]) {
        if case .transport(.progress) = event, case .transport(.progress)? = waiting.last { waiting.removeLast() }
        waiting.append(event)
    }
}
