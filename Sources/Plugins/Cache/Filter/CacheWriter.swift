import Errand
import Synchronization

import ErrandEssentials

/// Writes entries in the background, one after the other, and shows them to readers until they are written.
///
/// An entry is a value that was made when its response came, so nothing that changes afterwards changes what is written. A
/// removal also counts for what is still to be written, for what a store is writing at that moment, and for responses that
/// are still on their way: once it has completed, no reader sees anything from before it.
final class CacheWriter: Sendable {
    /// A moment before which a removal did not see a response.
    struct Mark: Sendable { let removals: UInt64 }

    /// A key in a store.
    struct Place: Hashable, Sendable {
        let store: ObjectIdentifier
        let key: CacheKey

        init(_ store: any CacheStore, _ key: CacheKey) { (self.store, self.key) = (ObjectIdentifier(store), key) }
    }

    /// A write in line.
    struct Write: Sendable {
        let number: UInt64
        let place: Place
        let store: any CacheStore
        let mark: Mark
        let head: CacheEntryHead
        /// Nil for a new head of an entry whose body is in the store only.
        let body: HTTPBody?
        /// The head that this one replaces.
        let old: CacheEntryHead?
        let failed: @Sendable (any Error) -> Void

        var size: Int64 { head.byteCount + (body?.length ?? 0) }
    }

    struct Removal: Sendable {
        let number: UInt64
        let store: ObjectIdentifier
        let matches: @Sendable (CacheKey, CacheEntryHead) -> Bool
    }

    struct State: Sendable {
        var pending: [Place: Write] = [:]
        /// What stores write at this moment.
        var running: [Place: [UInt64: CacheEntryHead]] = [:]
        /// Where a store may hold what was removed: until it is removed there too, readers see nothing.
        var hidden: [Place: any CacheStore] = [:]
        /// Stores with more hidden places than are remembered: readers see nothing of them.
        var blind: [ObjectIdentifier: any CacheStore] = [:]
        var last: Task<Void, Never>?
        var writes: UInt64 = 0
        var bytes: Int64 = 0
        var removals: UInt64 = 0
        /// The newest, in order.
        var recent: [Removal] = []
    }

    private let state = Mutex(State())
    /// More than this is not kept waiting; such a response is not stored.
    private static let maximumBytes: Int64 = 64 << 20
    static let remembered = 256
    static let maximumHidden = 4096

    func mark() -> Mark { state.withLock { Mark(removals: $0.removals) } }

    /// What is written or about to be.
    func entry(for key: CacheKey, in store: any CacheStore) async throws -> CacheEntry? {
        let (pending, isHidden) = state.withLock { state -> (CacheEntry?, Bool) in
            if state.pending.isEmpty && state.hidden.isEmpty && state.blind.isEmpty { return (nil, false) }
            let place = Place(store, key)
            let pending = state.pending[place].flatMap { write in
                write.body.map { CacheEntry(head: write.head, body: $0) }
            }
            return (pending, state.hidden[place] != nil || state.blind[place.store] != nil)
        }
        if pending != nil || isHidden { return pending }
        return try await store.entry(for: key)
    }

    /// Whether a removal since the mark counts for an entry.
    func isRemoved(_ head: CacheEntryHead, _ key: CacheKey, in store: any CacheStore, since mark: Mark) -> Bool {
        state.withLock { $0.isRemoved(head, Place(store, key), since: mark) }
    }

    /// Puts an entry with its body in memory in line. `failed` receives why it could not be written.
    ///
    /// - Parameter old: the head of the stored entry, if only the head changes; `body` is then nil if it is not in memory.
    func write(
        _ head: CacheEntryHead, _ body: HTTPBody?, replacing old: CacheEntryHead? = nil, for key: CacheKey,
        in store: any CacheStore, since mark: Mark, failed: @escaping @Sendable (any Error) -> Void
    ) {
        let isAccepted = state.withLock { state in
            let place = Place(store, key)
            if state.isRemoved(head, place, since: mark) { return true }
            let write = Write(
                number: state.writes + 1, place: place, store: store, mark: mark, head: head, body: body, old: old,
                failed: failed)
            guard state.bytes + write.size <= Self.maximumBytes else { return false }
            state.bytes += write.size
            state.writes += 1
            state.pending[place] = write
            state.last = Task.detached { [last = state.last] in
                await last?.value
                await self.carryOut(write)
            }
            return true
        }
        if !isAccepted { failed(CacheStoreError("too much is waiting to be written")) }
    }

    private func carryOut(_ write: Write) async {
        defer { finish(write) }
        guard state.withLock({ $0.begin(write) }) else { return }
        var failure: (any Error)?
        do {
            try await clear(write.store)
            var isDone = false
            if let old = write.old {
                isDone = try await write.store.update(write.head, replacing: old, for: write.place.key)
            }
            if !isDone, let body = write.body {
                try await write.store.store(CacheEntry(head: write.head, body: body), for: write.place.key)
            }
        } catch { failure = error }
        failure.map(write.failed)
        // What it took the place of is out of date: it goes too if this could not be written.
        if state.withLock({ $0.end(write, isWritten: failure == nil) }) { await erase(write) }
    }

    private func erase(_ write: Write) async {
        do {
            try await write.store.remove(write.place.key)
            state.withLock { $0.show(write.place) }
        } catch { write.failed(error) }
    }

    private func finish(_ write: Write) {
        state.withLock { state in
            state.bytes -= write.size
            if state.pending.isEmpty && state.writes == write.number { state.last = nil }
        }
    }

    /// Empties a store of which too much is hidden.
    private func clear(_ store: any CacheStore) async throws {
        let id = ObjectIdentifier(store)
        guard state.withLock({ $0.blind[id] != nil }) else { return }
        try await store.removeAll { _ in true }
        state.withLock { state in
            state.blind[id] = nil
            state.hidden = state.hidden.filter { $0.key.store != id || state.running[$0.key] != nil }
        }
    }

    /// Writes an entry whose body passes to its reader at the same time, beside the line. Returns false if it was removed
    /// before it began; throws what the store and the body throw.
    func stream(
        _ entry: CacheEntry, for key: CacheKey, in store: any CacheStore, since mark: Mark
    ) async throws -> Bool {
        let begun = state.withLock { state -> Write? in
            let place = Place(store, key)
            if state.isRemoved(entry.head, place, since: mark) { return nil }
            state.writes += 1
            let write = Write(
                number: state.writes, place: place, store: store, mark: mark, head: entry.head, body: nil, old: nil,
                failed: { _ in })
            state.running[place, default: [:]][write.number] = write.head
            return write
        }
        guard let write = begun else { return false }
        let result: Result<Void, any Error>
        do {
            try await clear(store)
            result = .success(try await store.store(entry, for: key))
        } catch { result = .failure(error) }
        let isWritten = (try? result.get()) != nil
        if state.withLock({ $0.endStream(write, isWritten: isWritten) }) { await erase(write) }
        try result.get()
        return true
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

    /// Removes the entry of a key, also one that is about to be written or whose response is on its way. From then on it
    /// is not shown, even if the store throws.
    func remove(_ key: CacheKey, from store: any CacheStore) async throws {
        let place = Place(store, key)
        state.withLock { state in
            state.remove(in: place.store) { other, _ in other == key }
            state.hide(place, store)
        }
        do {
            try await store.remove(key)
            state.withLock { $0.show(place) }
        } catch {
            state.withLock { $0.hide(place, store) }
            throw error
        }
    }

    /// From now on no entry that matches is written, nor shown before it is written.
    func remove(
        in store: any CacheStore, where matches: @escaping @Sendable (CacheKey, CacheEntryHead) -> Bool
    ) {
        state.withLock { state in
            for (place, heads) in state.running where place.store == ObjectIdentifier(store) {
                if heads.values.contains(where: { matches(place.key, $0) }) { state.hide(place, store) }
            }
            state.remove(in: ObjectIdentifier(store), where: matches)
        }
    }

    func flush() async {
        while let last = state.withLock({ $0.last }) {
            await last.value
            state.withLock { state in if state.last == last { state.last = nil } }
        }
    }
}
