/// Bytes a second over the last five seconds, in steps of half a second.
package struct Throughput: Sendable {
    private var steps: [(start: ContinuousClock.Instant, count: Int64)] = []

    package init() {}

    /// Starts a new window, since a wait between two attempts is not a slow network.
    package mutating func restart(_ now: ContinuousClock.Instant) { steps = [(now, 0)] }

    package mutating func add(_ count: Int64, _ now: ContinuousClock.Instant) {
        if let last = steps.last, last.start.duration(to: now) < .milliseconds(500) {
            steps[steps.count - 1].count += count
        } else {
            steps.append((now, count))
            if steps.count > 11 { steps.removeFirst() }
        }
    }

    package func value(_ now: ContinuousClock.Instant) -> Double {
        guard let first = steps.first else { return 0 }
        let seconds = first.start.duration(to: now) / .seconds(1)
        return seconds > 0 ? Double(steps.reduce(0) { $0 + $1.count }) / seconds : 0
    }
}
