/// The entries in one lane, and the state of the lane's first entry. Entries are sent one after another.
struct OutboxLane: Sendable {
    /// The entries' numbers, oldest first. It also contains outdated numbers: numbers before `start`, and numbers of
    /// removed entries.
    private var ids: [UInt64] = []
    private var start = 0
    /// The entry for which the queue's heap of turns contains this lane. It's nil if the heap doesn't contain the lane.
    var noted: UInt64?
    var count = 0

    var failed: UInt64?
    var failures = 0
    var lastError: String?
    var wait: ContinuousClock.Instant?
    var running: UInt64?
    var stopped: UInt64?

    mutating func add(_ id: UInt64) {
        ids.append(id)
        count += 1
    }

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

    mutating func keepFailures(of other: OutboxLane, _ first: UInt64) {
        guard other.failed == first else { return }
        (failed, failures, lastError) = (first, other.failures, other.lastError)
        (wait, stopped) = (other.wait, other.stopped)
    }

    mutating func stop(_ id: UInt64, error: String?) { (failed, lastError, stopped) = (id, error, id) }

    mutating func noteFailure(_ id: UInt64, error: String) {
        if failed != id { failures = 0 }
        (failed, lastError) = (id, error)
    }

    /// Forgets the lane's failures. Call it if the first entry has changed or may succeed now.
    mutating func startOver() { (failed, failures, lastError, wait, stopped) = (nil, 0, nil, nil, nil) }
}
