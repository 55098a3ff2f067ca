import Errand
import ErrandEssentials
import Synchronization

/// Writes entries in the background, one after the other. Readers see an entry before it's written.
///
/// A removal also applies to queued entries, running writes, and responses in flight. Once the removal is complete,
/// readers see only newer entries.
final class CacheWriter: Sendable {
    /// When a request began.
    struct Start: Sendable {
        /// The number of removals so far. Later removals also apply to the request's response.
        let removals: UInt64
        /// The request's place in the order of all requests. The response to an earlier request doesn't replace an
        /// entry from a later request, whichever arrives last.
        let number: UInt64
    }

    struct Location: Hashable, Sendable {
        let store: ObjectIdentifier
        let key: CacheKey

        init(_ store: any CacheStore, _ key: CacheKey) { (self.store, self.key) = (ObjectIdentifier(store), key) }
    }

    struct Write: Sendable {
        let number: UInt64
        let location: Location
        let store: any CacheStore
        let head: CacheEntryHead
        /// The body to write. Nil if only the head changes and the body isn't in memory.
        let body: HTTPBody?
        let old: CacheEntryHead?
        let failed: @Sendable (any Error) -> Void

        var size: Int64 { head.byteCount + (body?.length ?? 0) }
    }

    /// A written entry. `old` is the head of the entry whose body the new entry reuses.
    struct Written: Sendable {
        let head: CacheEntryHead
        var old: CacheEntryHead?
    }

    /// A key whose entry was removed, but may still be in the store. The entry is hidden from readers until the store
    /// has removed it.
    struct Hidden: Sendable {
        /// The store, retained so another store can't get the same `ObjectIdentifier`.
        let store: any CacheStore
        /// The operations that must end before the entry becomes visible.
        var open: Set<UInt64> = []
        /// The number of the latest operation at the time of a failure. A later operation must succeed before the entry
        /// becomes visible.
        var failure: UInt64?
    }

    struct State: Sendable {
        var pending: [Location: Write] = [:]
        var running: [Location: [UInt64: Written]] = [:]
        var hidden: [Location: Hidden] = [:]
        /// Stores with too many failed removals to remember their keys. All their entries are hidden.
        var suspended: [ObjectIdentifier: Hidden] = [:]
        var selections: [UInt64: Selection] = [:]
        var last: Task<Void, Never>?
        var queued: UInt64 = 0
        var bytes: Int64 = 0
        var removals = RecentRemovals()
        var operations: UInt64 = 0
        var starts: UInt64 = 0
        /// The latest request whose response was written for a key.
        var latest: [Location: UInt64] = [:]
    }

    let state = Mutex(State())
    /// The most bytes in the queue. While it's full, new entries are dropped.
    private static let maximumBytes: Int64 = 64 << 20
    /// Responses to requests that are older than the latest half of so many requests are written in any order.
    static let maximumRecentStarts = 4096
    static let maximumHidden = 4096
    static let maximumFailedSelections = 64

    func start() -> Start {
        state.withLock { state in
            state.starts += 1
            return Start(removals: state.removals.count, number: state.starts)
        }
    }

    /// Writes an entry, unless it was removed since the request began, or replaced by the response to a later request.
    ///
    /// - Parameters:
    ///   - old: The stored head, if only the head changes. `body` is then nil, unless it's in memory.
    ///   - failed: Receives the reason if the entry isn't written, unless it was removed or replaced.
    func write(
        _ head: CacheEntryHead, _ body: HTTPBody?, replacing old: CacheEntryHead? = nil, for key: CacheKey,
        in store: any CacheStore, since start: Start, failed: @escaping @Sendable (any Error) -> Void
    ) {
        let failure = state.withLock { state -> CacheStoreError? in
            let location = Location(store, key)
            switch state.removals.match(Written(head: head, old: old), location, since: start) {
            case .removed: return nil
            case .unknown: return .tooManyRemovals
            case .none: break
            }
            if state.isOutdated(head, location, start) { return nil }
            let write = Write(
                number: state.queued + 1, location: location, store: store, head: head, body: body, old: old,
                failed: failed)
            guard state.bytes + write.size <= Self.maximumBytes else {
                return CacheStoreError("the entry was dropped, because too much data is waiting to be written")
            }
            state.bytes += write.size
            state.pending[location] = write
            state.record(head, location, start)
            state.enqueue { last in
                await last?.value
                await self.perform(write)
            }
            return nil
        }
        if let failure { failed(failure) }
    }

    private func perform(_ write: Write) async {
        defer { finish(write) }
        guard let operation = state.withLock({ $0.begin(write) }) else { return }
        var failure: (any Error)?
        do {
            try await clear(write.store)
            var isDone = false
            if let old = write.old {
                isDone = try await write.store.update(write.head, replacing: old, for: write.location.key)
            }
            if !isDone, let body = write.body {
                try await write.store.store(CacheEntry(head: write.head, body: body), for: write.location.key)
            }
        } catch { failure = error }
        failure.map(write.failed)
        let erasure = state.withLock { $0.end(write, operation, isWritten: failure == nil) }
        if let erasure, let error = await erase(write.location, from: write.store, operation: erasure) {
            write.failed(error)
        }
    }

    private func erase(_ location: Location, from store: any CacheStore, operation: UInt64) async -> (any Error)? {
        var failure: (any Error)?
        do { try await store.remove(location.key) } catch { failure = error }
        state.withLock { $0.settle(location, operation, isClean: failure == nil) }
        return failure
    }

    private func finish(_ write: Write) {
        state.withLock { state in
            state.bytes -= write.size
            if state.queued == write.number { state.last = nil }
        }
    }

    /// Writes an entry while its body is read, independently of the queue. Returns false if the entry was already
    /// removed, or replaced by the response to a later request. Throws if the removals since the request began are too
    /// many to remember.
    func stream(
        _ entry: CacheEntry, for key: CacheKey, in store: any CacheStore, since start: Start
    ) async throws -> Bool {
        let location = Location(store, key)
        let begun = state.withLock { state -> Result<UInt64?, CacheStoreError> in
            let written = Written(head: entry.head)
            if state.isOutdated(entry.head, location, start) { return .success(nil) }
            return switch state.removals.match(written, location, since: start) {
            case .removed: .success(nil)
            case .unknown: .failure(.tooManyRemovals)
            case .none: .success(state.run(written, location))
            }
        }
        guard let operation = try begun.get() else { return false }
        let result: Result<Void, any Error>
        do {
            try await clear(store)
            result = .success(try await store.store(inOrder(entry, location, start), for: key))
        } catch { result = .failure(error) }
        let isWritten = (try? result.get()) != nil
        let erasure = state.withLock { $0.endStream(location, in: store, operation: operation, isWritten: isWritten) }
        if let erasure { _ = await erase(location, from: store, operation: erasure) }
        if !isWritten, state.withLock({ $0.isOutdated(entry.head, location, start) }) { return false }
        try result.get()
        return true
    }

    /// Returns an entry whose body fails at its end if a later request's response was written meanwhile. The store then
    /// keeps that response.
    private func inOrder(_ entry: CacheEntry, _ location: Location, _ start: Start) -> CacheEntry {
        let chunks = BodyChunks(entry.body)
        let body = HTTPBody(length: entry.body.length, cancel: { chunks.cancel() }) { [self] in
            if let chunk = try await chunks.next() { return chunk }
            let isLatest = state.withLock { state in
                if state.isOutdated(entry.head, location, start) { return false }
                state.record(entry.head, location, start)
                return true
            }
            if !isLatest { throw CacheStoreError("the response to a later request has replaced the entry") }
            return nil
        }
        return CacheEntry(head: entry.head, body: body)
    }

    func runInOrder(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = state.withLock { state in
            let task = Task.detached { [last = state.last] in
                await last?.value
                try await body()
            }
            state.enqueue { _ in _ = await task.result }
            return task
        }
        try await task.value
    }

    func track(_ task: Task<Void, Never>) {
        state.withLock { state in
            state.enqueue { last in
                await last?.value
                await task.value
            }
        }
    }

    /// Removes queued writes and responses in flight that the target contains, and the entries of `keys` from the
    /// store. These entries stay hidden even if the store throws.
    func remove(_ target: RecentRemovals.Target, keys: [CacheKey], from store: any CacheStore) async throws {
        let locations = keys.map { Location(store, $0) }
        let operation = state.withLock { state in
            state.remove(target, in: store)
            let operation = state.beginOperation()
            for location in locations { state.hide(location, store, until: operation) }
            return operation
        }
        var failure: (any Error)?
        for location in locations {
            if let error = await erase(location, from: store, operation: operation) { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Removes queued writes and responses in flight, but nothing from the store.
    func removeUnwritten(_ target: RecentRemovals.Target, in store: any CacheStore) {
        state.withLock { $0.remove(target, in: store) }
    }

    func flush() async {
        while let last = state.withLock({ $0.last }) {
            await last.value
            state.withLock { state in if state.last == last { state.last = nil } }
        }
    }
}

/// Reads entries. Removed entries stay hidden even while a store still has them.
extension CacheWriter {
    private struct View {
        let start: Start
        var pending: CacheEntry?
        var isHidden = false
        var selections: [Selection] = []
    }

    func entry(for key: CacheKey, in store: any CacheStore) async throws -> CacheEntry? {
        let view = view(of: key, in: store)
        if view.pending != nil || view.isHidden { return view.pending }
        guard let entry = try await store.entry(for: key), isVisible(entry, for: key, in: store, view: view) else {
            return nil
        }
        return entry
    }

    /// Returns an entry like ``entry(for:in:)``, but without waiting, if the store supports that.
    func entryAtOnce(for key: CacheKey, in store: any ImmediateStore) -> KnownEntry {
        let view = view(of: key, in: store)
        if view.pending != nil || view.isHidden { return view.pending.map(KnownEntry.entry) ?? .nothing }
        let known = store.entryAtOnce(for: key)
        if case .entry(let entry) = known, !isVisible(entry, for: key, in: store, view: view) { return .nothing }
        return known
    }

    private func view(of key: CacheKey, in store: any CacheStore) -> View {
        state.withLock { state in
            var view = View(start: Start(removals: state.removals.count, number: state.starts))
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

    /// Whether a reader may see an entry. Also checks removals that began and ended after the store had read the entry.
    private func isVisible(_ entry: CacheEntry, for key: CacheKey, in store: any CacheStore, view: View) -> Bool {
        !view.selections.contains { $0.matches(entry.head) }
            && !isRemoved(entry.head, key, in: store, since: view.start)
    }

    /// Whether a removal since the request began applies to an entry, or may apply to it.
    func isRemoved(
        _ head: CacheEntryHead, _ key: CacheKey, in store: any CacheStore, since start: Start
    ) -> Bool {
        state.withLock { $0.removals.match(Written(head: head), Location(store, key), since: start) != .none }
    }
}

/// Removes entries. A removal hides matching entries until the store has completed it. If the store fails, the removal
/// is repeated before the next write.
extension CacheWriter {
    struct Selection: Sendable {
        let store: any CacheStore
        let matches: @Sendable (CacheEntryHead) -> Bool
        var hasFailed = false
    }

    /// Removes all matching entries, including queued entries and responses in flight.
    func removeAll(in store: any CacheStore, where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        let operation = state.withLock { state in
            state.remove(.selection { _, head in matches(head) }, in: store)
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
    var isCalm: Bool { pending.isEmpty && hidden.isEmpty && suspended.isEmpty && selections.isEmpty }

    func selections(in store: ObjectIdentifier) -> [CacheWriter.Selection] {
        selections.values.filter { ObjectIdentifier($0.store) == store }
    }

    func failedSelections(in store: ObjectIdentifier) -> [UInt64] {
        selections.filter { $0.value.hasFailed && ObjectIdentifier($0.value.store) == store }.keys.sorted()
    }

    /// Records a failed removal. After too many failures, suspends the store instead, and returns the removals that no
    /// longer need to be remembered.
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

extension CacheStoreError {
    static let tooManyRemovals = CacheStoreError("there were too many removals since the request began")
}
