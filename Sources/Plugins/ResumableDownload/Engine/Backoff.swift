/// The wait before the next attempt.
enum Backoff {
    /// A random duration up to a bound that doubles with each attempt, up to `limit`, so that many clients do not return at
    /// once. `attempt` counts from 1.
    static func delay(
        attempt number: Int, base: Duration, limit: Duration, random: Double = .random(in: 0...1)
    ) -> Duration {
        var delay = base
        for _ in 1..<max(1, min(number, 64)) where delay < limit { delay = delay * 2 }
        return min(delay, limit) * max(0, min(1, random))
    }
}
