import ErrandSupport

/// The entries of an outbox. The queue chooses the next entry to send. It doesn't use files or a clock.
///
/// ``apply(_:)`` and ``apply(_:_:)`` apply the log's records, with the same result in each process. All other changes
/// are local to this process.
struct OutboxQueue: Sendable {
    /// Identifies entries that replace each other. A new entry replaces an older entry in the same slot.
    struct Slot: Hashable, Sendable {
        let name, lane, key: String
    }

    private(set) var entries: [UInt64: StoredEntry] = [:]
    var lanes: [String: OutboxLane] = [:]
    private(set) var next: UInt64 = 1
    private(set) var byteCount: Int64 = 0
    /// The lanes of the running deliveries, by the numbers of their entries. A delivery occupies its lane until
    /// ``ended(_:)``, even if its entry was removed, because its request may still be on the way to the server.
    private(set) var running: [UInt64: String] = [:]
    var revision: UInt64 = 0
    private var dependents: [UInt64: [UInt64]] = [:]
    private var slots: [Slot: [UInt64]] = [:]
    /// The lanes whose first entry can be sent now. Can contain outdated elements.
    var turns = BinaryHeap<Turn>()
    var waits = BinaryHeap<Wait>()
    /// The wait after attempts that didn't reach a server. During the wait, all lanes wait. After the wait, only the
    /// entry `attempt` is sent.
    var network: (failures: Int, wait: ContinuousClock.Instant, attempt: UInt64?)?

    /// Adds an entry or replaces its content. An entry that exists keeps its lane.
    mutating func apply(_ entry: StoredEntry) {
        var entry = entry
        let old = entries[entry.id]
        if let old {
            entry.lane = old.lane
            release(old)
        } else {
            lanes[entry.lane, default: OutboxLane()].add(entry.id)
        }
        // If a dependency is missing here, its record is damaged, because an entry can depend only on entries that
        // existed when it was enqueued.
        entry.lostDependencies = entry.dependencies.filter { entries[$0] == nil }
        entry.dependencies = known(entry.dependencies)
        for dependency in entry.dependencies + entry.lostDependencies {
            dependents[dependency, default: []].append(entry.id)
        }
        if let slot = Self.slot(entry) { slots[slot, default: []].append(entry.id) }
        byteCount += Int64(entry.extent.length)
        next = max(next, entry.id &+ 1)
        entries[entry.id] = entry
        // The lane's failures belong to the entry's old content, so they are forgotten, unless a delivery of the old
        // content is still running.
        if old != nil, first(of: entry.lane) == entry.id, let lane = lanes[entry.lane],
            lane.running != entry.id || lane.wait != nil || lane.stopped != nil
        {
            lanes[entry.lane]?.startOver()
        }
        look(at: entry.lane)
    }

    mutating func apply(_ kind: OutboxFormat.Kind, _ id: UInt64) {
        switch kind {
        case .next: next = max(next, id)
        case .put: break
        case .begun: entries[id]?.isBegun = true
        case .released: entries[id]?.isBegun = false
        case .sent:
            // Earlier entries in the lane were sent or removed too, even if their own records are damaged.
            guard let lane = entries[id]?.lane else { return findSent(id) }
            while let first = first(of: lane), first < id { remove(first, wasSent: true) }
            remove(id, wasSent: true)
        case .removed: remove(id, wasSent: false)
        }
    }

    /// Removes an entry whose record is damaged. Entries that depend on it keep the dependency, because a later record
    /// may show that it was sent.
    mutating func lose(_ id: UInt64) { remove(id, wasSent: false, isLost: true) }

    func contains(_ id: UInt64) -> Bool { entries[id] != nil }

    func isAwaited(_ id: UInt64) -> Bool { contains(id) || dependents[id] != nil }

    /// Removes the dependency on an entry that was sent, if the entry's own record is damaged.
    private mutating func findSent(_ id: UInt64) {
        for dependent in dependents.removeValue(forKey: id) ?? [] {
            guard let lane = entries[dependent]?.lane else { continue }
            entries[dependent]?.lostDependencies.removeAll { $0 == id }
            look(at: lane)
        }
    }

    private mutating func remove(_ id: UInt64, wasSent: Bool, isLost: Bool = false) {
        guard let entry = entries[id] else { return }
        let wasFirst = first(of: entry.lane) == id
        entries[id] = nil
        revision += 1
        release(entry)
        lanes[entry.lane]?.count -= 1
        if wasFirst { lanes[entry.lane]?.startOver() }
        lookAgain(at: entry.lane)
        let waiting = (isLost ? dependents[id] : dependents.removeValue(forKey: id)) ?? []
        for dependent in waiting {
            guard let lane = entries[dependent]?.lane else { continue }
            entries[dependent]?.dependencies.removeAll { $0 == id }
            if isLost {
                entries[dependent]?.lostDependencies.append(id)
            } else if !wasSent {
                entries[dependent]?.hasDroppedDependency = true
            }
            look(at: lane)
        }
    }

    /// Removes a lane without entries and without a delivery, or looks at its first entry.
    private mutating func lookAgain(at lane: String) {
        if lanes[lane]?.count == 0, lanes[lane]?.running == nil { lanes[lane] = nil } else { look(at: lane) }
    }

    private mutating func release(_ entry: StoredEntry) {
        byteCount -= Int64(entry.extent.length)
        if let slot = Self.slot(entry) {
            slots[slot]?.removeAll { $0 == entry.id }
            if slots[slot]?.isEmpty == true { slots[slot] = nil }
        }
        for dependency in entry.dependencies + entry.lostDependencies {
            dependents[dependency]?.removeAll { $0 == entry.id }
            if dependents[dependency]?.isEmpty == true { dependents[dependency] = nil }
        }
    }

    /// Returns the numbers of entries that exist, each number once.
    func known(_ ids: [UInt64]) -> [UInt64] {
        var seen: Set<UInt64> = []
        return ids.filter { entries[$0] != nil && seen.insert($0).inserted }
    }

    private static func slot(_ entry: StoredEntry) -> Slot? {
        entry.replacementKey.map { Slot(name: entry.name, lane: entry.lane, key: $0) }
    }

    /// Returns the entry that a new entry replaces. Returns nil if a server may have received the older entry. Also
    /// returns nil if a dependency of the new entry was added after the older entry.
    func replaced(by slot: Slot, after dependencies: [UInt64]) -> StoredEntry? {
        guard let entry = slots[slot]?.max().flatMap({ entries[$0] }), !entry.isBegun,
            dependencies.allSatisfy({ $0 < entry.id })
        else { return nil }
        return entry
    }

    mutating func move(_ entries: [StoredEntry]) {
        for entry in entries {
            guard let old = self.entries[entry.id]?.extent else { continue }
            self.entries[entry.id]?.extent = entry.extent
            byteCount += Int64(entry.extent.length - old.length)
        }
    }

    /// Replaces all entries after the log was read from the beginning. An unchanged entry keeps the state that only
    /// this process knows, such as its failures.
    mutating func replace(by new: OutboxQueue) {
        let old = self
        self = new
        (revision, network, running) = (old.revision + 1, old.network, old.running)
        for (id, name) in running { lanes[name, default: OutboxLane()].running = id }
        for (name, lane) in old.lanes {
            guard let id = first(of: name), entries[id]?.key == old.entries[id]?.key else { continue }
            lanes[name]?.keepFailures(of: lane, id)
            if let end = lanes[name]?.wait { waits.insert(Wait(end: end, lane: name)) }
        }
        noteAll()
    }

    /// Whether to rewrite the file, because removed entries take up more than half of it.
    func isWorthRewriting(size: Int64) -> Bool {
        size > 1 << 20 && size / 2 > byteCount + Int64(entries.count * (OutboxFormat.headSize + OutboxFormat.sumSize))
    }
}

extension OutboxQueue {
    /// The turn of a lane whose first entry can be sent now.
    struct Turn: Comparable, Sendable {
        let id: UInt64
        let lane: String
        static func < (a: Turn, b: Turn) -> Bool { a.id < b.id }
    }

    struct Wait: Comparable, Sendable {
        let end: ContinuousClock.Instant
        let lane: String
        static func < (a: Wait, b: Wait) -> Bool { a.end < b.end }
    }

    mutating func first(of lane: String) -> UInt64? {
        let entries = entries
        return lanes[lane]?.first { entries[$0] != nil }
    }

    mutating func look(at lane: String) {
        revision += 1
        guard let id = sendable(of: lane), lanes[lane]?.noted != id else { return }
        lanes[lane]?.noted = id
        turns.insert(Turn(id: id, lane: lane))
        // Outdated elements accumulate while the outbox isn't sending, so they're removed from time to time.
        if turns.count > 2 * lanes.count + 64 { noteAll() }
    }

    /// The number of elements in the heap of turns, including outdated elements.
    var notedCount: Int { turns.count }

    mutating func noteAll() {
        turns = BinaryHeap()
        for name in lanes.keys {
            let id = sendable(of: name)
            lanes[name]?.noted = id
            if let id { turns.insert(Turn(id: id, lane: name)) }
        }
    }

    private mutating func popTurn() -> Turn? {
        guard let turn = turns.popFirst() else { return nil }
        if lanes[turn.lane]?.noted == turn.id { lanes[turn.lane]?.noted = nil }
        return turn
    }

    private mutating func sendable(of name: String) -> UInt64? {
        guard let lane = lanes[name], lane.running == nil, lane.stopped == nil, lane.wait == nil,
            let id = first(of: name), let entry = entries[id], entry.dependencies.isEmpty || entry.isOrphaned
        else { return nil }
        return id
    }

    /// Returns the next entry to send, and marks it as running.
    mutating func takeNext(at now: ContinuousClock.Instant, maximumConcurrent: Int) -> StoredEntry? {
        while let wait = waits.first, wait.end <= now {
            _ = waits.popFirst()
            guard lanes[wait.lane]?.wait == wait.end else { continue }
            lanes[wait.lane]?.wait = nil
            look(at: wait.lane)
        }
        if let network, now < network.wait || !running.isEmpty { return nil }
        guard running.count < maximumConcurrent else { return nil }
        while let turn = popTurn() {
            guard sendable(of: turn.lane) == turn.id, let entry = entries[turn.id] else { continue }
            revision += 1
            lanes[turn.lane]?.running = turn.id
            running[turn.id] = turn.lane
            network?.attempt = turn.id
            return entry
        }
        return nil
    }

    /// Returns when to call ``takeNext(at:maximumConcurrent:)`` again, or nil if waiting alone doesn't make an entry
    /// ready to send.
    mutating func nextWake() -> ContinuousClock.Instant? {
        while let turn = turns.first, sendable(of: turn.lane) != turn.id { _ = popTurn() }
        while let wait = waits.first, lanes[wait.lane]?.wait != wait.end { _ = waits.popFirst() }
        // While the first attempt after a network wait is running, the next wait isn't known, because it depends on the
        // attempt's outcome.
        let isAttemptNext = turns.first != nil && running.isEmpty
        let waiting = [isAttemptNext ? network?.wait : nil, waits.first?.end].compactMap(\.self)
        return waiting.min()
    }

    /// Schedules another delivery of a running entry. The delivery doesn't start before ``ended(_:)``. If the attempt
    /// didn't reach a server, all other entries wait too, because they would fail in the same way.
    mutating func delay(
        _ id: UInt64, until end: ContinuousClock.Instant, error: String?, reachedNoServer: Bool = false
    ) {
        guard let name = runningLane(of: id) else { return }
        lanes[name]?.delay(id, until: end, error: error)
        waits.insert(Wait(end: end, lane: name))
        guard reachedNoServer else { return network = nil }
        // Entries that were sent at the same time fail together, so their failures count as one.
        let failures = network.map { $0.failures + ($0.attempt == id ? 1 : 0) } ?? 1
        network = (failures, max(end, network?.wait ?? end), nil)
    }

    mutating func stop(_ id: UInt64, error: String?) {
        guard let name = runningLane(of: id) else { return }
        lanes[name]?.stop(id, error: error)
    }

    /// Notes that an entry's outcome couldn't be stored. The entry counts as running until its outcome is on disk.
    mutating func isUnrecorded(_ id: UInt64, error: String) {
        guard let name = runningLane(of: id) else { return }
        revision += 1
        lanes[name]?.noteFailure(id, error: error)
    }

    /// Notes that an entry's outcome was stored. Forgets the lane's failures, so an edited entry starts over.
    mutating func wasRecorded(_ id: UInt64) {
        guard let name = runningLane(of: id) else { return }
        revision += 1
        lanes[name]?.startOver()
    }

    /// Notes that a server has sent a response. The response's status doesn't matter.
    mutating func reachedServer() { network = nil }

    /// Notes that a delivery has ended. Before this call, another delivery in the lane doesn't start. This keeps the
    /// order of the requests, and prevents an outcome from being applied to newer content.
    mutating func ended(_ id: UInt64) {
        guard let name = running.removeValue(forKey: id) else { return }
        revision += 1
        lanes[name]?.running = nil
        lookAgain(at: name)
    }

    mutating func resume(_ lane: String) {
        guard lanes[lane]?.stopped != nil else { return }
        lanes[lane]?.startOver()
        look(at: lane)
    }

    mutating func endWaits() {
        network = nil
        for (name, lane) in lanes where lane.wait != nil {
            lanes[name]?.startOver()
            look(at: name)
        }
    }

    /// Returns the lane of a running delivery. Returns nil if the entry was removed, because the outcome then doesn't
    /// matter to the lane.
    private func runningLane(of id: UInt64) -> String? { entries[id] == nil ? nil : running[id] }

    func failures(of id: UInt64) -> Int {
        max(entries[id].flatMap { lanes[$0.lane]?.failures } ?? 0, network?.failures ?? 0)
    }
}
