import Errand
import ErrandEssentials
import ErrandTesting

/// The time of a case: a wait that ends before the horizon is short, and advances the time; one that ends later lasts
/// until it is cancelled.
final class BenchTime: TimeSource {
    private let manual = ManualTimeSource()
    private let horizon: Watched<ContinuousClock.Instant>
    private let pace: Duration
    private let waits = Watched<[Duration]>([])

    /// - Parameters:
    ///   - horizon: the horizon at the beginning.
    ///   - pace: the real duration of a short wait, so that the operation it limits ends first.
    init(horizon: Duration, pace: Duration = .milliseconds(2)) {
        (self.horizon, self.pace) = (Watched(manual.now.advanced(by: horizon)), pace)
    }

    var now: ContinuousClock.Instant { manual.now }
    var date: Date { manual.date }

    /// The longest of the waits that last.
    var longest: Duration? { waits.read { $0.max() } }

    /// Advances the time; the horizon keeps its distance.
    func pass(_ duration: Duration) {
        horizon.update { $0 = $0.advanced(by: duration) }
        manual.advance(by: duration)
    }

    /// Makes every wait that begins from now on last.
    func hold() { horizon.update { [now] in $0 = now } }

    func sleep(until instant: ContinuousClock.Instant) async throws {
        if instant < horizon.read({ $0 }) {
            if pace > .zero { try await Task.sleep(for: pace) } else { await Task.yield() }
            try Task.checkCancellation()
            return manual.advance(to: instant)
        }
        let wait = manual.now.duration(to: instant)
        waits.update { $0.append(wait) }
        defer { waits.update { waits in waits.firstIndex(of: wait).map { _ = waits.remove(at: $0) } } }
        try await manual.sleep(until: instant)
    }
}
