public import Errand
public import ErrandEssentials

extension Agent {
    /// Opens the outbox of a directory, and begins to send what it holds.
    ///
    /// ```swift
    /// let outbox = try await agent.outbox(at: directory, sending: [.type("comment", PostComment.self)]) { refusal in
    ///     refusal.response?.status == 409 ? .drop : .stop
    /// }
    /// try await outbox.enqueue(PostComment(thread: 7, text: "Hello"))
    /// ```
    ///
    /// Several processes may open the same directory: one of them sends, all of them enqueue. Throws ``OutboxError``.
    ///
    /// - Parameters:
    ///   - directory: the outbox's own, for one user; it is created where there is none.
    ///   - types: what it sends; entries of other types are refused.
    ///   - options: limits and waits.
    ///   - time: the clock; the system's by default.
    ///   - decide: the handler that decides on entries that are refused; without one, expired entries are dropped, and
    ///     others stop their lane. Called on any thread.
    public func outbox(
        at directory: URL, sending types: [OutboxType], options: OutboxOptions = OutboxOptions(),
        time: some TimeSource = SystemTimeSource(),
        deciding decide: @escaping @Sendable (OutboxRefusal) async -> OutboxDecision = { $0.standardDecision }
    ) async throws -> Outbox {
        let engine = try OutboxEngine(
            directory: directory.path, agent: self, types: types, options: options, time: time, decide: decide)
        try await engine.open()
        return Outbox(engine)
    }
}
