/// The transitions of the writer's state; each runs while the lock is held.
extension CacheWriter.State {
    func isRemoved(
        _ head: CacheEntryHead, _ location: CacheWriter.Location, since mark: CacheWriter.Mark
    ) -> Bool {
        if removals == mark.removals { return false }
        let since = recent.filter { $0.number > mark.removals }
        // Some removals are no longer remembered: one of them may have matched.
        if UInt64(since.count) < removals - mark.removals { return true }
        return since.contains { $0.store == location.store && $0.matches(location.key, head) }
    }

    mutating func remove(
        in store: ObjectIdentifier, where matches: @escaping @Sendable (CacheKey, CacheEntryHead) -> Bool
    ) {
        removals += 1
        recent.append(CacheWriter.Removal(number: removals, store: store, matches: matches))
        if recent.count > CacheWriter.maximumRecentRemovals { recent.removeFirst() }
        pending = pending.filter { $0.key.store != store || !matches($0.key.key, $0.value.head) }
    }

    mutating func hide(_ location: CacheWriter.Location, _ store: any CacheStore) {
        if hidden.count >= CacheWriter.maximumHidden, hidden[location] == nil {
            suspended[location.store] = store
        } else {
            hidden[location] = store
        }
    }

    /// Makes the stored entry visible again, unless the store is still writing to it.
    mutating func unhide(_ location: CacheWriter.Location) {
        if running[location] == nil { hidden[location] = nil }
    }

    /// Begins a write; false if it has been replaced or removed meanwhile.
    mutating func begin(_ write: CacheWriter.Write) -> Bool {
        guard pending[write.location]?.number == write.number else { return false }
        running[write.location, default: [:]][write.number] = write.head
        return true
    }

    /// Ends a write. Returns whether the entry in the store has to be removed.
    mutating func end(_ write: CacheWriter.Write, isWritten: Bool) -> Bool {
        removeRunning(write)
        if let next = pending[write.location] {
            // A newer write follows in the queue.
            if next.number != write.number { return false }
            pending[write.location] = nil
            if isWritten {
                unhide(write.location)
                return false
            }
        }
        hide(write.location, write.store)
        return true
    }

    /// Ends the write of a stream. Returns whether the entry in the store has to be removed; a stream that failed left the
    /// previous entry.
    mutating func endStream(_ write: CacheWriter.Write, isWritten: Bool) -> Bool {
        removeRunning(write)
        if isRemoved(write.head, write.location, since: write.mark) {
            hide(write.location, write.store)
            return true
        }
        if isWritten { unhide(write.location) }
        return false
    }

    private mutating func removeRunning(_ write: CacheWriter.Write) {
        running[write.location]?[write.number] = nil
        if running[write.location]?.isEmpty == true { running[write.location] = nil }
    }
}
