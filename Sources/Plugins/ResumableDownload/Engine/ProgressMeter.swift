import Errand
import ErrandSupport
import Synchronization

/// Counts bytes and tells of them, not too often, and never backwards.
final class ProgressMeter: Sendable {
    private struct State {
        var received: Int64 = 0
        var total: Int64?
        var told: DownloadProgress?
        var lastTold: ContinuousClock.Instant?
        var rate = RateWindow()
    }

    private let state: Mutex<State>
    private let interval: Duration
    private let time: any TimeSource
    private let events = OrderedEvents<DownloadProgress>()
    private let tell: @Sendable (DownloadProgress) -> Void

    init(interval: Duration, time: any TimeSource, tell: @escaping @Sendable (DownloadProgress) -> Void) {
        (self.interval, self.time, self.tell) = (interval, time, tell)
        state = Mutex(State())
    }

    /// A try begins, with so many bytes here.
    func begin(at received: Int64, total: Int64?) {
        report(isForced: true) { state, now in
            (state.received, state.total) = (received, total)
            state.rate.restart(now)
        }
    }

    func add(_ count: Int64) {
        report(isForced: false) { state, now in
            state.received += count
            state.rate.add(count, now)
        }
    }

    /// The last report, with nothing missing.
    func end(at total: Int64) { report(isForced: true) { state, _ in (state.received, state.total) = (total, total) } }

    private func report(isForced: Bool, _ change: (inout State, ContinuousClock.Instant) -> Void) {
        let now = time.now
        let news = state.withLock { state -> DownloadProgress? in
            change(&state, now)
            if !isForced, let last = state.lastTold, last.duration(to: now) < interval { return nil }
            var progress = DownloadProgress(received: state.received, total: state.total, rate: state.rate.value(now))
            progress.received = max(progress.received, state.told?.received ?? 0)
            if let total = state.total { progress.received = min(progress.received, total) }
            if let total = state.total, progress.rate >= 1, progress.received < total {
                progress.timeLeft = .seconds(min(1e9, Double(total - progress.received) / progress.rate))
            } else if progress.received == state.total {
                progress.timeLeft = .zero
            }
            if let told = state.told, told.received == progress.received, told.total == progress.total { return nil }
            (state.told, state.lastTold) = (progress, now)
            return progress
        }
        if let news { events.tell(news, to: tell) }
    }
}

/// Bytes a second over the last five seconds, in steps of half a second.
struct RateWindow: Sendable {
    private var steps: [(start: ContinuousClock.Instant, count: Int64)] = []

    /// A wait between two tries is no slow network.
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
        let passed = first.start.duration(to: now).components
        let seconds = Double(passed.seconds) + Double(passed.attoseconds) / 1e18
        return seconds > 0 ? Double(steps.reduce(0) { $0 + $1.count }) / seconds : 0
    }
}
