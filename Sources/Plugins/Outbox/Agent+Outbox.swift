public import Errand
public import ErrandEssentials

extension Agent {
    /// Opens the outbox stored in a directory and starts sending its entries.
    ///
    /// ```swift
    /// let outbox = try await agent.outbox(at: directory, sending: [.type("comment", PostComment.self)]) { refusal in
    ///     refusal.response?.status == 409 ? .drop : .stop
    /// }
    /// try await outbox.enqueue(PostComment(thread: 7, text: "Hello"))
    /// ```
    ///
    /// Several processes can open the same directory: one sends, all can enqueue. Throws ``OutboxError``.
    ///
    /// - Parameters:
    ///   - directory: A directory used only by this outbox and for one user. It's created if it doesn't exist.
    ///   - types: The request types that the outbox sends. It refuses entries of other types.
    ///   - options: Limits and waits.
    ///   - time: The clock. Defaults to the system's.
    ///   - decide: Decides what happens to refused entries. By default, expired entries are dropped, and other refused
    ///     entries stop their lane. Called on any thread.
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
