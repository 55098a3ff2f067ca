/// What is pending, what is written at this moment and what is hidden, in steps that happen at once.
extension CacheWriter.State {
    func isRemoved(
        _ head: CacheEntryHead, _ place: CacheWriter.Place, since mark: CacheWriter.Mark
    ) -> Bool {
        if removals == mark.removals { return false }
        let since = recent.filter { $0.number > mark.removals }
        // Some are forgotten by now: one of them may have meant it.
        if UInt64(since.count) < removals - mark.removals { return true }
        return since.contains { $0.store == place.store && $0.matches(place.key, head) }
    }

    mutating func remove(
        in store: ObjectIdentifier, where matches: @escaping @Sendable (CacheKey, CacheEntryHead) -> Bool
    ) {
        removals += 1
        recent.append(CacheWriter.Removal(number: removals, store: store, matches: matches))
        if recent.count > CacheWriter.remembered { recent.removeFirst() }
        pending = pending.filter { $0.key.store != store || !matches($0.key.key, $0.value.head) }
    }

    mutating func hide(_ place: CacheWriter.Place, _ store: any CacheStore) {
        if hidden.count >= CacheWriter.maximumHidden, hidden[place] == nil {
            blind[place.store] = store
        } else {
            hidden[place] = store
        }
    }

    /// What the store holds there counts again, unless it still writes something.
    mutating func show(_ place: CacheWriter.Place) {
        if running[place] == nil { hidden[place] = nil }
    }

    /// Whether a write is still wanted when its turn has come.
    mutating func begin(_ write: CacheWriter.Write) -> Bool {
        guard pending[write.place]?.number == write.number else { return false }
        running[write.place, default: [:]][write.number] = write.head
        return true
    }

    /// Whether what the store holds now has to go.
    mutating func end(_ write: CacheWriter.Write, isWritten: Bool) -> Bool {
        leave(write)
        if let next = pending[write.place] {
            // A newer one follows in line.
            if next.number != write.number { return false }
            pending[write.place] = nil
            if isWritten {
                show(write.place)
                return false
            }
        }
        hide(write.place, write.store)
        return true
    }

    /// The same for a stream: one that failed left what was there.
    mutating func endStream(_ write: CacheWriter.Write, isWritten: Bool) -> Bool {
        leave(write)
        if isRemoved(write.head, write.place, since: write.mark) {
            hide(write.place, write.store)
            return true
        }
        if isWritten { show(write.place) }
        return false
    }

    private mutating func leave(_ write: CacheWriter.Write) {
        running[write.place]?[write.number] = nil
        if running[write.place]?.isEmpty == true { running[write.place] = nil }
    }
}
