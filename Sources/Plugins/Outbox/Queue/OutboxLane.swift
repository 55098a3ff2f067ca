/// The entries of a lane in their order, and what this process knows of the first one.
struct OutboxLane: Sendable {
    /// The entries, the oldest first; those before `start`, and those that are gone meanwhile, count no longer.
    private var ids: [UInt64] = []
    private var start = 0
    /// The first entry, if the lane is noted among those that may be sent.
    var noted: UInt64?
    /// How many entries count.
    var count = 0

    /// The entry whose delivery failed last, how many times in a row, and why.
    var failed: UInt64?
    var failures = 0
    var lastError: String?
    /// The end of the wait after a failure.
    var wait: ContinuousClock.Instant?
    /// The entry that is being sent.
    var running: UInt64?
    /// The entry that was refused.
    var stopped: UInt64?

    mutating func add(_ id: UInt64) {
        ids.append(id)
        count += 1
    }

    /// The oldest entry that still exists.
    mutating func first(where exists: (UInt64) -> Bool) -> UInt64? {
        while start < ids.count, !exists(ids[start]) { start += 1 }
        if start > 32, start > ids.count / 2 {
            ids.removeFirst(start)
            start = 0
        }
        return start < ids.count ? ids[start] : nil
    }

    mutating func delay(_ id: UInt64, until end: ContinuousClock.Instant, error: String?) {
        failures = failed == id ? failures + 1 : 1
        (failed, lastError, wait) = (id, error, end)
    }

    /// Takes over what is known of the first entry.
    mutating func keepFailures(of other: OutboxLane, _ first: UInt64) {
        guard other.failed == first else { return }
        (failed, failures, lastError) = (first, other.failures, other.lastError)
        (wait, stopped) = (other.wait, other.stopped)
    }

    mutating func stop(_ id: UInt64, error: String?) { (failed, lastError, stopped) = (id, error, id) }

    /// Shows why the outcome of an entry isn't recorded yet.
    mutating func noteFailure(_ id: UInt64, error: String) {
        if failed != id { failures = 0 }
        (failed, lastError) = (id, error)
    }

    /// Forgets the failures, because the first entry changes, or may succeed now.
    mutating func startOver() { (failed, failures, lastError, wait, stopped) = (nil, 0, nil, nil, nil) }
}
