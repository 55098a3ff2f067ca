import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// The agent's clock in a run of a law. It moves on to the next sleeper when nothing else happens.
final class LawClock: TimeSource {
    private let manual: ManualTimeSource
    private let steps = Atomic(0)

    /// - Parameter date: The date at the beginning. Defaults to one in 2001.
    init(date: Date? = nil) { manual = date.map { ManualTimeSource(date: $0) } ?? ManualTimeSource() }

    var now: ContinuousClock.Instant { manual.now }
    var date: Date { manual.date }

    /// Grows with everything that happens.
    var activity: Int { steps.load(ordering: .relaxed) }

    func noteActivity() { steps.add(1, ordering: .relaxed) }

    func sleep(until instant: ContinuousClock.Instant) async throws {
        noteActivity()
        defer { noteActivity() }
        try await manual.sleep(until: instant)
    }

    /// Lets time pass for limits and tables that forget.
    func pass(_ duration: Duration) { manual.advance(by: duration) }

    /// Moves on whenever nothing has happened for a while, and returns when nothing can happen anymore.
    func drive(patience: Duration, isServerWaiting: @Sendable () -> Bool) async throws {
        var (last, idle) = (activity, 0)
        while true {
            try await Task.sleep(for: .milliseconds(1))
            if activity != last {
                (last, idle) = (activity, 0)
                continue
            }
            idle += 1
            // A filter may be at work, so the clock waits longer if the server doesn't.
            let wait = Int(patience / .milliseconds(1)) * (isServerWaiting() ? 1 : 4)
            if let wake = manual.nextWake {
                if idle >= wait {
                    manual.advance(to: wake)
                    idle = 0
                }
            } else if idle >= min(wait * 20, 3_000) {
                return
            }
        }
    }
}
