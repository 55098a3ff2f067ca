import ErrandEssentials

extension OutboxEntry {
    init(_ entry: StoredEntry, in queue: borrowing OutboxQueue) {
        let lane = queue.lanes[entry.lane]
        let hasFailed = lane?.failed == entry.id
        var state = State.waiting
        if lane?.running == entry.id {
            state = .sending
        } else if lane?.stopped == entry.id {
            state = .stopped
        } else if hasFailed, let wait = lane?.wait {
            state = .delayed(until: wait)
        } else if !entry.dependencies.isEmpty, !entry.isOrphaned {
            state = .blocked
        }
        self.init(
            id: ID(rawValue: entry.id), name: entry.name, lane: entry.lane, enqueued: entry.enqueued,
            expiry: entry.expiry, idempotencyKey: entry.key.uuidString.lowercased(), state: state,
            failures: hasFailed ? lane?.failures ?? 0 : 0, lastError: hasFailed ? lane?.lastError : nil)
    }
}
