public import Dispatch
public import Errand

extension Agent {
    /// Sends a chain and returns its answer where the caller is. Cancelling the calling task cancels the whole.
    ///
    /// ```swift
    /// let order = try await agent.send(Chain("checkout", GetCart()).then { cart in PlaceOrder(cart.value) })
    /// ```
    ///
    /// Throws ``ChainError`` if a step fails, what the body throws of its own, and ``Errand/ErrandError`` with
    /// `cancelled`. Every step has ended by then.
    public func send<Success>(
        _ chain: Chain<Success>, options: CallOptions = CallOptions()
    ) async throws -> Success {
        try await run(.chain, options: chain.named(options)) { activity in
            try await chain.carryOut(activity, on: self, nil)
        }
    }

    /// Starts a chain and returns at once; will-start has been told by then.
    @discardableResult
    public func start<Success>(
        _ chain: Chain<Success>, options: CallOptions = CallOptions(), completion: Completion<Success>?
    ) -> RequestHandle<Success> {
        start(.chain, options: chain.named(options), completion: completion) { activity in
            try await chain.carryOut(activity, on: self, nil)
        }
    }

    /// Starts a chain; on the main actor the delegate hears of every step, then first the delegate and after it the
    /// completion of the one end.
    @discardableResult
    public func start<Success>(
        _ chain: Chain<Success>, delegate: (any ChainDelegate)? = nil, options: CallOptions = CallOptions(),
        completion: (@MainActor (Result<Success, any Error>) -> Void)? = nil
    ) -> RequestHandle<Success> {
        start(chain, delegate, options, completion.map { .main($0) })
    }

    /// The same with the completion on a queue of the caller's.
    @discardableResult
    public func start<Success>(
        _ chain: Chain<Success>, delegate: (any ChainDelegate)? = nil, options: CallOptions = CallOptions(),
        on queue: DispatchQueue, completion: @escaping @Sendable (Result<Success, any Error>) -> Void
    ) -> RequestHandle<Success> {
        start(chain, delegate, options, .queue(queue, completion))
    }

    private func start<Success>(
        _ chain: Chain<Success>, _ delegate: (any ChainDelegate)?, _ options: CallOptions,
        _ called: Completion<Success>?
    ) -> RequestHandle<Success> {
        let observer = delegate.map(ChainObserver.init)
        let told: Completion<Success>? = observer?.completion()
        let both = told.map { told in called.map(told.then) ?? told } ?? called
        return start(.chain, options: chain.named(options), completion: both) { activity in
            try await chain.carryOut(activity, on: self, observer)
        }
    }
}

extension Chain {
    fileprivate func named(_ options: CallOptions) -> CallOptions {
        var options = options
        options.label = options.label ?? label
        return options
    }

    fileprivate func carryOut(
        _ activity: Activity, on agent: some Agent, _ observer: ChainObserver?
    ) async throws -> Success {
        let steps = ChainSteps(activity, on: agent, observer)
        do {
            let success = try await withTaskCancellationHandler {
                try await body(steps)
            } onCancel: {
                steps.record.cancelSteps()
            }
            await steps.record.close()
            return success
        } catch {
            await steps.record.close()
            throw steps.record.explained(error, chain: activity.label)
        }
    }
}
