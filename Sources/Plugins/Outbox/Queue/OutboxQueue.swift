/// The entries of an outbox, and the decision which one is sent next. Pure: it knows no file and no clock.
///
/// What the log says changes it by ``apply(_:)`` and ``apply(_:_:)``, in the same way in each process and at each start; the
/// rest, such as failures, is of this process only.
struct OutboxQueue: Sendable {
    /// The slot of an entry: a later one of the same type, lane and key replaces it.
    struct Slot: Hashable, Sendable {
        let name, lane, key: String
    }

    private struct Turn: Comparable, Sendable {
        let id: UInt64
        let lane: String
        static func < (a: Turn, b: Turn) -> Bool { a.id < b.id }
    }

    private struct Wait: Comparable, Sendable {
        let end: ContinuousClock.Instant
        let lane: String
        static func < (a: Wait, b: Wait) -> Bool { a.end < b.end }
    }

    private(set) var entries: [UInt64: StoredEntry] = [:]
    private(set) var lanes: [String: OutboxLane] = [:]
    private(set) var next: UInt64 = 1
    /// The bytes of all contents.
    private(set) var byteCount: Int64 = 0
    private(set) var runningCount = 0
    /// The number of changes so far.
    private(set) var revision: UInt64 = 0
    private var dependents: [UInt64: [UInt64]] = [:]
    /// The entries of each slot, in no order.
    private var slots: [Slot: [UInt64]] = [:]
    /// Lanes whose first entry may be sent, and that entry; some are out of date.
    private var turns = BinaryHeap<Turn>()
    private var waits = BinaryHeap<Wait>()
    /// After failures that reached no server: how many in a row, and the end of the wait, for all lanes.
    private var network: (failures: Int, wait: ContinuousClock.Instant)?

    // MARK: What the log says

    /// A new entry, or a new content of one, which keeps its lane.
    mutating func apply(_ entry: StoredEntry) {
        var entry = entry
        let old = entries[entry.id]
        if let old {
            entry.lane = old.lane
            release(old)
        } else {
            lanes[entry.lane, default: OutboxLane()].add(entry.id)
        }
        // One that is not here was lost: the others are only enqueued after entries that are here.
        let known = known(entry.dependencies)
        if known.count < entry.dependencies.count { entry.isOrphaned = true }
        entry.dependencies = known
        for dependency in known { dependents[dependency, default: []].append(entry.id) }
        if let slot = Self.slot(entry) { slots[slot, default: []].append(entry.id) }
        byteCount += Int64(entry.extent.length)
        next = max(next, entry.id &+ 1)
        entries[entry.id] = entry
        if old != nil, first(of: entry.lane) == entry.id, lanes[entry.lane]?.running != entry.id {
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
            // Those before it in its lane were sent or removed, even if the record of that is damaged.
            guard let lane = entries[id]?.lane else { return }
            while let first = first(of: lane), first < id { remove(first, wasSent: true) }
            remove(id, wasSent: true)
        case .removed: remove(id, wasSent: false)
        }
    }

    private mutating func remove(_ id: UInt64, wasSent: Bool) {
        guard let entry = entries[id] else { return }
        let wasFirst = first(of: entry.lane) == id
        entries[id] = nil
        revision += 1
        release(entry)
        lanes[entry.lane]?.count -= 1
        if lanes[entry.lane]?.running == id { end(entry.lane) }
        if lanes[entry.lane]?.count == 0 {
            lanes[entry.lane] = nil
        } else {
            if wasFirst { lanes[entry.lane]?.startOver() }
            look(at: entry.lane)
        }
        for dependent in dependents.removeValue(forKey: id) ?? [] {
            guard let lane = entries[dependent]?.lane else { continue }
            entries[dependent]?.dependencies.removeAll { $0 == id }
            if !wasSent { entries[dependent]?.isOrphaned = true }
            look(at: lane)
        }
    }

    /// Forgets what follows from the content of an entry.
    private mutating func release(_ entry: StoredEntry) {
        byteCount -= Int64(entry.extent.length)
        if let slot = Self.slot(entry) {
            slots[slot]?.removeAll { $0 == entry.id }
            if slots[slot]?.isEmpty == true { slots[slot] = nil }
        }
        for dependency in entry.dependencies {
            dependents[dependency]?.removeAll { $0 == entry.id }
            if dependents[dependency]?.isEmpty == true { dependents[dependency] = nil }
        }
    }

    /// Those of the entries that are still here.
    func known(_ ids: [UInt64]) -> [UInt64] { ids.filter { entries[$0] != nil } }

    private static func slot(_ entry: StoredEntry) -> Slot? {
        entry.replacementKey.map { Slot(name: entry.name, lane: entry.lane, key: $0) }
    }

    /// The entry that one in this slot replaces, if no server can have received it and all dependencies are older.
    func replaced(by slot: Slot, after dependencies: [UInt64]) -> StoredEntry? {
        guard let entry = slots[slot]?.max().flatMap({ entries[$0] }), !entry.isBegun,
            dependencies.allSatisfy({ $0 < entry.id })
        else { return nil }
        return entry
    }

    /// The same entries in a file that was written anew.
    mutating func move(_ entries: [StoredEntry]) {
        for entry in entries { self.entries[entry.id]?.extent = entry.extent }
        byteCount = entries.reduce(0) { $0 + Int64($1.extent.length) }
    }

    /// Forgets what the log says, to read it anew; what runs goes on.
    mutating func reset() -> [UInt64] {
        let running = lanes.values.compactMap(\.running)
        (self, self.revision) = (OutboxQueue(), revision + 1)
        return running
    }

    /// After that, and after all was read: what runs still does.
    mutating func restore(_ running: [UInt64]) {
        for id in running {
            guard let lane = entries[id]?.lane, lanes[lane]?.running == nil else { continue }
            lanes[lane]?.running = id
            runningCount += 1
        }
    }

    /// Whether most of a file of this size is of entries that are gone.
    func isWorthRewriting(size: Int64) -> Bool {
        size > 1 << 20 && size / 2 > byteCount + Int64(entries.count * (OutboxFormat.headSize + OutboxFormat.sumSize))
    }

    // MARK: What is sent next

    private mutating func first(of lane: String) -> UInt64? {
        let entries = entries
        return lanes[lane]?.first { entries[$0] != nil }
    }

    /// Notes a lane whose first entry may be sent.
    private mutating func look(at lane: String) {
        revision += 1
        guard let id = sendable(of: lane), lanes[lane]?.noted != id else { return }
        lanes[lane]?.noted = id
        turns.insert(Turn(id: id, lane: lane))
        // Those that are out of date are many only where nothing is sent.
        if turns.count > 2 * lanes.count + 64 { noteAll() }
    }

    /// How many are noted, with those that are out of date.
    var notedCount: Int { turns.count }

    private mutating func noteAll() {
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
            return entry
        }
        return nil
    }

    /// When ``takeNext(at:maximumConcurrent:)`` may return another entry, if nothing else happens; nil for never.
    mutating func nextWake() -> ContinuousClock.Instant? {
        while let turn = turns.first, sendable(of: turn.lane) != turn.id { _ = popTurn() }
        while let wait = waits.first, lanes[wait.lane]?.wait != wait.end { _ = waits.popFirst() }
        let waiting = [turns.first == nil ? nil : network?.wait, waits.first?.end].compactMap(\.self)
        return waiting.min()
    }

    /// A delivery has ended, and its entry stays: it is sent again at that instant.
    ///
    /// - Parameter reachedNoServer: whether other entries would fail in the same way, so that they wait too.
    mutating func delay(
        _ id: UInt64, until end: ContinuousClock.Instant, error: String?, reachedNoServer: Bool = false
    ) {
        guard let name = runningLane(of: id) else { return }
        self.end(name)
        lanes[name]?.delay(id, until: end, error: error)
        waits.insert(Wait(end: end, lane: name))
        guard reachedNoServer else { return network = nil }
        // Those that were sent at the same time fail together, and count once.
        let failures = network.map { $0.failures + (runningCount == 0 ? 1 : 0) } ?? 1
        network = (failures, max(end, network?.wait ?? end))
    }

    /// A delivery has ended, and its lane stops.
    mutating func stop(_ id: UInt64, error: String?) {
        guard let name = runningLane(of: id) else { return }
        end(name)
        lanes[name]?.stop(id, error: error)
    }

    /// A server responded, with any status.
    mutating func reachedServer() { network = nil }

    /// A delivery has ended before anything was decided: it is the next one's turn again.
    mutating func yield(_ id: UInt64) {
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

    private mutating func end(_ lane: String) {
        revision += 1
        lanes[lane]?.running = nil
        runningCount -= 1
    }

    /// How many failures in a row a delay counts: of the lane, or of the network, if that has more.
    func failures(of id: UInt64) -> Int {
        max(entries[id].flatMap { lanes[$0.lane]?.failures } ?? 0, network?.failures ?? 0)
    }
}
