import Errand
import Synchronization

/// The breaker of one host: closed, open, or half open with a running probe.
final class BreakerState: HostRecord {
    /// The phase in which a request was sent. The request's result counts only if the phase is still the same.
    struct Ticket: Sendable {
        fileprivate let generation: Int
    }

    enum Result { case success, failure, neither }

    /// A change to report to accessories: the breaker has opened or closed, or stays open after a failed probe.
    struct Change {
        let isOpen: Bool
        let message: String
    }

    private enum Phase {
        case closed
        case open(until: Duration)
        case probing
    }

    private struct State {
        var phase = Phase.closed
        var running = 0
        var isRetired = false
        var generation = 0
        var pause: Duration?
        var results = ResultWindow()

        mutating func enter(_ phase: Phase) {
            self.phase = phase
            generation += 1
            results = ResultWindow()
        }
    }

    let host: String
    private let policy: BreakerPolicy
    /// Times are relative to this instant, as in ``HostLine``.
    private let origin: ContinuousClock.Instant
    private let state = Mutex(State())

    init(_ host: String, _ policy: BreakerPolicy, at now: ContinuousClock.Instant) {
        (self.host, self.policy, origin) = (host, policy, now)
    }

    func retire(at now: ContinuousClock.Instant, isForced: Bool) -> Bool {
        let now = origin.duration(to: now)
        return state.withLock { state in
            if state.running > 0 { return false }
            var isFresh = false
            if case .closed = state.phase { isFresh = state.results.isOver(at: now, window: policy.window) }
            state.isRetired = isFresh || isForced
            return state.isRetired
        }
    }

    /// Returns nil if the record is retired.
    func enter(at now: ContinuousClock.Instant) throws -> Ticket? {
        let now = origin.duration(to: now)
        return try state.withLock { state in
            if state.isRetired { return nil }
            switch state.phase {
            case .closed: break
            case .probing: throw ResilienceError(.breakerOpen, host: host, "a probe is in progress")
            case .open(let until):
                guard now >= until else {
                    let remaining = until - now
                    throw ResilienceError(
                        .breakerOpen, host: host, remaining: remaining,
                        "too many requests to this host have failed; requests are rejected for another \(duration: remaining)"
                    )
                }
                state.enter(.probing)
            }
            state.running += 1
            return Ticket(generation: state.generation)
        }
    }

    func leave(_ ticket: Ticket, _ result: Result, at now: ContinuousClock.Instant) -> Change? {
        let now = origin.duration(to: now)
        return state.withLock { state in
            state.running -= 1
            guard ticket.generation == state.generation else { return nil }
            switch (state.phase, result) {
            case (.probing, .success):
                state.enter(.closed)
                state.pause = nil
                return Change(isOpen: false, message: "closed: the probe of \(host) succeeded")
            case (.probing, .failure):
                let pause = min((state.pause ?? basePause) * 2, longestPause)
                state.pause = pause
                state.enter(.open(until: now + pause))
                return Change(isOpen: true, message: "open for \(duration: pause): the probe of \(host) failed")
            case (.probing, .neither):
                // The probe ended without a result, for example by cancellation. The next request is the probe.
                state.enter(.open(until: now))
                return nil
            case (.closed, .success), (.closed, .failure):
                state.results.add(isFailure: result == .failure, at: now, window: policy.window)
                guard result == .failure else { return nil }
                let (all, failures) = state.results.counts
                guard all >= policy.minimumRequests, Double(failures) >= policy.failureShare * Double(all) else {
                    return nil
                }
                state.pause = basePause
                state.enter(.open(until: now + basePause))
                let message = "open for \(duration: basePause): \(failures) of \(all) requests to \(host) failed"
                return Change(isOpen: true, message: message)
            case (.closed, .neither), (.open, _):
                return nil
            }
        }
    }

    private var basePause: Duration { min(max(policy.pause, .zero), longestPause) }
    private var longestPause: Duration { policy.maximumPause.bounded }
}

/// Counts the results in ten intervals of a window of time.
struct ResultWindow {
    private var parts: [(number: Int64, all: Int, failures: Int)] = []

    var counts: (all: Int, failures: Int) { parts.reduce((0, 0)) { ($0.0 + $1.all, $0.1 + $1.failures) } }

    func isOver(at now: Duration, window: Duration) -> Bool {
        guard let last = parts.last else { return true }
        return last.number <= Self.number(of: now, window) - 10
    }

    private static func number(of now: Duration, _ window: Duration) -> Int64 {
        let tenth = max(window / 10, .milliseconds(1))
        return Int64(min(max(0, now / tenth), 1e15))
    }

    mutating func add(isFailure: Bool, at now: Duration, window: Duration) {
        let number = Self.number(of: now, window)
        if parts.last?.number != number {
            parts.removeAll { $0.number <= number - 10 }
            parts.append((number, 0, 0))
        }
        parts[parts.count - 1].all += 1
        if isFailure { parts[parts.count - 1].failures += 1 }
    }
}
