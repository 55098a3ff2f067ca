import Errand
import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

/// How far the clocks of servers differ from the agent's, in seconds by origin.
final class ClockOffsets: Sendable {
    /// Smaller differences aren't a reason for a refusal.
    private static let tolerance = 5.0
    /// A longer difference is a broken server, not a clock.
    private static let longest = 50 * 365 * 86400.0
    private static let maximumOrigins = 64

    private let known = Mutex<[String: Double]>([:])

    func offset(for origin: String) -> Double { known.withLock { $0[origin] ?? 0 } }

    /// Returns the offset if the signature's date differs from the date of a refusal. Remembers it.
    func learned(
        from response: HTTPResponse, for origin: String, signedAt date: Date, now: Date
    ) -> Double? {
        // An age means that a cache responded, with an older date.
        guard response.headers[.age] == nil, response.headers.values(of: .date).count == 1,
            let text = response.headers[.date], let theirs = HTTPDate.parse(text, now: now),
            abs(theirs.timeIntervalSince(date)) > Self.tolerance,
            abs(theirs.timeIntervalSince(now)) < Self.longest
        else { return nil }
        // The field counts whole seconds.
        let offset = theirs.timeIntervalSince(now) + 0.5
        known.withLock { known in
            if known[origin] == nil, known.count >= Self.maximumOrigins { known.removeAll() }
            known[origin] = offset
        }
        return offset
    }
}
