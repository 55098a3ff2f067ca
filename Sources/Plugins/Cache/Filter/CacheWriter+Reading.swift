import Errand
import Synchronization

/// Reads: nobody sees what has been removed, wherever a store still has it.
extension CacheWriter {
    /// What the queue knows of an entry before a store is read.
    private struct View {
        let mark: Mark
        var pending: CacheEntry?
        var isHidden = false
        var selections: [Selection] = []
    }

    /// The entry that is stored or queued; none that a removal selects which has begun and not ended.
    func entry(for key: CacheKey, in store: any CacheStore) async throws -> CacheEntry? {
        let view = view(of: key, in: store)
        if view.pending != nil || view.isHidden { return view.pending }
        guard let entry = try await store.entry(for: key), isVisible(entry, key, in: store, view) else { return nil }
        return entry
    }

    /// The same without a wait, as far as the store knows it.
    func entryAtOnce(for key: CacheKey, in store: any ImmediateStore) -> KnownEntry {
        let view = view(of: key, in: store)
        if view.pending != nil || view.isHidden { return view.pending.map(KnownEntry.entry) ?? .nothing }
        let known = store.entryAtOnce(for: key)
        if case .entry(let entry) = known, !isVisible(entry, key, in: store, view) { return .nothing }
        return known
    }

    private func view(of key: CacheKey, in store: any CacheStore) -> View {
        state.withLock { state in
            var view = View(mark: Mark(removals: state.removals))
            if state.isCalm { return view }
            let location = Location(store, key)
            view.pending = state.pending[location].flatMap { write in
                write.body.map { CacheEntry(head: write.head, body: $0) }
            }
            view.isHidden = state.hidden[location] != nil || state.suspended[location.store] != nil
            view.selections = state.selections(in: location.store)
            return view
        }
    }

    /// Whether no removal selects an entry that a store has returned: one may have begun, and ended, after the store
    /// had read it.
    private func isVisible(_ entry: CacheEntry, _ key: CacheKey, in store: any CacheStore, _ view: View) -> Bool {
        !view.selections.contains { $0.matches(entry.head) } && !isRemoved(entry.head, key, in: store, since: view.mark)
    }

    /// Whether a removal since the mark applies to an entry.
    func isRemoved(_ head: CacheEntryHead, _ key: CacheKey, in store: any CacheStore, since mark: Mark) -> Bool {
        state.withLock { $0.isRemoved(Written(head: head), Location(store, key), since: mark) }
    }
}
