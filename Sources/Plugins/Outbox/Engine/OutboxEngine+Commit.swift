import ErrandEssentials
import Synchronization

/// Writing: the changes that wait are written together, with one flush, by one task at a time.
extension OutboxEngine {
    /// Makes a change, and returns when it survives a crash of the machine.
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
            let results = write(changes.map(\.change))
            // What did not fit into this round is the first of the next one.
            let rest = changes.dropFirst(results.count)
            if !rest.isEmpty { state.withLock { $0.changes.insert(contentsOf: rest, at: 0) } }
            if tryTakeSenderLock() { beginSending() }
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

    /// Sends from now on. What the process before has written last is read first: it may have sent, or edited, an entry
    /// after this one has looked.
    private func beginSending() {
        guard case .success = write([.look])[0] else { return releaseSender() }
        let isClosed = state.withLock { state in
            state.isSender = !state.isClosed
            return state.isClosed
        }
        if isClosed { releaseSender() }
    }

    /// Writes the first of the changes, as many as do not depend on each other, and returns their results. Blocks.
    private func write(_ changes: [OutboxChange]) -> [Result<UInt64?, OutboxError>] {
        disk.withLock { log in
            do throws(OutboxError) {
                try log.lock()
                defer { log.unlock() }
                try readNew(&log)
                return try write(changes, &log)
            } catch {
                return changes.map { _ in .failure(error) }
            }
        }
    }

    /// Takes in what other processes have written.
    private func readNew(_ log: inout OutboxLog) throws(OutboxError) {
        // A log that is read from its beginning takes effect as a whole: in the middle of it nothing may be sent.
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

    private func write(
        _ changes: [OutboxChange], _ log: inout OutboxLog
    ) throws(OutboxError) -> [Result<UInt64?, OutboxError>] {
        var plan = state.withLock { state in
            var plan = OutboxPlan(state.queue)
            for change in changes where !plan.add(change, state.queue, options) { break }
            return plan
        }
        plan.merge { entry in (try? log.payload(at: entry.extent)).flatMap { $0 }.map { entry.value(in: $0) } }
        let (bytes, steps) = plan.records()
        let start = bytes.isEmpty ? 0 : try log.append(bytes)
        let rest = state.withLock { state in
            for step in steps { state.take(step, at: start) }
            return state.queue.isWorthRewriting(size: log.end)
                ? (state.queue.entries.values.sorted { $0.id < $1.id }, state.queue.next) : nil
        }
        // A failure leaves the file as it is, only longer than it need be.
        if let (entries, next) = rest, let moved = try? log.rewrite(entries, next: next) {
            state.withLock { $0.queue.move(moved) }
        }
        return steps.map(\.result)
    }
}

extension OutboxEngine.State {
    /// A record that this or another process has written.
    mutating func receive(_ item: OutboxScanner.Item) {
        switch item {
        case .put(let entry): queue.apply(entry)
        case .mark(let kind, let id):
            queue.apply(kind, id)
            // No other entry gets the number, even if all its contents are damaged.
            if kind != .next { queue.apply(.next, id + 1) }
        case .damage(let found):
            if let id = found.entry { queue.lose(id.rawValue) }
            report(found)
        }
    }

    mutating func report(_ found: OutboxDamage) {
        if damage.count == 100 { damage.removeFirst() }
        damage.append(found)
    }

    /// A step of a plan that was written.
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
