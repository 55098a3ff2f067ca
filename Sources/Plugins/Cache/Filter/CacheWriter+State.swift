/// The caller of these methods holds the lock.
extension CacheWriter.State {
    /// Whether the entry comes from a request that began before the request of an entry that was written since. An
    /// index only gains names, so its order doesn't matter.
    func isOutdated(_ head: CacheEntryHead, _ location: CacheWriter.Location, _ start: CacheWriter.Start) -> Bool {
        head.kind != .index && latest[location].map { $0 > start.number } == true
    }

    mutating func record(_ head: CacheEntryHead, _ location: CacheWriter.Location, _ start: CacheWriter.Start) {
        if head.kind == .index { return }
        latest[location] = max(latest[location] ?? 0, start.number)
        guard latest.count > CacheWriter.maximumRecentStarts else { return }
        let oldest = starts - min(starts, UInt64(CacheWriter.maximumRecentStarts / 2))
        latest = latest.filter { $0.value > oldest }
    }

    mutating func remove(_ target: RecentRemovals.Target, in store: any CacheStore) {
        let id = ObjectIdentifier(store)
        removals.add(target, in: id)
        pending = pending.filter { $0.key.store != id || !$0.value.written.isIn(target, $0.key.key) }
        for (location, all) in running where location.store == id {
            for (operation, written) in all where written.isIn(target, location.key) {
                hide(location, store, until: operation)
            }
        }
    }

    mutating func beginOperation() -> UInt64 {
        operations += 1
        return operations
    }

    mutating func hide(_ location: CacheWriter.Location, _ store: any CacheStore, until operation: UInt64) {
        hidden[location, default: CacheWriter.Hidden(store: store)].open.insert(operation)
    }

    /// The entry becomes visible unless this or another operation may have left a removed entry in the store.
    mutating func settle(_ location: CacheWriter.Location, _ operation: UInt64, isClean: Bool) {
        guard var entry = hidden[location] else { return }
        entry.open.remove(operation)
        if !isClean {
            entry.failure = operations
        } else if let failure = entry.failure, failure < operation {
            entry.failure = nil
        }
        hidden[location] = entry
        guard entry.open.isEmpty else { return }
        if entry.failure == nil {
            hidden[location] = nil
        } else if hidden.count > CacheWriter.maximumHidden {
            hidden[location] = nil
            suspended[location.store] = entry
        }
    }

    /// Shows the store again, unless another removal has failed.
    mutating func endClearing(_ store: ObjectIdentifier, _ operation: UInt64) {
        if let failure = suspended[store]?.failure, failure < operation { suspended[store] = nil }
        for location in hidden.keys where location.store == store {
            settle(location, operation, isClean: true)
        }
    }

    mutating func run(_ written: CacheWriter.Written, _ location: CacheWriter.Location) -> UInt64 {
        let operation = beginOperation()
        running[location, default: [:]][operation] = written
        return operation
    }

    mutating func begin(_ write: CacheWriter.Write) -> UInt64? {
        guard pending[write.location]?.number == write.number else { return nil }
        return run(write.written, write.location)
    }

    /// Returns an operation that has to remove the entry from the store, if the entry was removed meanwhile or a failed
    /// write left an outdated entry.
    mutating func end(_ write: CacheWriter.Write, _ operation: UInt64, isWritten: Bool) -> UInt64? {
        if pending[write.location]?.number == write.number { pending[write.location] = nil }
        return end(write.location, in: write.store, operation: operation, keeps: isWritten, isWritten: isWritten)
    }

    /// Ends the write of a streamed body like ``end(_:_:isWritten:)``. Unlike other failed writes, a failed stream
    /// leaves the previous entry in the store.
    mutating func endStream(
        _ location: CacheWriter.Location, in store: any CacheStore, operation: UInt64, isWritten: Bool
    ) -> UInt64? {
        end(location, in: store, operation: operation, keeps: true, isWritten: isWritten)
    }

    private mutating func end(
        _ location: CacheWriter.Location, in store: any CacheStore, operation: UInt64, keeps: Bool, isWritten: Bool
    ) -> UInt64? {
        running[location]?[operation] = nil
        if running[location]?.isEmpty == true { running[location] = nil }
        if keeps, hidden[location]?.open.contains(operation) != true {
            if isWritten { settle(location, operation, isClean: true) }
            return nil
        }
        let erasure = beginOperation()
        hide(location, store, until: erasure)
        hidden[location]?.open.remove(operation)
        return erasure
    }

    /// Adds a task to the queue. `body` receives the previous task, so it can wait for that task.
    mutating func enqueue(_ body: @escaping @Sendable (Task<Void, Never>?) async -> Void) {
        queued += 1
        last = Task.detached { [last] in await body(last) }
    }
}

extension CacheWriter.Write {
    var written: CacheWriter.Written { CacheWriter.Written(head: head, old: old) }
}
