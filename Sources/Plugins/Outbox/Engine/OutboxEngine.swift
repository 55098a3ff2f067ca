import Errand
import ErrandDigests
import ErrandEssentials
import ErrandSupport
import Synchronization

/// The parts of an outbox: the log on the disk, the queue that it describes, and the deliveries under way.
///
/// The lock of the disk is held while files are read, written and flushed; that of the state for a few instructions,
/// also within it. No code of users runs under the lock of the state; a merge of two values runs under that of the
/// disk.
final class OutboxEngine: Sendable {
    struct State {
        var queue = OutboxQueue()
        /// The changes to be written, with the callers that wait for them.
        var changes: [WaitingChange] = []
        var isCommitting = false
        var deliveries: [UInt64: Task<Void, Never>] = [:]
        /// Keep the entries that this process has enqueued or sent with their users.
        var pins: [UInt64: UserPin] = [:]
        var timer: (wake: ContinuousClock.Instant, task: Task<Void, Never>)?
        var isOpen = false
        var isClosed = false
        var isPaused = false
        var isSender = false
        var damage: [OutboxDamage] = []
        /// The revision that the readers of the state have received.
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
    /// One more with each change, for those that show the state.
    let versions = StateBroadcaster(UInt64(0))
    let disk: Mutex<OutboxLog>
    /// Held by the process that sends.
    private let sender = Mutex<SystemFile?>(nil)

    init(
        directory: String, agent: any Agent, types: [OutboxType], options: OutboxOptions, time: any TimeSource,
        decide: @escaping @Sendable (OutboxRefusal) async -> OutboxDecision
    ) throws(OutboxError) {
        self.types = Dictionary(types.map { ($0.name, $0) }) { first, _ in first }
        if self.types.count < types.count {
            throw OutboxError(.unregisteredType, "two types are registered under one name")
        }
        (self.directory, self.agent, self.options, self.time) = (directory, agent, options, time)
        self.decide = decide
        disk = Mutex(try OutboxLog(at: directory))
    }

    /// Reads the log, and begins to send.
    func open() async throws(OutboxError) {
        try await commit(.look)
        state.withLock { $0.isOpen = true }
        pump()
    }

    /// Encodes a request, off the lock.
    ///
    /// - Parameter marks: of the user who enqueues it; empty if the agent can't tell.
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
                .tooLarge, "the request has \(value.count) bytes of \(options.entryLimit), a lane or a key of 1024")
        }
        let age = request.outboxMaximumAge ?? options.maximumAge
        let limit = options.entryLimit
        return NewEntry(
            name: type.name, lane: lane, value: value, enqueued: time.date,
            expiry: age.map { time.date.addingTimeInterval($0.bounded / .seconds(1)) }, replacementKey: key,
            marks: marks, user: marks.isEmpty ? nil : UserStamp(marks.identities), dependencies: dependencies,
            merge: { older in
                let older = try JSONDecoder().decode(R.self, from: older)
                let merged = try OutboxType.encode(request.merging(older))
                return merged.count <= limit ? merged : value
            })
    }

    /// The stored request of an entry.
    func request<R: OutboxRequest>(_ type: R.Type, of id: UInt64) throws(OutboxError) -> R? {
        guard let (entry, value) = try value(of: id),
            types[entry.name]?.identity == ObjectIdentifier(R.self)
        else { return nil }
        do { return try JSONDecoder().decode(R.self, from: value) } catch {
            throw OutboxError(.decodingFailed, "entry \(id) is no \(R.self): \(error.briefDescription)")
        }
    }

    /// An entry as it is now, with its value; nil if it is gone, or its file damaged. Blocks.
    func value(of id: UInt64) throws(OutboxError) -> (entry: StoredEntry, value: Data)? {
        try disk.withLock { (log) throws(OutboxError) in
            guard let entry = state.withLock({ $0.queue.entries[id] }), let payload = try log.payload(at: entry.extent)
            else { return nil }
            return (entry, entry.value(in: payload))
        }
    }

    // MARK: Sending

    /// Takes the lock of the process that sends if it is free, and returns whether it has just been taken.
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

    /// Starts what may be sent now, and sets the timer for what may be later.
    func pump() {
        let (now, check) = (time.now, time.instant(after: max(options.checkInterval, .milliseconds(10))))
        let (isNew, stale) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.isOpen, !state.isClosed else { return (false, nil) }
            while state.isSender, !state.isPaused,
                let entry = state.queue.takeNext(at: now, maximumConcurrent: max(1, options.maximumConcurrent))
            {
                state.deliveries[entry.id] = Task { await self.deliver(entry) }
            }
            let shown = Shown(revision: state.queue.revision, isSender: state.isSender, isPaused: state.isPaused)
            defer { state.shown = shown }
            return (shown != state.shown, state.setTimer(for: self, checkingAt: check))
        }
        stale?.cancel()
        if isNew { versions.update { $0 &+= 1 } }
    }

    fileprivate func wake(at instant: ContinuousClock.Instant) async {
        do { try await time.sleep(until: instant) } catch { return }
        if Task.isCancelled { return }
        let fired = state.withLock { state -> Task<Void, Never>? in
            guard state.timer?.wake == instant else { return nil }
            defer { state.timer = nil }
            return state.timer?.task
        }
        withExtendedLifetime(fired) {}
        // The next change to the log meets the same failure, and reports it.
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

    // MARK: The end

    /// Starts nothing more, and cancels what runs.
    @discardableResult
    func end() -> [Task<Void, Never>] {
        let (deliveries, timer) = state.withLock { state in
            state.isClosed = true
            defer { state.timer = nil }
            return (Array(state.deliveries.values), state.timer?.task)
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

    /// Cancels the delivery of an entry that was removed.
    func cancel(_ id: UInt64) {
        let (delivery, pin) = state.withLock { ($0.deliveries[id], $0.pins.removeValue(forKey: id)) }
        withExtendedLifetime(pin) { delivery?.cancel() }
    }

    /// A delivery has ended.
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
    /// Sets the timer for the next wait that ends, or for the next look at what other processes have written.
    ///
    /// Returns the timer that is no longer needed, to be cancelled outside of the lock: that runs code of the time source.
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
