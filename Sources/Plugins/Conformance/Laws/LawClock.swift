import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// The agent's clock. If the run is idle, the clock advances to the time when the next sleeper wakes.
final class LawClock: TimeSource {
    private let manual: ManualTimeSource
    private let steps = Atomic(0)
    private let offset = Mutex(TimeInterval(0))

    /// The date defaults to 2001.
    init(date: Date? = nil) { manual = date.map { ManualTimeSource(date: $0) } ?? ManualTimeSource() }

    var now: ContinuousClock.Instant { manual.now }
    var date: Date { manual.date + offset.withLock { $0 } }

    /// Sets the date back or forward, as a user can. The time that passes isn't affected.
    func setDate(by jump: TimeInterval) { offset.withLock { $0 += jump } }

    var activity: Int { steps.load(ordering: .relaxed) }

    func noteActivity() { steps.add(1, ordering: .relaxed) }

    func sleep(until instant: ContinuousClock.Instant) async throws {
        noteActivity()
        defer { noteActivity() }
        try await manual.sleep(until: instant)
    }

    func pass(_ duration: Duration) { manual.advance(by: duration) }

    /// Returns once the run stays idle and no task sleeps on the clock, or after it has woken tasks `wakes` times.
    func drive(patience: Duration, wakes: Int = .max, isServerWaiting: @Sendable () -> Bool) async throws {
        var (last, idle, count) = (activity, 0, 0)
        while true {
            try await Task.sleep(for: .milliseconds(1))
            if activity != last {
                (last, idle) = (activity, 0)
                continue
            }
            idle += 1
            // If the server isn't waiting, the filter may be working.
            let wait = Int(patience / .milliseconds(1)) * (isServerWaiting() ? 1 : 4)
            if let wake = manual.nextWake {
                if idle >= wait {
                    if count >= wakes { return }
                    manual.advance(to: wake)
                    (idle, count) = (0, count + 1)
                }
            } else if idle >= min(wait * 20, 3_000) {
                return
            }
        }
    }
}
