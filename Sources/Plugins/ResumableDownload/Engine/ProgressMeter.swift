import Errand
import Synchronization

/// Counts bytes and reports them: in order, never backwards, at intervals, and always with the last report.
final class ProgressMeter: Sendable {
    private struct State {
        var received: Int64 = 0
        var total: Int64?
        var activity = DownloadState.connecting
        var rate = Throughput()
        var lastByte: ContinuousClock.Instant?
        /// Whether something changed since the last report.
        var isDirty = false
        var published: DownloadProgress?
        var publishedAt: ContinuousClock.Instant?
        var timer: Task<Void, Never>?
        var wake: ContinuousClock.Instant?
        /// Reports that one thread delivers, in order.
        var outbox: [DownloadProgress] = []
        var isDelivering = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let interval: Duration
    private let time: any TimeSource
    private let deliver: @Sendable (DownloadProgress) -> Void
    /// The inactivity after which a transfer counts as stalled.
    static let stall = Duration.seconds(5)

    init(interval: Duration, time: any TimeSource, deliver: @escaping @Sendable (DownloadProgress) -> Void) {
        (self.interval, self.time, self.deliver) = (interval, time, deliver)
    }

    deinit { state.withLock { $0.timer?.cancel() } }

    /// An attempt begins, with `received` bytes on disk.
    func begin(at received: Int64, total: Int64?) {
        update(isForced: true) { state, now in
            (state.received, state.total, state.activity, state.lastByte) = (received, total, .connecting, nil)
            state.rate.restart(now)
        }
    }

    func add(_ count: Int64) {
        update(isForced: false) { state, now in
            state.received += count
            (state.activity, state.lastByte) = (.receiving, now)
            state.rate.add(count, now)
        }
    }

    /// Reports the state of the download, and the bytes not reported yet.
    func set(_ activity: DownloadState) { update(isForced: true) { state, _ in state.activity = activity } }

    /// The file is in its place.
    func end(at total: Int64) {
        update(isForced: true) { state, _ in
            (state.received, state.total, state.activity) = (total, total, .finished)
        }
    }

    /// Returns once every report so far is delivered, by any thread.
    func allDelivered() async {
        await withCheckedContinuation { waiter in
            let isBusy = state.withLock { state in
                if state.isDelivering { state.waiters.append(waiter) }
                return state.isDelivering
            }
            if !isBusy { waiter.resume() }
        }
    }

    private func update(isForced: Bool, _ change: (inout State, ContinuousClock.Instant) -> Void) {
        let isMine = state.withLock { state in
            let now = time.now
            change(&state, now)
            state.isDirty = true
            if isForced || isDue(state, now) { publish(&state, now) }
            arm(&state)
            return startDelivery(&state)
        }
        if isMine { deliverAll() }
    }

    private func isDue(_ state: State, _ now: ContinuousClock.Instant) -> Bool {
        state.publishedAt.map { $0.duration(to: now) >= interval } ?? true
    }

    private func publish(_ state: inout State, _ now: ContinuousClock.Instant) {
        state.isDirty = false
        var progress = DownloadProgress(received: state.received, total: state.total, state: state.activity)
        progress.received = max(progress.received, state.published?.received ?? 0)
        if let total = state.total { progress.received = min(progress.received, total) }
        if [.connecting, .receiving, .verifying, .finished].contains(state.activity) {
            progress.rate = state.rate.value(now)
        }
        if progress.received == state.total {
            progress.timeLeft = .zero
        } else if let total = state.total, progress.rate >= 1 {
            progress.timeLeft = .seconds(min(1e9, Double(total - progress.received) / progress.rate))
        }
        if let last = state.published, last.received == progress.received, last.total == progress.total,
            last.state == progress.state
        {
            return
        }
        (state.published, state.publishedAt) = (progress, now)
        state.outbox.append(progress)
    }

    private func startDelivery(_ state: inout State) -> Bool {
        if state.outbox.isEmpty || state.isDelivering { return false }
        state.isDelivering = true
        return true
    }

    private func deliverAll() {
        while true {
            let (next, waiters) = state.withLock { state -> (DownloadProgress?, [CheckedContinuation<Void, Never>]) in
                if !state.outbox.isEmpty { return (state.outbox.removeFirst(), []) }
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
    private func arm(_ state: inout State) {
        var wake: ContinuousClock.Instant?
        if state.isDirty, let last = state.publishedAt {
            wake = last.advanced(by: interval)
        } else if state.activity == .receiving, let last = state.lastByte {
            wake = last.advanced(by: Self.stall)
        }
        guard let wake else {
            state.timer?.cancel()
            (state.timer, state.wake) = (nil, nil)
            return
        }
        // A timer that fires earlier sets the next one.
        if let set = state.wake, set <= wake { return }
        state.timer?.cancel()
        state.wake = wake
        state.timer = Task { [weak self, time] in
            try? await time.sleep(until: wake)
            if !Task.isCancelled { self?.timerFired(wake) }
        }
    }

    private func timerFired(_ wake: ContinuousClock.Instant) {
        let isMine = state.withLock { state in
            guard state.wake == wake else { return false }
            (state.timer, state.wake) = (nil, nil)
            let now = time.now
            if state.activity == .receiving, let last = state.lastByte, last.duration(to: now) >= Self.stall {
                (state.activity, state.isDirty) = (.stalled, true)
                publish(&state, now)
            } else if state.isDirty, isDue(state, now) {
                publish(&state, now)
            }
            arm(&state)
            return startDelivery(&state)
        }
        if isMine { deliverAll() }
    }
}
