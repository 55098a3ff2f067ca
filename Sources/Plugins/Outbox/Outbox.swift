// Start here: conform a request to ``OutboxRequest``, open an ``Outbox`` with `agent.outbox(at:sending:)`, enqueue.
//
// Queue/    chooses the next entry to send; pure
// Storage/  the log on the disk
// Engine/   connects both: changes, deliveries, refusals

import Errand
@_exported public import ErrandBackoff
import ErrandEssentials
import ErrandStates

/// A queue of requests that is stored on disk and sent when a network is available.
///
/// ```swift
/// let outbox = try await agent.outbox(at: directory, sending: [.type("comment", PostComment.self)])
/// let id = try await outbox.enqueue(PostComment(thread: 7, text: "Hello"))
/// for await state in outbox.states { show(state.entries) }
/// ```
///
/// After `enqueue` returns, the entry survives a crash of the process or machine. The outbox sends it at least once,
/// always with the same `Idempotency-Key`, and removes it after the response. Entries of a lane are sent in order.
///
/// You can use an outbox from any thread. It keeps its agent alive. When it's deallocated, it closes, and its entries
/// stay.
public final class Outbox: Sendable {
    private let engine: OutboxEngine

    init(_ engine: OutboxEngine) { self.engine = engine }

    deinit { engine.end() }

    /// Stores a request. Returns when the entry would survive a crash of the machine.
    ///
    /// - Parameters:
    ///   - request: A request of a registered type.
    ///   - dependencies: Entries of any lane to send first. Entries that no longer exist count as sent.
    /// - Returns: The entry's ID. If the request replaces an older entry, the older entry's ID.
    @discardableResult
    public func enqueue<R: OutboxRequest>(
        _ request: R, after dependencies: OutboxEntry.ID...
    ) async throws -> OutboxEntry.ID {
        try await enqueue(request, after: dependencies)
    }

    /// Stores a request to send after others.
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
    /// already have received it.
    @discardableResult
    public func remove(_ id: OutboxEntry.ID) async throws -> Bool {
        // Remove the entry first: if the write fails, the entry stays, and a cancelled request would be sent again.
        let wasThere = try await engine.commit(.remove(id.rawValue)) != nil
        engine.cancel(id.rawValue)
        return wasThere
    }

    /// Removes all entries, for example when a user signs out.
    public func removeAll() async throws {
        try await withThrowingTaskGroup { group in
            // Concurrent removals are written together.
            for entry in state.entries { group.addTask { _ = try await self.remove(entry.id) } }
            try await group.waitForAll()
        }
    }

    /// Returns an entry's stored request, or nil if the entry doesn't exist or has another type. Throws
    /// `decodingFailed`, or `fileFailed` if the file can't be read.
    @concurrent public func request<R: OutboxRequest>(_ type: R.Type, of id: OutboxEntry.ID) async throws -> R? {
        try engine.request(R.self, of: id.rawValue)
    }

    /// The current entries. Takes time proportional to their number.
    public var state: OutboxState { engine.snapshot }

    /// The current state, then the state after each change. A slow reader gets only the latest one.
    public var states: OutboxStates { OutboxStates(engine: engine) }

    /// Ends the waits after failures, so entries are sent now. Call it, for example, when the network is back.
    public func networkIsBack() { engine.networkIsBack() }

    /// Stops starting deliveries until you call ``resume()``. Running deliveries continue.
    public func pause() { engine.setPaused(true) }

    /// Resumes sending after ``pause()``.
    public func resume() { engine.setPaused(false) }

    /// Resumes a stopped lane, starting with the entry that stopped it.
    public func resume(lane: String) { engine.resume(lane) }

    /// Cancels running deliveries. When it returns, another process can send. Entries stay on disk.
    public func close() async { await engine.close() }
}

/// The states of an ``Outbox``: the current one, then one after each change.
public struct OutboxStates: AsyncSequence, Sendable {
    let engine: OutboxEngine

    /// Creates an independent iterator.
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
