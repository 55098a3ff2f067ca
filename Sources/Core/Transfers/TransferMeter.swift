import ErrandEssentials
import ErrandSupport
import Synchronization

/// The state of a transfer, as far as its meter has to know it.
package protocol TransferPhase: Sendable, Hashable {
    /// An attempt has begun; no byte has moved.
    static var connecting: Self { get }
    /// Bytes move.
    static var moving: Self { get }
    /// No byte has moved for a while.
    static var stalled: Self { get }
    static var finished: Self { get }
    /// Whether the rate of the last seconds is shown.
    var showsRate: Bool { get }
}

/// What a meter reports.
package struct TransferReport<Phase: TransferPhase>: Sendable {
    package var count: Int64
    package var total: Int64?
    package var rate = 0.0
    package var timeLeft: Duration?
    package var phase: Phase
}

/// Counts the bytes of a transfer and reports them: in order, at intervals, and always with the last report.
package final class TransferMeter<Phase: TransferPhase>: Sendable {
    package typealias Report = TransferReport<Phase>

    private struct State {
        var count: Int64 = 0
        var total: Int64?
        var phase = Phase.connecting
        var rate = Throughput()
        var lastByte: ContinuousClock.Instant?
        /// Whether something changed since the last report.
        var isDirty = false
        var published: Report?
        var publishedAt: ContinuousClock.Instant?
        var timer: Task<Void, Never>?
        var wake: ContinuousClock.Instant?
        /// Reports that one thread delivers, in order.
        var outbox = FIFOQueue<Report>()
        var isDelivering = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let interval: Duration
    private let mayFall: Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (ContinuousClock.Instant) async throws -> Void
    private let deliver: @Sendable (Report) -> Void
    /// The inactivity after which a transfer counts as stalled.
    package static var stall: Duration { .seconds(5) }

    /// - Parameters:
    ///   - interval: the shortest time between two reports while bytes move.
    ///   - mayFall: whether an attempt may begin with fewer bytes than were reported.
    ///   - now: the time of the clock.
    ///   - sleep: waits until a time of that clock.
    ///   - deliver: receives the reports, one at a time.
    package init(
        interval: Duration, mayFall: Bool, now: @escaping @Sendable () -> ContinuousClock.Instant,
        sleep: @escaping @Sendable (ContinuousClock.Instant) async throws -> Void,
        deliver: @escaping @Sendable (Report) -> Void
    ) {
        (self.interval, self.mayFall, self.now, self.sleep, self.deliver) = (interval, mayFall, now, sleep, deliver)
    }

    deinit { state.withLock(\.timer)?.cancel() }

    /// An attempt begins, with so many bytes of earlier ones.
    package func begin(at count: Int64, total: Int64?) {
        update(isForced: true) { state, now in
            (state.count, state.total, state.phase, state.lastByte) = (count, total, .connecting, nil)
            state.rate.restart(now)
        }
    }

    package func add(_ count: Int64) {
        update(isForced: false) { state, now in
            state.count += count
            (state.phase, state.lastByte) = (.moving, now)
            state.rate.add(count, now)
        }
    }

    /// So many bytes more, or fewer, count as moved by earlier attempts: the rate is not theirs.
    package func shift(by count: Int64) { update(isForced: true) { state, _ in state.count += count } }

    /// Reports the state of the transfer, and the bytes not reported yet.
    package func set(_ phase: Phase) { update(isForced: true) { state, _ in state.phase = phase } }

    /// The transfer is complete.
    package func end(at total: Int64) {
        update(isForced: true) { state, _ in (state.count, state.total, state.phase) = (total, total, .finished) }
    }

    /// Returns once every report so far is delivered, by any thread.
    package func allDelivered() async {
        await withCheckedContinuation { waiter in
            let isBusy = state.withLock { state in
                if state.isDelivering { state.waiters.append(waiter) }
                return state.isDelivering
            }
            if !isBusy { waiter.resume() }
        }
    }

    private func update(isForced: Bool, _ change: (inout State, ContinuousClock.Instant) -> Void) {
        let read = now()
        let (isMine, stale) = state.withLock { state in
            // Another thread may have read the clock later and come first.
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
        var report = Report(count: state.count, total: state.total, phase: state.phase)
        if !mayFall { report.count = max(report.count, state.published?.count ?? 0) }
        if let total = state.total { report.count = min(report.count, total) }
        if state.phase.showsRate { report.rate = state.rate.value(now) }
        if report.count == state.total {
            report.timeLeft = .zero
        } else if let total = state.total, report.rate >= 1 {
            report.timeLeft = .seconds(min(1e9, Double(total - report.count) / report.rate))
        }
        if let last = state.published, last.count == report.count, last.total == report.total,
            last.phase == report.phase
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
            let (next, waiters) = state.withLock { state -> (Report?, [CheckedContinuation<Void, Never>]) in
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

    /// Sets the timer for the next report, or for the moment when the transfer counts as stalled.
    ///
    /// Returns the timer that is no longer needed, to be cancelled outside of the lock: that runs code of the time source.
    private func arm(_ state: inout State) -> Task<Void, Never>? {
        let stale = state.timer
        var wake: ContinuousClock.Instant?
        if state.isDirty, let last = state.publishedAt {
            wake = last.advanced(by: interval)
        } else if state.phase == .moving, let last = state.lastByte {
            wake = last.advanced(by: Self.stall)
        }
        guard let wake else {
            (state.timer, state.wake) = (nil, nil)
            return stale
        }
        // A timer that fires earlier sets the next one.
        if let set = state.wake, set <= wake { return nil }
        state.wake = wake
        state.timer = Task { [weak self, sleep] in
            try? await sleep(wake)
            if !Task.isCancelled { self?.timerFired(wake) }
        }
        return stale
    }

    private func timerFired(_ wake: ContinuousClock.Instant) {
        let now = now()
        let (isMine, fired, stale) = state.withLock { state -> (Bool, Task<Void, Never>?, Task<Void, Never>?) in
            guard state.wake == wake else { return (false, nil, nil) }
            let fired = state.timer
            (state.timer, state.wake) = (nil, nil)
            if state.phase == .moving, let last = state.lastByte, last.duration(to: now) >= Self.stall {
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
