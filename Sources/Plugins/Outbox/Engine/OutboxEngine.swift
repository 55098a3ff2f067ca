import Errand
import ErrandDigests
import ErrandEssentials
import ErrandStates
import ErrandSupport
import Synchronization

/// Connects the log on disk with the queue that the log describes, and with the running deliveries.
///
/// The engine has two locks. It holds the disk lock while it reads, writes and flushes files. It holds the state lock
/// only briefly, sometimes while it also holds the disk lock. User code never runs under the state lock. Merging values
/// runs user code under the disk lock.
final class OutboxEngine: Sendable {
    struct State {
        var queue = OutboxQueue()
        var changes: [WaitingChange] = []
        var isCommitting = false
        var deliveries: [UInt64: (task: Task<Void, Never>, record: DeliveryRecord)] = [:]
        var pins: [UInt64: UserPin] = [:]
        var timer: (wake: ContinuousClock.Instant, task: Task<Void, Never>)?
        var isOpen = false
        var isClosed = false
        var isPaused = false
        var isSender = false
        var damage: [OutboxDamage] = []
        var shown = Shown()
    }

    struct Shown: Equatable {
        var revision: UInt64 = 0
        var isSender = false
        var isPaused = false
    }

    let directory: String
    let agent: any Agent
    let types: [String: OutboxType]
    let options: OutboxOptions
    let time: any TimeSource
    let decide: @Sendable (OutboxRefusal) async -> OutboxDecision
    let state = Mutex(State())
    /// A number that increases with each change. Readers of the state observe it.
    let versions = StateBroadcaster(UInt64(0))
    let disk: Mutex<OutboxLog>
    /// The file whose lock the sending process holds.
    private let sender = Mutex<SystemFile?>(nil)

    init(
        directory: String, agent: any Agent, types: [OutboxType], options: OutboxOptions, time: any TimeSource,
        decide: @escaping @Sendable (OutboxRefusal) async -> OutboxDecision
    ) throws(OutboxError) {
        self.types = Dictionary(types.map { ($0.name, $0) }) { first, _ in first }
        if self.types.count < types.count {
            throw OutboxError(.unregisteredType, "two request types are registered under the same name")
        }
        (self.directory, self.agent, self.options, self.time) = (directory, agent, options, time)
        self.decide = decide
        disk = Mutex(try OutboxLog(at: directory))
    }

    func open() async throws(OutboxError) {
        try await commit(.look)
        state.withLock { $0.isOpen = true }
        pump()
    }

    /// Creates an entry for a request. This runs user code, so call it without holding a lock. The entry's `marks` are
    /// empty if the agent doesn't know the user.
    func newEntry<R: OutboxRequest>(
        _ request: R, _ dependencies: [UInt64], marks: Set<UserMark> = []
    ) throws(OutboxError) -> NewEntry {
        guard let type = types.values.first(where: { $0.identity == ObjectIdentifier(R.self) }) else {
            throw OutboxError(.unregisteredType, "\(R.self) is not registered")
        }
        let value = try OutboxType.encode(request)
        let (lane, key) = (request.outboxLane, request.replacementKey)
        guard value.count <= options.entryLimit, lane.utf8.count <= 1024, key?.utf8.count ?? 0 <= 1024 else {
            throw OutboxError(
                .tooLarge,
                "expected at most \(options.entryLimit) bytes (and 1024 each for lane and key), got \(value.count)"
            )
        }
        let age = request.outboxMaximumAge ?? options.maximumAge
        let limit = options.entryLimit
        return NewEntry(
            name: type.name, lane: lane, value: value, enqueued: time.date,
            expiry: age.map { time.date.addingTimeInterval($0.bounded / .seconds(1)) }, replacementKey: key,
            marks: marks, user: marks.isEmpty ? nil : UserStamp(marks.identities), dependencies: dependencies,
            merge: { (older) throws(OutboxError) in
                // An earlier version of the app may have stored a value that can't be decoded. The new value then
                // replaces this value.
                guard let older = try? JSONDecoder().decode(R.self, from: older) else { return value }
                let merged = try OutboxType.encode(request.merging(older))
                if merged.count <= limit { return merged }
                throw OutboxError(.tooLarge, "the merged request has \(merged.count) bytes, more than \(limit)")
            })
    }

    func request<R: OutboxRequest>(_ type: R.Type, of id: UInt64) throws(OutboxError) -> R? {
        guard let (entry, value) = try value(of: id),
            types[entry.name]?.identity == ObjectIdentifier(R.self)
        else { return nil }
        do { return try JSONDecoder().decode(R.self, from: value) } catch {
            throw OutboxError(.decodingFailed, "entry \(id) can't be decoded as \(R.self): \(error.briefDescription)")
        }
    }

    /// Reads an entry's value from the log, and blocks while it reads. Returns nil if the entry is gone or its record
    /// is damaged.
    func value(of id: UInt64) throws(OutboxError) -> (entry: StoredEntry, value: Data)? {
        try disk.withLock { (log) throws(OutboxError) in
            guard let entry = state.withLock({ $0.queue.entries[id] }), let payload = try log.payload(at: entry.extent)
            else { return nil }
            return (entry, entry.value(in: payload))
        }
    }

    // MARK: Sending

    /// Tries to become the sending process. Returns whether this call acquired the lock.
    func tryTakeSenderLock() -> Bool {
        guard options.allowsSending, state.withLock({ !$0.isSender && !$0.isClosed }) else { return false }
        let path = OutboxLog.senderPath(in: directory)
        return sender.withLock { held in
            guard held == nil, let file = try? OutboxLog.opened(path), file.tryLock(), file.isAt(path) else {
                return false
            }
            held = consume file
            return true
        }
    }

    func pump() {
        let (now, check) = (time.now, time.instant(after: max(options.checkInterval, .milliseconds(10))))
        let (isNew, stale) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.isOpen, !state.isClosed else { return (false, nil) }
            while state.isSender, !state.isPaused,
                let entry = state.queue.takeNext(at: now, maximumConcurrent: max(1, options.maximumConcurrent))
            {
                let record = DeliveryRecord(OutboxEntry(entry, in: state.queue))
                state.deliveries[entry.id] = (Task { await self.deliver(entry, record) }, record)
            }
            let shown = Shown(revision: state.queue.revision, isSender: state.isSender, isPaused: state.isPaused)
            defer { state.shown = shown }
            return (shown != state.shown, state.setTimer(for: self, checkingAt: check))
        }
        stale?.cancel()
        if isNew { versions.update { $0 &+= 1 } }
    }

    fileprivate func wake(at instant: ContinuousClock.Instant) async {
        await time.wait(until: instant)
        if Task.isCancelled { return }
        let fired = state.withLock { state -> Task<Void, Never>? in
            guard state.timer?.wake == instant else { return nil }
            defer { state.timer = nil }
            return state.timer?.task
        }
        withExtendedLifetime(fired) {}
        // An error is ignored here, because the next change fails in the same way and reports the error.
        _ = try? await commit(.look)
        pump()
    }

    func networkIsBack() {
        state.withLock { $0.queue.endWaits() }
        pump()
    }

    func setPaused(_ isPaused: Bool) {
        state.withLock { $0.isPaused = isPaused }
        pump()
    }

    func resume(_ lane: String) {
        state.withLock { $0.queue.resume(lane) }
        pump()
    }

    // MARK: Closing

    @discardableResult
    func end() -> [Task<Void, Never>] {
        let (deliveries, timer) = state.withLock { state in
            state.isClosed = true
            defer { state.timer = nil }
            return (state.deliveries.values.map(\.task), state.timer?.task)
        }
        timer?.cancel()
        deliveries.forEach { $0.cancel() }
        versions.finish()
        if deliveries.isEmpty { releaseSender() }
        return deliveries
    }

    func close() async {
        for delivery in end() { await delivery.value }
        releaseSender()
    }

    /// Cancels the deliveries of entries that were removed, by this process or another. A delivery that has just stored
    /// its own outcome continues to its end.
    private func cancelRemoved() {
        let removed = state.withLock { state in
            state.deliveries.filter { state.queue.entries[$0.key] == nil && !$0.value.record.isEnding }
        }
        for delivery in removed.values { delivery.task.cancel() }
    }

    func ended(_ id: UInt64) {
        let isLast = state.withLock { state in
            state.queue.ended(id)
            let delivery = state.deliveries.removeValue(forKey: id)
            let pin = state.queue.entries[id] == nil ? state.pins.removeValue(forKey: id) : nil
            return withExtendedLifetime((delivery, pin)) { state.isClosed && state.deliveries.isEmpty }
        }
        if isLast { releaseSender() }
        pump()
    }

    func releaseSender() {
        state.withLock { $0.isSender = false }
        sender.withLock { $0 = nil }
    }
}

extension OutboxEngine.State {
    /// Sets the timer. Returns the timer that it replaces. Cancel the replaced timer after unlocking, because
    /// cancelling runs the time source's code.
    fileprivate mutating func setTimer(
        for engine: OutboxEngine, checkingAt check: ContinuousClock.Instant
    ) -> Task<Void, Never>? {
        var wake = check
        if isSender, !isPaused, let next = queue.nextWake() { wake = min(wake, next) }
        if let timer, timer.wake <= wake { return nil }
        let stale = timer?.task
        timer = (wake, Task { await engine.wake(at: wake) })
        return stale
    }
}

/// Writes changes. A single task at a time writes all pending changes with one flush.
extension OutboxEngine {
    /// Adds a change to the log. Returns when the change would survive a crash of the machine.
    @discardableResult
    func commit(_ change: OutboxChange) async throws(OutboxError) -> UInt64? {
        let result = await withCheckedContinuation { waiter in
            let isFirst = state.withLock { state -> Bool? in
                if state.isClosed, case .add = change { return nil }
                state.changes.append((change, waiter))
                defer { state.isCommitting = true }
                return !state.isCommitting
            }
            guard let isFirst else {
                return waiter.resume(returning: .failure(OutboxError(.closed, "the outbox is closed")))
            }
            if isFirst { Task { await self.commitAll() } }
        }
        return try result.get()
    }

    @concurrent private func commitAll() async {
        while let changes = waiting() {
            let results = await write(changes.map(\.change))
            // The other changes depend on the written changes. They come first in the next write.
            let rest = changes.dropFirst(results.count)
            if !rest.isEmpty { state.withLock { $0.changes.insert(contentsOf: rest, at: 0) } }
            if tryTakeSenderLock() { await beginSending() }
            cancelRemoved()
            for (change, result) in zip(changes, results) { change.waiter.resume(returning: result) }
            pump()
        }
    }

    private func waiting() -> [WaitingChange]? {
        state.withLock { state in
            let changes = state.changes
            state.changes = []
            state.isCommitting = !changes.isEmpty
            return changes.isEmpty ? nil : changes
        }
    }

    /// Starts sending. First reads the log, because the process that sent before may have changed it.
    private func beginSending() async {
        guard case .success = await write([.look])[0] else { return releaseSender() }
        let isClosed = state.withLock { state in
            state.isSender = !state.isClosed
            return state.isClosed
        }
        if isClosed { releaseSender() }
    }

    /// Writes the first changes, up to a change that depends on an earlier one. Waits up to 10 seconds if another
    /// process holds the directory's lock. Doesn't block a thread during this wait, because the other process may be
    /// suspended.
    private func write(_ changes: [OutboxChange]) async -> [Result<UInt64?, OutboxError>] {
        let end = time.instant(after: .seconds(10))
        var (attempts, pause) = (0, Duration.milliseconds(1))
        while true {
            if let results = disk.withLock({ writeLocked(changes, &$0) }) { return results }
            attempts += 1
            // After a jump of the clock, for example while the device was asleep, the other process may be about to
            // release the lock. So the time alone doesn't end the wait.
            guard attempts < 100 || time.now < end else {
                let path = OutboxLog.lockPath(in: directory)
                let error = OutboxError(.busy, "another process has the outbox open and holds the lock \(path)")
                return changes.map { _ in .failure(error) }
            }
            // The other process doesn't follow this outbox's clock, so the system's clock measures the pause.
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(8))
        }
    }

    /// Blocks until the changes are on disk. Returns nil if another process holds the directory's lock.
    private func writeLocked(
        _ changes: [OutboxChange], _ log: inout OutboxLog
    ) -> [Result<UInt64?, OutboxError>]? {
        do throws(OutboxError) {
            guard try log.tryLock() else { return nil }
            defer { log.unlock() }
            try readNew(&log)
            return try append(changes, &log)
        } catch {
            return changes.map { _ in .failure(error) }
        }
    }

    private func readNew(_ log: inout OutboxLog) throws(OutboxError) {
        // If the log is read from the beginning, its state replaces the current state in one step. Otherwise an entry
        // could be sent before the records after it are read.
        var whole: State?
        var items: [OutboxScanner.Item] = []
        func takeIn() {
            if items.isEmpty { return }
            state.withLock { state in items.forEach { state.receive($0) } }
            items.removeAll(keepingCapacity: true)
        }
        try log.readNew(nextID: state.withLock { $0.queue.next }, reset: { whole = State() }) { item in
            if whole != nil {
                whole?.receive(item)
            } else {
                items.append(item)
                if items.count == 256 { takeIn() }
            }
        }
        takeIn()
        guard let whole else { return }
        state.withLock { state in
            state.queue.replace(by: whole.queue)
            whole.damage.forEach { state.report($0) }
        }
    }

    private func append(
        _ changes: [OutboxChange], _ log: inout OutboxLog
    ) throws(OutboxError) -> [Result<UInt64?, OutboxError>] {
        var plan = state.withLock { state in
            var plan = OutboxPlan(state.queue)
            for change in changes where !plan.add(change, to: state.queue) { break }
            return plan
        }
        plan.complete(options) { (entry) throws(OutboxError) in
            try log.payload(at: entry.extent).map { entry.value(in: $0) }
        }
        let (bytes, steps) = plan.records()
        let start = bytes.isEmpty ? 0 : try log.append(bytes)
        let rest = state.withLock { state in
            for step in steps { state.take(step, at: start) }
            return state.queue.isWorthRewriting(size: log.end)
                ? (state.queue.entries.values.sorted { $0.id < $1.id }, state.queue.next) : nil
        }
        // If a rewrite fails, the file is still valid, but longer than necessary.
        if let (entries, next) = rest, let moved = try? log.rewrite(entries, next: next) {
            state.withLock { $0.move(entries, to: moved) }
        }
        return steps.map(\.result)
    }
}

extension OutboxEngine.State {
    mutating func receive(_ item: OutboxScanner.Item) {
        switch item {
        case .put(let entry): queue.apply(entry)
        case .mark(let kind, let id):
            queue.apply(kind, id)
            // The number of an entry must not be used again, even if the entry's content is damaged.
            if kind != .next { queue.apply(.next, id + 1) }
        case .damage(let found):
            if let id = found.entry { queue.lose(id.rawValue) }
            report(found)
        }
    }

    /// Updates the entries after the log was rewritten. The new log doesn't contain damaged entries, so they are lost.
    mutating func move(_ entries: [StoredEntry], to moved: [StoredEntry]) {
        queue.move(moved)
        let kept = Set(moved.map(\.id))
        for entry in entries where !kept.contains(entry.id) {
            report(OutboxDamage(entry: OutboxEntry.ID(rawValue: entry.id), byteCount: entry.extent.length))
            queue.lose(entry.id)
        }
    }

    mutating func report(_ found: OutboxDamage) {
        if damage.count == 100 { damage.removeFirst() }
        damage.append(found)
    }

    mutating func take(_ step: OutboxPlan.Step, at start: Int64) {
        guard let kind = step.kind else { return }
        if var entry = step.entry {
            entry.extent.offset += start
            queue.apply(entry)
        } else {
            queue.apply(kind, step.id)
        }
    }
}

extension OutboxEngine {
    func shown(_ entry: StoredEntry) -> OutboxEntry { state.withLock { OutboxEntry(entry, in: $0.queue) } }

    var snapshot: OutboxState {
        let (queue, isSender, isPaused, damage) = state.withLock { ($0.queue, $0.isSender, $0.isPaused, $0.damage) }
        let entries = queue.entries.values.map { OutboxEntry($0, in: queue) }.sorted { $0.id < $1.id }
        return OutboxState(entries: entries, isSender: isSender, isPaused: isPaused, damage: damage)
    }
}
