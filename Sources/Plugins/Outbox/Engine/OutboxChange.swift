import Errand
import ErrandDigests
import ErrandEssentials

enum OutboxChange: Sendable {
    /// Adds an entry. The change's result is the entry's number.
    case add(NewEntry)
    case edit(UInt64, NewEntry)
    case mark(OutboxFormat.Kind, UInt64)
    case remove(UInt64)
    /// Reads the records that other processes have written, without writing records.
    case look
}

typealias WaitingChange = (change: OutboxChange, waiter: CheckedContinuation<Result<UInt64?, OutboxError>, Never>)

struct NewEntry: Sendable {
    var name: String
    var lane: String
    var value: Data
    var enqueued: Date
    var expiry: Date?
    var replacementKey: String?
    /// The marks that identify the user who enqueues the entry. They're empty if the agent doesn't know the user.
    var marks: Set<UserMark> = []
    var user: UserStamp?
    var dependencies: [UInt64]
    /// Merges the value of an entry that is replaced with the new value.
    var merge: @Sendable (Data) throws(OutboxError) -> Data

    func stored(id: UInt64) -> StoredEntry {
        StoredEntry(
            id: id, name: name, lane: lane, key: UUID(), enqueued: enqueued, expiry: expiry,
            replacementKey: replacementKey, user: user, dependencies: dependencies)
    }

    func isOfUser(of older: StoredEntry) -> Bool {
        guard let user = older.user else { return self.user == nil }
        return user.isContained(in: marks.identities)
    }
}

/// The records of several changes, which are written at once.
struct OutboxPlan {
    struct Step {
        var result: Result<UInt64?, OutboxError>
        var kind: OutboxFormat.Kind?
        var id: UInt64 = 0
        var entry: StoredEntry?
        var value = Data()
        var payload: [UInt8] = []
        /// The entry with the same number, whose content the new content replaces.
        var old: StoredEntry?
        /// Merges the old entry's value with the new value. It's nil if the new value doesn't depend on the old one.
        var merge: (@Sendable (Data) throws(OutboxError) -> Data)?
    }

    private(set) var steps: [Step] = []
    private var touched: Set<UInt64> = []
    private var slots: Set<OutboxQueue.Slot> = []
    private var next: UInt64
    private var count: Int
    private var byteCount: Int64

    init(_ queue: borrowing OutboxQueue) {
        (next, count, byteCount) = (queue.next, queue.entries.count, queue.byteCount)
    }

    /// Adds a change to the plan. Returns false if the change depends on an earlier change in this plan. The change
    /// then has to wait for the next plan.
    mutating func add(_ change: OutboxChange, to queue: borrowing OutboxQueue) -> Bool {
        switch change {
        case .add(let new): return add(new, to: queue)
        case .edit(let id, let new):
            guard touched.insert(id).inserted else { return false }
            guard let old = queue.entries[id] else { return nothing() }
            var entry = new.stored(id: id)
            (entry.lane, entry.enqueued, entry.user) = (old.lane, old.enqueued, old.user)
            steps.append(Step(result: .success(id), kind: .put, id: id, entry: entry, value: new.value, old: old))
        case .mark(let kind, let id):
            guard touched.insert(id).inserted else { return false }
            // An entry whose record is damaged counts as known too, because it may have been sent, and other entries
            // may depend on it.
            let isKnown = kind == .sent ? queue.isAwaited(id) : queue.contains(id)
            guard isKnown else { return nothing() }
            steps.append(Step(result: .success(id), kind: kind, id: id))
        case .remove(let id):
            guard touched.insert(id).inserted else { return false }
            let isKnown = queue.contains(id)
            guard isKnown else { return nothing() }
            steps.append(Step(result: .success(id), kind: .removed, id: id))
        case .look: return nothing()
        }
        return true
    }

    private mutating func nothing() -> Bool {
        steps.append(Step(result: .success(nil)))
        return true
    }

    private mutating func add(_ new: NewEntry, to queue: borrowing OutboxQueue) -> Bool {
        let slot = new.replacementKey.map { OutboxQueue.Slot(name: new.name, lane: new.lane, key: $0) }
        if let slot, !slots.insert(slot).inserted { return false }
        let dependencies = queue.known(new.dependencies)
        if let slot, let old = queue.replaced(by: slot, after: dependencies), new.isOfUser(of: old) {
            guard touched.insert(old.id).inserted else { return false }
            var entry = new.stored(id: old.id)
            entry.enqueued = old.enqueued
            entry.hasDroppedDependency = old.hasDroppedDependency
            entry.dependencies =
                old.dependencies + old.lostDependencies + dependencies.filter { !old.dependencies.contains($0) }
            steps.append(
                Step(
                    result: .success(old.id), kind: .put, id: old.id, entry: entry, value: new.value, old: old,
                    merge: new.merge))
            return true
        }
        // The entry gets its number in `complete`, if it fits.
        var entry = new.stored(id: 0)
        entry.dependencies = dependencies
        steps.append(Step(result: .success(nil), kind: .put, entry: entry, value: new.value))
        return true
    }

    /// Merges each replaced entry's value with the new value, and numbers the new entries. Refuses contents that don't
    /// fit, in which case an older content stays.
    ///
    /// - Parameter read: Returns the value of an entry, or nil if it's damaged. The new value then isn't merged.
    mutating func complete(_ options: OutboxOptions, reading read: (StoredEntry) throws(OutboxError) -> Data?) {
        for index in steps.indices {
            do throws(OutboxError) { steps[index] = try completed(steps[index], options, reading: read) } catch {
                steps[index] = Step(result: .failure(error))
            }
        }
    }

    private mutating func completed(
        _ step: Step, _ options: OutboxOptions, reading read: (StoredEntry) throws(OutboxError) -> Data?
    ) throws(OutboxError) -> Step {
        guard var entry = step.entry else { return step }
        var step = step
        if let old = step.old, let merge = step.merge, let value = try read(old) { step.value = try merge(value) }
        step.payload = entry.payload(step.value)
        guard step.payload.count <= OutboxFormat.maximumPayload else {
            throw OutboxError(.tooLarge, "the entry has more than \(OutboxFormat.maximumPayload) bytes")
        }
        let growth = Int64(step.payload.count - (step.old?.extent.length ?? 0))
        guard step.old != nil || count < options.maximumEntries,
            growth <= 0 || byteCount + growth <= Int64(options.maximumBytes)
        else {
            let limit = "at most \(options.maximumEntries) entries and \(options.maximumBytes) bytes"
            throw OutboxError(.queueFull, "the outbox is full; it holds \(limit)")
        }
        if step.old == nil {
            guard next < OutboxFormat.maximumNext else {
                throw OutboxError(.fileFailed, "the outbox has used all of its entry numbers")
            }
            (entry.id, step.id, step.result) = (next, next, .success(next))
            (next, count) = (next + 1, count + 1)
        }
        byteCount += growth
        step.entry = entry
        return step
    }

    /// Returns the bytes to write. The entries' positions in the steps are relative to the first record.
    func records() -> (bytes: [UInt8], steps: [Step]) {
        var (bytes, placed) = ([UInt8](), steps)
        for (index, step) in steps.enumerated() {
            guard let kind = step.kind else { continue }
            guard let entry = step.entry else {
                OutboxFormat.add(kind, id: step.id, to: &bytes)
                continue
            }
            let start = OutboxFormat.add(.put, id: entry.id, payload: step.payload, to: &bytes)
            placed[index].entry = entry.placed(at: Int64(start), step.payload.count, valueLength: step.value.count)
        }
        return (bytes, placed)
    }
}
