// Start here: conform a request to ``OutboxRequest``, open an ``Outbox`` with `agent.outbox(at:sending:)`, enqueue.
//
// Queue/    which entry is sent next: pure
// Storage/  the log on the disk
// Engine/   the two joined: changes, deliveries, refusals

import Errand
import ErrandEssentials

/// Requests on a disk that are sent when there is a network: each once by its key, in order within a lane.
///
/// ```swift
/// let outbox = try await agent.outbox(at: directory, sending: [.type("comment", PostComment.self)])
/// let id = try await outbox.enqueue(PostComment(thread: 7, text: "Hello"))
/// for await state in outbox.states { show(state.entries) }
/// ```
///
/// An entry survives the end of the process and of the machine once `enqueue` has returned. It is sent at least
/// once, each time with the same `Idempotency-Key`, and removed after its response. Safe to use from any thread. The
/// end of the object closes the outbox; its entries stay. It keeps its agent alive.
public final class Outbox: Sendable {
    private let engine: OutboxEngine

    init(_ engine: OutboxEngine) { self.engine = engine }

    deinit { engine.end() }

    /// Stores a request, and returns when it survives a crash of the machine.
    ///
    /// - Parameters:
    ///   - request: of a registered type.
    ///   - dependencies: entries that have to be sent before, in any lane; those that are gone already count as sent.
    /// - Returns: the number of the entry; that of the older one, where the request replaces it.
    @discardableResult
    public func enqueue<R: OutboxRequest>(
        _ request: R, after dependencies: OutboxEntry.ID...
    ) async throws -> OutboxEntry.ID {
        try await enqueue(request, after: dependencies)
    }

    /// Stores a request that is sent after others.
    @discardableResult
    public func enqueue<R: OutboxRequest>(
        _ request: R, after dependencies: [OutboxEntry.ID]
    ) async throws -> OutboxEntry.ID {
        guard let id = try await engine.add(request, dependencies.map(\.rawValue)) else {
            throw OutboxError(.closed, "nothing was stored")
        }
        return OutboxEntry.ID(rawValue: id)
    }

    /// Removes an entry, and returns whether it was there. One that is being sent is cancelled, but a server may have
    /// received it.
    @discardableResult
    public func remove(_ id: OutboxEntry.ID) async throws -> Bool {
        // If the removal can't be written, the entry stays: a cancelled request would only be sent again.
        let wasThere = try await engine.commit(.remove(id.rawValue)) != nil
        engine.cancel(id.rawValue)
        return wasThere
    }

    /// Removes all entries, such as when a user signs out.
    public func removeAll() async throws {
        try await withThrowingTaskGroup { group in
            // Written together.
            for entry in state.entries { group.addTask { _ = try await self.remove(entry.id) } }
            try await group.waitForAll()
        }
    }

    /// The stored request of an entry; nil if there is none, or one of another type. Throws `decodingFailed`, or
    /// `fileFailed` where the file cannot be read.
    @concurrent public func request<R: OutboxRequest>(_ type: R.Type, of id: OutboxEntry.ID) async throws -> R? {
        try engine.request(R.self, of: id.rawValue)
    }

    /// All entries now; takes time in proportion to their number.
    public var state: OutboxState { engine.snapshot }

    /// The state now and after each change; a slow reader gets the latest one.
    public var states: OutboxStates { OutboxStates(engine: engine) }

    /// Ends the waits after failures, such as when the system reports that the network is back.
    public func networkIsBack() { engine.networkIsBack() }

    /// Starts no further delivery; those under way go on.
    public func pause() { engine.setPaused(true) }

    /// Sends again after ``pause()``.
    public func resume() { engine.setPaused(false) }

    /// Resumes a stopped lane: sends the entry that stopped it again, then those behind it.
    public func resume(lane: String) { engine.resume(lane) }

    /// Cancels what is being sent, and returns when nothing runs any more and another process may send. The entries
    /// stay.
    public func close() async { await engine.close() }
}

/// The states of an ``Outbox``: the state now, then one after each change, of which a slow reader gets the latest.
public struct OutboxStates: AsyncSequence, Sendable {
    let engine: OutboxEngine

    /// An iterator of its own for each reader.
    public func makeAsyncIterator() -> Iterator {
        Iterator(versions: engine.versions.states.makeAsyncIterator(), engine: engine)
    }

    /// The iterator of the states.
    public struct Iterator: AsyncIteratorProtocol {
        var versions: AsyncStream<UInt64>.Iterator
        weak var engine: OutboxEngine?

        /// The next state; nil once the outbox is closed.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> OutboxState? {
            await versions.next(isolation: actor).flatMap { _ in engine?.snapshot }
        }
    }
}
