import Errand
import Synchronization

/// Removals of many entries. Readers see no entry that one selects, from its beginning until the store has completed
/// it; if the store fails, until a later attempt, before the next entry is written, has succeeded.
extension CacheWriter {
    struct Selection: Sendable {
        /// Retained, so that its identity stays unique.
        let store: any CacheStore
        let matches: @Sendable (CacheEntryHead) -> Bool
        var hasFailed = false
    }

    /// Removes every entry that matches, also those that are queued and those whose responses are in flight. Throws the
    /// error of the store.
    func removeAll(in store: any CacheStore, where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        let operation = state.withLock { state in
            state.remove(in: store) { _, head in matches(head) }
            let operation = state.beginOperation()
            state.selections[operation] = Selection(store: store, matches: matches)
            return operation
        }
        try await runInOrder { try await self.carryOut(operation) }
    }

    private func carryOut(_ operation: UInt64) async throws {
        guard let selection = state.withLock({ $0.selections[operation] }) else { return }
        do { try await selection.store.removeAll(where: selection.matches) } catch {
            let ended = state.withLock { $0.fail(operation, selection.store) }
            withExtendedLifetime(ended) {}
            throw error
        }
        let ended = state.withLock { $0.selections.removeValue(forKey: operation) }
        withExtendedLifetime(ended) {}
    }

    /// Carries out the removals that a store has failed to, so that it can be used again.
    func clear(_ store: any CacheStore) async throws {
        let id = ObjectIdentifier(store)
        let (begun, failed) = state.withLock { state -> (UInt64?, [UInt64]) in
            if state.suspended.isEmpty && state.selections.isEmpty { return (nil, []) }
            let begun = state.suspended[id] == nil ? nil : state.beginOperation()
            return (begun, state.failedSelections(in: id))
        }
        if let begun {
            try await store.removeAll { _ in true }
            state.withLock { $0.endClearing(id, begun) }
        }
        for operation in failed { try await carryOut(operation) }
    }
}

extension CacheWriter.State {
    /// Whether nothing is queued, hidden or being removed.
    var isCalm: Bool { pending.isEmpty && hidden.isEmpty && suspended.isEmpty && selections.isEmpty }

    /// The removals of many entries that a store has not ended.
    func selections(in store: ObjectIdentifier) -> [CacheWriter.Selection] {
        selections.values.filter { ObjectIdentifier($0.store) == store }
    }

    func failedSelections(in store: ObjectIdentifier) -> [UInt64] {
        selections.filter { $0.value.hasFailed && ObjectIdentifier($0.value.store) == store }.keys.sorted()
    }

    /// A store has failed to remove many entries. Where it has failed too often to remember each, all of its entries
    /// are removed before the next is written. Returns what is no longer remembered.
    mutating func fail(_ operation: UInt64, _ store: any CacheStore) -> [CacheWriter.Selection] {
        selections[operation]?.hasFailed = true
        let id = ObjectIdentifier(store)
        let failed = failedSelections(in: id)
        guard failed.count > CacheWriter.maximumFailedSelections else { return [] }
        var all = CacheWriter.Hidden(store: store)
        all.failure = operations
        suspended[id] = all
        return failed.compactMap { selections.removeValue(forKey: $0) }
    }
}
