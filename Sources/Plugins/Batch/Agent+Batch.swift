public import Dispatch
public import Errand

extension Agent {
    /// Sends a batch and returns its answer where the caller is. Cancelling the calling task cancels the whole.
    ///
    /// ```swift
    /// let (user, feed) = try await agent.send(Batch(GetUser(id: 7), GetFeed()))
    /// ```
    ///
    /// Throws ``BatchError`` if the batch's policy is not met, and ``Errand/ErrandError`` with `cancelled`. Every part has
    /// ended by then.
    public func send<Part, Success>(
        _ batch: Batch<Part, Success>, options: CallOptions = CallOptions()
    ) async throws -> Success {
        try await run(.batch, options: batch.named(options)) { activity in
            try await BatchRun(batch, on: self, activity).answer()
        }
    }

    /// Starts a batch and returns at once; will-start has been told by then.
    @discardableResult
    public func start<Part, Success>(
        _ batch: Batch<Part, Success>, options: CallOptions = CallOptions(), completion: Completion<Success>?
    ) -> RequestHandle<Success> {
        start(.batch, options: batch.named(options), completion: completion) { activity in
            try await BatchRun(batch, on: self, activity).answer()
        }
    }

    /// Starts a batch; then, on the main actor, first the delegate and then the completion hears of its one end.
    @discardableResult
    public func start<Part, Success>(
        _ batch: Batch<Part, Success>, delegate: (any BatchDelegate)? = nil, options: CallOptions = CallOptions(),
        completion: (@MainActor (Result<Success, any Error>) -> Void)? = nil
    ) -> RequestHandle<Success> {
        let told = delegate.map(batch.telling)
        let called = completion.map { Completion<Success>.main($0) }
        let both = told.map { told in called.map(told.then) ?? told } ?? called
        return start(batch, options: options, completion: both)
    }

    /// The same with the completion on a queue of the caller's.
    @discardableResult
    public func start<Part, Success>(
        _ batch: Batch<Part, Success>, delegate: (any BatchDelegate)? = nil, options: CallOptions = CallOptions(),
        on queue: DispatchQueue, completion: @escaping @Sendable (Result<Success, any Error>) -> Void
    ) -> RequestHandle<Success> {
        let called = Completion<Success>.queue(queue, completion)
        return start(batch, options: options, completion: delegate.map { batch.telling($0).then(called) } ?? called)
    }

    /// The results of a batch as they finish; see ``BatchResults``.
    public func results<Part, Success>(
        of batch: Batch<Part, Success>, options: CallOptions = CallOptions()
    ) -> BatchResults<Part> {
        BatchResults {
            let channel = BatchChannel<Part>(limit: batch.limit)
            let closing = Completion<Void> { _, _ in channel.close() }
            let handle = start(.batch, options: batch.named(options), completion: closing) { activity in
                try await BatchRun(batch, on: self, activity, channel: channel).carryOut()
            }
            return (channel, handle)
        }
    }
}

extension Batch {
    fileprivate func named(_ options: CallOptions) -> CallOptions {
        var options = options
        options.label = options.label ?? label
        return options
    }
}
