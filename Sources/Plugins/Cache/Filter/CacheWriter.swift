import Errand
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes entries in the background, one after the other, and shows them to readers until they are written.
///
/// An entry is a value that was made when its answer came, so nothing that changes afterwards changes what is written. A
/// removal also counts for what is still to be written, and for answers that are still on their way.
final class CacheWriter: Sendable {
    /// A moment before which a removal did not see an answer.
    struct Mark: Sendable { fileprivate let removals: UInt64 }

    private struct Pending: Sendable {
        let number: UInt64
        let entry: CacheEntry
    }

    private struct Removal: Sendable {
        let number: UInt64
        let matches: @Sendable (CacheKey, CacheEntryHead) -> Bool
    }

    private struct State: Sendable {
        var pending: [PendingKey: Pending] = [:]
        var last: Task<Void, Never>?
        var writes: UInt64 = 0
        var bytes: Int64 = 0
        var removals: UInt64 = 0
        /// The newest, in order.
        var recent: [Removal] = []
    }

    private struct PendingKey: Hashable, Sendable {
        let store: ObjectIdentifier
        let key: CacheKey
    }

    private let state = Mutex(State())
    /// More than this is not kept waiting; such an answer is not stored.
    private static let maximumBytes: Int64 = 64 << 20
    private static let remembered = 64

    func mark() -> Mark { state.withLock { Mark(removals: $0.removals) } }

    /// What is written or about to be.
    func entry(for key: CacheKey, in store: any CacheStore) async throws -> CacheEntry? {
        let id = PendingKey(store: ObjectIdentifier(store), key: key)
        if let pending = state.withLock({ $0.pending.isEmpty ? nil : $0.pending[id]?.entry }) { return pending }
        return try await store.entry(for: key)
    }

    /// Whether a removal since the mark counts for an entry.
    func isRemoved(_ head: CacheEntryHead, _ key: CacheKey, since mark: Mark) -> Bool {
        state.withLock { Self.isRemoved(head, key, since: mark, $0) }
    }

    private static func isRemoved(
        _ head: CacheEntryHead, _ key: CacheKey, since mark: Mark, _ state: borrowing State
    ) -> Bool {
        if state.removals == mark.removals { return false }
        let since = state.recent.filter { $0.number > mark.removals }
        // Some are forgotten by now: one of them may have meant it.
        if UInt64(since.count) < state.removals - mark.removals { return true }
        return since.contains { $0.matches(key, head) }
    }

    /// Puts an entry with its body in memory in line. `failed` hears why it could not be written.
    func write(
        _ entry: CacheEntry, for key: CacheKey, in store: any CacheStore, since mark: Mark,
        failed: @escaping @Sendable (any Error) -> Void
    ) {
        let size = (entry.body.length ?? 0) + entry.head.byteCount
        let id = PendingKey(store: ObjectIdentifier(store), key: key)
        let isAccepted = state.withLock { state in
            if Self.isRemoved(entry.head, key, since: mark, state) { return true }
            guard state.bytes + size <= Self.maximumBytes else { return false }
            state.bytes += size
            state.writes += 1
            let number = state.writes
            state.pending[id] = Pending(number: number, entry: entry)
            state.last = Task.detached { [last = state.last] in
                await last?.value
                if !self.isRemoved(entry.head, key, since: mark) {
                    do { try await store.store(entry, for: key) } catch { failed(error) }
                    // A removal in the middle of the write found nothing to remove.
                    if self.isRemoved(entry.head, key, since: mark) { try? await store.remove(key) }
                }
                self.finish(id, number, size)
            }
            return true
        }
        if !isAccepted { failed(CacheStoreError("too much is waiting to be written")) }
    }

    private func finish(_ id: PendingKey, _ number: UInt64, _ size: Int64) {
        state.withLock { state in
            state.bytes -= size
            if state.pending[id]?.number == number { state.pending[id] = nil }
            if state.pending.isEmpty && state.writes == number { state.last = nil }
        }
    }

    /// Does something in line: after what was put in before, before what comes next. Returns when it is done.
    func inLine(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = state.withLock { state in
            let task = Task.detached { [last = state.last] in
                await last?.value
                try await body()
            }
            state.last = Task.detached { _ = await task.result }
            return task
        }
        try await task.value
    }

    /// Has `flush` wait for work that writes beside the line.
    func follow(_ task: Task<Void, Never>) {
        state.withLock { state in
            state.last = Task.detached { [last = state.last] in
                await last?.value
                await task.value
            }
        }
    }

    /// Forgets what is to be written for a key; an answer that is on its way may still be written.
    func discard(_ key: CacheKey, in store: any CacheStore) {
        state.withLock { $0.pending[PendingKey(store: ObjectIdentifier(store), key: key)] = nil }
    }

    /// From now on no entry that matches is shown, and none of an answer that is on its way is written.
    func remove(where matches: @escaping @Sendable (CacheKey, CacheEntryHead) -> Bool) {
        state.withLock { state in
            state.removals += 1
            state.recent.append(Removal(number: state.removals, matches: matches))
            if state.recent.count > Self.remembered { state.recent.removeFirst() }
            state.pending = state.pending.filter { !matches($0.key.key, $0.value.entry.head) }
        }
    }

    func flush() async {
        while let last = state.withLock({ $0.last }) {
            await last.value
            state.withLock { state in if state.last == last { state.last = nil } }
        }
    }
}
