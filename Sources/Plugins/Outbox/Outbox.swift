// Start here: conform a request to ``OutboxRequest``, open an ``Outbox`` with `agent.outbox(at:sending:)`, enqueue.
//
// Queue/    chooses the next entry to send; pure
// Storage/  the log on the disk
// Engine/   connects both: changes, deliveries, refusals

import Errand
@_exported public import ErrandBackoff
import ErrandEssentials
import ErrandStates

/// A queue that stores requests on disk and sends them when a network is available.
///
/// ```swift
/// let outbox = try await agent.outbox(at: directory, sending: [.type("comment", PostComment.self)])
/// let id = try await outbox.enqueue(PostComment(thread: 7, text: "Hello"))
/// for await state in outbox.states { show(state.entries) }
/// ```
///
/// After `enqueue` returns, the entry survives a crash of the process or of the machine. The outbox sends each entry at
/// least once, always with the same `Idempotency-Key`, and removes the entry when it has the response. Entries in the
/// same lane are sent one after another, in order. See ``OutboxRequest/outboxLane``.
///
/// You can use an outbox from any thread. The outbox keeps its agent alive. When the outbox is deallocated, it closes,
/// and its entries stay on disk.
public final class Outbox: Sendable {
    private let engine: OutboxEngine

    init(_ engine: OutboxEngine) { self.engine = engine }

    deinit { engine.end() }

    /// Stores a request as an entry. Returns when the entry would survive a crash of the machine.
    ///
    /// - Parameters:
    ///   - request: A request whose type is registered with the outbox.
    ///   - dependencies: The entries to send before this request, from any lane. Entries that no longer exist count as
    ///     sent.
    /// - Returns: The entry's ID. If the request replaces an older entry, this is the older entry's ID.
    @discardableResult
    public func enqueue<R: OutboxRequest>(
        _ request: R, after dependencies: OutboxEntry.ID...
    ) async throws -> OutboxEntry.ID {
        try await enqueue(request, after: dependencies)
    }

    /// Stores a request that is sent after the given entries.
    @discardableResult
    public func enqueue<R: OutboxRequest>(
        _ request: R, after dependencies: [OutboxEntry.ID]
    ) async throws -> OutboxEntry.ID {
        guard let id = try await engine.add(request, dependencies.map(\.rawValue)) else {
            throw OutboxError(.closed, "the outbox is closed, so the request wasn't stored")
        }
        return OutboxEntry.ID(rawValue: id)
    }

    /// Removes an entry, and returns whether it existed. An entry that is being sent is cancelled, but a server may
    /// already have received it. The next entry in its lane is sent when the cancelled request has ended.
    @discardableResult
    public func remove(_ id: OutboxEntry.ID) async throws -> Bool {
        // The engine cancels the request after it has removed the entry. If the write fails, the entry stays, and a
        // cancelled request would be sent again.
        try await engine.commit(.remove(id.rawValue)) != nil
    }

    /// Removes all entries, for example when a user signs out. This includes entries that other processes have
    /// enqueued.
    public func removeAll() async throws {
        try await engine.commit(.look)
        try await withThrowingTaskGroup { group in
            // The removals run concurrently, so the engine writes them together.
            for entry in state.entries { group.addTask { _ = try await self.remove(entry.id) } }
            try await group.waitForAll()
        }
    }

    /// Returns the stored request of an entry. Returns nil if the entry doesn't exist or has another type. Throws
    /// `decodingFailed` if the request can't be decoded, and `fileFailed` if the file can't be read.
    @concurrent public func request<R: OutboxRequest>(_ type: R.Type, of id: OutboxEntry.ID) async throws -> R? {
        try engine.request(R.self, of: id.rawValue)
    }

    /// The outbox's current state. Reading this property takes time proportional to the number of entries.
    public var state: OutboxState { engine.snapshot }

    /// A sequence of the current state and the state after each change. A slow reader gets only the latest state.
    public var states: OutboxStates { OutboxStates(engine: engine) }

    /// Ends the waits after failures, so entries are sent immediately. Call it, for example, when the network is back.
    public func networkIsBack() { engine.networkIsBack() }

    /// Pauses sending until you call ``resume()``. Deliveries that are already running continue.
    public func pause() { engine.setPaused(true) }

    /// Resumes sending after ``pause()``.
    public func resume() { engine.setPaused(false) }

    /// Resumes a stopped lane, starting with the entry that stopped it.
    public func resume(lane: String) { engine.resume(lane) }

    /// Cancels the running deliveries and closes the outbox. When this method returns, another process can send.
    /// Entries stay on disk.
    public func close() async { await engine.close() }
}

/// A sequence of an outbox's states: the current state, and then the state after each change.
public struct OutboxStates: AsyncSequence, Sendable {
    let engine: OutboxEngine

    /// Creates an iterator. Each iterator receives all states, independently of other iterators.
    public func makeAsyncIterator() -> Iterator {
        Iterator(versions: engine.versions.states.makeAsyncIterator(), engine: engine)
    }

    /// Reads the states.
    public struct Iterator: AsyncIteratorProtocol {
        var versions: AsyncStream<UInt64>.Iterator
        weak var engine: OutboxEngine?

        /// Returns the next state, or nil after the outbox was closed.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> OutboxState? {
            await versions.next(isolation: actor).flatMap { _ in engine?.snapshot }
        }
    }
}
