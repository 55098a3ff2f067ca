import ErrandSupport

/// The decision which entry is sent next, and what the ends of deliveries change in it.
extension OutboxQueue {
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

    /// Notes a lane whose first entry may be sent.
    mutating func look(at lane: String) {
        revision += 1
        guard let id = sendable(of: lane), lanes[lane]?.noted != id else { return }
        lanes[lane]?.noted = id
        turns.insert(Turn(id: id, lane: lane))
        // Those that are out of date are many only where nothing is sent.
        if turns.count > 2 * lanes.count + 64 { noteAll() }
    }

    /// How many are noted, with those that are out of date.
    var notedCount: Int { turns.count }

    mutating func noteAll() {
        turns = BinaryHeap()
        for name in lanes.keys {
            let id = sendable(of: name)
            lanes[name]?.noted = id
            if let id { turns.insert(Turn(id: id, lane: name)) }
        }
    }

    /// The next lane that was noted.
    private mutating func popTurn() -> Turn? {
        guard let turn = turns.popFirst() else { return nil }
        if lanes[turn.lane]?.noted == turn.id { lanes[turn.lane]?.noted = nil }
        return turn
    }

    /// The first entry of a lane, if nothing holds it back.
    private mutating func sendable(of name: String) -> UInt64? {
        guard let lane = lanes[name], lane.running == nil, lane.stopped == nil, lane.wait == nil,
            let id = first(of: name), let entry = entries[id], entry.dependencies.isEmpty || entry.isOrphaned
        else { return nil }
        return id
    }

    /// The entry to be sent now, which counts as running from now on; nil if there is none.
    mutating func takeNext(at now: ContinuousClock.Instant, maximumConcurrent: Int) -> StoredEntry? {
        while let wait = waits.first, wait.end <= now {
            _ = waits.popFirst()
            guard lanes[wait.lane]?.wait == wait.end else { continue }
            lanes[wait.lane]?.wait = nil
            look(at: wait.lane)
        }
        if let network, now < network.wait || runningCount > 0 { return nil }
        guard runningCount < maximumConcurrent else { return nil }
        while let turn = popTurn() {
            guard sendable(of: turn.lane) == turn.id, let entry = entries[turn.id] else { continue }
            revision += 1
            lanes[turn.lane]?.running = turn.id
            runningCount += 1
            network?.attempt = turn.id
            return entry
        }
        return nil
    }

    /// When ``takeNext(at:maximumConcurrent:)`` may return another entry, if nothing else happens; nil for never.
    mutating func nextWake() -> ContinuousClock.Instant? {
        while let turn = turns.first, sendable(of: turn.lane) != turn.id { _ = popTurn() }
        while let wait = waits.first, lanes[wait.lane]?.wait != wait.end { _ = waits.popFirst() }
        // While one is sent after a wait of the network, its end decides.
        let isAttemptNext = turns.first != nil && runningCount == 0
        let waiting = [isAttemptNext ? network?.wait : nil, waits.first?.end].compactMap(\.self)
        return waiting.min()
    }

    /// A delivery has failed: its entry is sent again at that instant, but not before ``ended(_:)``.
    ///
    /// - Parameter reachedNoServer: whether other entries would fail in the same way, so that they wait too.
    mutating func delay(
        _ id: UInt64, until end: ContinuousClock.Instant, error: String?, reachedNoServer: Bool = false
    ) {
        guard let name = runningLane(of: id) else { return }
        lanes[name]?.delay(id, until: end, error: error)
        waits.insert(Wait(end: end, lane: name))
        guard reachedNoServer else { return network = nil }
        // Those that were sent at the same time fail together, and count once.
        let failures = network.map { $0.failures + ($0.attempt == id ? 1 : 0) } ?? 1
        network = (failures, max(end, network?.wait ?? end), nil)
    }

    /// A delivery was refused, and its lane stops.
    mutating func stop(_ id: UInt64, error: String?) {
        guard let name = runningLane(of: id) else { return }
        lanes[name]?.stop(id, error: error)
    }

    /// What became of an entry is decided, and the disk hasn't taken it yet. The entry keeps its turn.
    mutating func isUnrecorded(_ id: UInt64, error: String) {
        guard let name = runningLane(of: id) else { return }
        revision += 1
        lanes[name]?.noteFailure(id, error: error)
    }

    /// The disk has taken it; an entry that was edited starts over.
    mutating func wasRecorded(_ id: UInt64) {
        guard let name = runningLane(of: id) else { return }
        revision += 1
        lanes[name]?.startOver()
    }

    /// A server responded, with any status.
    mutating func reachedServer() { network = nil }

    /// The delivery of an entry has ended: it is the turn of its lane again, unless that waits or has stopped. Until
    /// then nothing starts another delivery of the entry, so that the end of one decides nothing for the content of a
    /// later one.
    mutating func ended(_ id: UInt64) {
        guard let name = runningLane(of: id) else { return }
        end(name)
        look(at: name)
    }

    /// Sends a stopped lane again.
    mutating func resume(_ lane: String) {
        guard lanes[lane]?.stopped != nil else { return }
        lanes[lane]?.startOver()
        look(at: lane)
    }

    /// Ends all waits.
    mutating func endWaits() {
        network = nil
        for (name, lane) in lanes where lane.wait != nil {
            lanes[name]?.startOver()
            look(at: name)
        }
    }

    private func runningLane(of id: UInt64) -> String? {
        guard let lane = entries[id]?.lane, lanes[lane]?.running == id else { return nil }
        return lane
    }

    mutating func end(_ lane: String) {
        revision += 1
        lanes[lane]?.running = nil
        runningCount -= 1
    }

    /// How many failures in a row a delay counts: of the lane, or of the network, if that has more.
    func failures(of id: UInt64) -> Int {
        max(entries[id].flatMap { lanes[$0.lane]?.failures } ?? 0, network?.failures ?? 0)
    }
}
