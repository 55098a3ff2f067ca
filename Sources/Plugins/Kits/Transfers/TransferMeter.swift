public import Errand
import ErrandCollections
import ErrandEssentials
import ErrandSupport
import Synchronization

/// Counts a transfer's bytes and reports the counts in order, at most once per interval. Always delivers the last
/// report.
public final class TransferMeter: Sendable {
    private struct State {
        var count: Int64 = 0
        var total: Int64?
        var phase = TransferState.connecting
        var rate = Throughput()
        var lastByte: ContinuousClock.Instant?
        var isDirty = false
        var published: TransferStatus?
        var publishedAt: ContinuousClock.Instant?
        var timer: Task<Void, Never>?
        var wake: ContinuousClock.Instant?
        /// Only one thread at a time delivers these reports.
        var outbox = FIFOQueue<TransferStatus>()
        var isDelivering = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let interval: Duration
    private let moving: TransferState
    private let mayFall: Bool
    private let time: any TimeSource
    private let deliver: @Sendable (TransferStatus) -> Void
    /// The time without bytes after which a transfer is stalled.
    package static var stall: Duration { .seconds(5) }

    /// Creates a meter. It starts to report with ``begin(at:total:)``.
    ///
    /// - Parameters:
    ///   - interval: The minimum time between reports while bytes move.
    ///   - moving: The state while bytes move.
    ///   - mayFall: Whether the reported count may decrease when an attempt begins.
    ///   - deliver: Receives the reports, one at a time.
    public init(
        interval: Duration, moving: TransferState, mayFall: Bool, time: any TimeSource,
        deliver: @escaping @Sendable (TransferStatus) -> Void
    ) {
        (self.interval, self.moving, self.mayFall, self.time, self.deliver) = (interval, moving, mayFall, time, deliver)
    }

    deinit { state.withLock(\.timer)?.cancel() }

    /// Begins an attempt. `count` is the number of bytes that earlier attempts transferred.
    public func begin(at count: Int64, total: Int64?) {
        update(isForced: true) { state, now in
            (state.count, state.total, state.phase, state.lastByte) = (count, total, .connecting, nil)
            state.rate.restart(now)
        }
    }

    /// Counts transferred bytes.
    public func add(_ count: Int64) {
        update(isForced: false) { state, now in
            state.count += count
            (state.phase, state.lastByte) = (moving, now)
            state.rate.add(count, now)
        }
    }

    /// Corrects the transferred bytes by `count`, which can be negative. The rate doesn't change.
    public func shift(by count: Int64) { update(isForced: true) { state, _ in state.count += count } }

    /// Sets the transfer's state and reports it immediately.
    public func set(_ phase: TransferState) { update(isForced: true) { state, _ in state.phase = phase } }

    /// Reports that the transfer is complete.
    public func end(at total: Int64) {
        update(isForced: true) { state, _ in (state.count, state.total, state.phase) = (total, total, .finished) }
    }

    /// Waits until all reports so far have been delivered.
    public func allDelivered() async {
        await withCheckedContinuation { waiter in
            let isBusy = state.withLock { state in
                if state.isDelivering { state.waiters.append(waiter) }
                return state.isDelivering
            }
            if !isBusy { waiter.resume() }
        }
    }

    private func update(isForced: Bool, _ change: (inout State, ContinuousClock.Instant) -> Void) {
        let read = time.now
        let (isMine, stale) = state.withLock { state in
            // Another thread may have read a later time before it acquired the lock.
            let now = state.publishedAt.map { max($0, read) } ?? read
            change(&state, now)
            state.isDirty = true
            if isForced || isDue(state, now) { publish(&state, now) }
            let stale = arm(&state)
            return (startDelivery(&state), stale)
        }
        stale?.cancel()
        if isMine { deliverAll() }
    }

    private func isDue(_ state: State, _ now: ContinuousClock.Instant) -> Bool {
        state.publishedAt.map { $0.duration(to: now) >= interval } ?? true
    }

    private func publish(_ state: inout State, _ now: ContinuousClock.Instant) {
        state.isDirty = false
        var count = state.count
        if !mayFall { count = max(count, state.published?.transferred ?? 0) }
        if let total = state.total { count = min(count, total) }
        var report = TransferStatus(transferred: count, total: state.total, state: state.phase)
        if state.phase.showsRate { report.rate = state.rate.value(now) }
        if count == state.total {
            report.timeLeft = .zero
        } else if let total = state.total, report.rate >= 1 {
            report.timeLeft = .seconds(min(1e9, Double(total - count) / report.rate))
        }
        if let last = state.published, last.transferred == count, last.total == report.total, last.state == report.state
        {
            return
        }
        (state.published, state.publishedAt) = (report, now)
        state.outbox.append(report)
    }

    private func startDelivery(_ state: inout State) -> Bool {
        if state.outbox.isEmpty || state.isDelivering { return false }
        state.isDelivering = true
        return true
    }

    private func deliverAll() {
        while true {
            let (next, waiters) = state.withLock { state -> (TransferStatus?, [CheckedContinuation<Void, Never>]) in
                if let next = state.outbox.popFirst() { return (next, []) }
                state.isDelivering = false
                defer { state.waiters = [] }
                return (nil, state.waiters)
            }
            waiters.forEach { $0.resume() }
            guard let next else { return }
            deliver(next)
        }
    }

    /// Sets the timer to the next report, or to the time when the transfer is stalled. Cancel the returned timer
    /// outside the lock, because this runs the time source's code.
    private func arm(_ state: inout State) -> Task<Void, Never>? {
        let stale = state.timer
        var wake: ContinuousClock.Instant?
        if state.isDirty, let last = state.publishedAt {
            wake = last.advanced(by: interval)
        } else if state.phase == moving, let last = state.lastByte {
            wake = last.advanced(by: Self.stall)
        }
        guard let wake else {
            (state.timer, state.wake) = (nil, nil)
            return stale
        }
        // If a timer is already set for an earlier time, it sets the next timer when it fires.
        if let set = state.wake, set <= wake { return nil }
        state.wake = wake
        state.timer = Task { [weak self, time] in
            await time.wait(until: wake)
            if !Task.isCancelled { self?.timerFired(wake) }
        }
        return stale
    }

    private func timerFired(_ wake: ContinuousClock.Instant) {
        let now = time.now
        let (isMine, fired, stale) = state.withLock { state -> (Bool, Task<Void, Never>?, Task<Void, Never>?) in
            guard state.wake == wake else { return (false, nil, nil) }
            let fired = state.timer
            (state.timer, state.wake) = (nil, nil)
            if state.phase == moving, let last = state.lastByte, last.duration(to: now) >= Self.stall {
                (state.phase, state.isDirty) = (.stalled, true)
                publish(&state, now)
            } else if state.isDirty, isDue(state, now) {
                publish(&state, now)
            }
            let stale = arm(&state)
            return (startDelivery(&state), fired, stale)
        }
        withExtendedLifetime(fired) {}
        stale?.cancel()
        if isMine { deliverAll() }
    }
}

/// The average rate of the last five seconds in bytes per second. Counts bytes in steps of half a second.
struct Throughput: Sendable {
    private var steps: [(start: ContinuousClock.Instant, count: Int64)] = []

    /// Starts counting again, because the wait before an attempt doesn't mean that the network is slow.
    mutating func restart(_ now: ContinuousClock.Instant) { steps = [(now, 0)] }

    mutating func add(_ count: Int64, _ now: ContinuousClock.Instant) {
        if let last = steps.last, last.start.duration(to: now) < .milliseconds(500) {
            steps[steps.count - 1].count += count
        } else {
            steps.append((now, count))
            if steps.count > 11 { steps.removeFirst() }
        }
    }

    func value(_ now: ContinuousClock.Instant) -> Double {
        guard let first = steps.first else { return 0 }
        let seconds = first.start.duration(to: now) / .seconds(1)
        return seconds > 0 ? Double(steps.reduce(0) { $0 + $1.count }) / seconds : 0
    }
}
