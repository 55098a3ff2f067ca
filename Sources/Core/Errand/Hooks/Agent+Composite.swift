public import Dispatch

extension Agent {
    /// Runs a composite, such as a batch or a chain, and returns its output where the caller is. Cancelling the
    /// calling task cancels the whole. Every member has ended by then.
    ///
    /// Throws what the composite throws, and ``ErrandError`` with `cancelled`.
    @discardableResult
    public func run<C: Composite>(_ composite: C, options: CallOptions = CallOptions()) async throws -> C.Output {
        try await start(running: composite, options: options, completion: nil as Completion<C.Output>?).joined()
    }

    /// Starts a composite and returns at once; accessories have received will-start by then.
    @discardableResult
    public func start<C: Composite>(
        running composite: C, options: CallOptions = CallOptions(), completion: Completion<C.Output>?
    ) -> RequestHandle<C.Output> {
        var options = options.pinnedAsComposite()
        options.label = options.label ?? composite.activityLabel
        return start(composite.activityKind, options: options, completion: completion) { activity in
            try await activity.agent(on: self).runMembers(of: composite)
        }
    }

    /// Starts a composite; then, on the main actor, first the delegate and then the completion is notified of its one
    /// end.
    @discardableResult
    public func start<C: Composite>(
        running composite: C, delegate: C.Delegate? = nil, options: CallOptions = CallOptions(),
        completion: (@MainActor (Result<C.Output, any Error>) -> Void)? = nil
    ) -> RequestHandle<C.Output> {
        start(composite, delegate, options, completion.map { .main($0) })
    }

    /// The same with the completion on a queue of the caller's.
    @discardableResult
    public func start<C: Composite>(
        running composite: C, delegate: C.Delegate? = nil, options: CallOptions = CallOptions(),
        on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<C.Output, any Error>) -> Void
    ) -> RequestHandle<C.Output> {
        start(composite, delegate, options, .queue(queue, completion))
    }

    private func start<C: Composite>(
        _ composite: C, _ delegate: C.Delegate?, _ options: CallOptions, _ completion: Completion<C.Output>?
    ) -> RequestHandle<C.Output> {
        guard let delegate else { return start(running: composite, options: options, completion: completion) }
        let notified: Completion<C.Output>? = .both(composite.completion(notifying: delegate), completion)
        return start(running: composite.notifying(delegate), options: options, completion: notified)
    }
}
