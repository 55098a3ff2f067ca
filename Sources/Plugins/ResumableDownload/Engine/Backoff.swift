/// How long to wait before the next attempt.
enum Backoff {
    /// Twice as long after each attempt, up to a limit, and at random between nothing and that, so that many clients do not
    /// come back at once. `attempt` counts from 1.
    static func delay(
        attempt number: Int, base: Duration, limit: Duration, random: Double = .random(in: 0...1)
    ) -> Duration {
        var delay = base
        for _ in 1..<max(1, min(number, 64)) where delay < limit { delay = delay * 2 }
        return min(delay, limit) * max(0, min(1, random))
    }
}
