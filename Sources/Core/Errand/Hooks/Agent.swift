public import Dispatch
import ErrandHTTP

/// Takes a request and returns its response; ``NetworkAgent`` is the one that goes to the network.
///
/// An agent of one's own writes `send`, and the rest has defaults that are built on it: a fake in a test, or one that
/// passes requests on to another agent.
///
/// ```swift
/// struct Counted: Agent {
///     let base: NetworkAgent
///     let count = Counter()
///
///     func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
///         count.add()
///         return try await base.send(request, options: options)
///     }
/// }
/// ```
///
/// A `start` that is made of `send` has an activity of its own, that of the handle: the accessories of the call are
/// notified of that one alone, with everything that happens below it, and its progress is the call's. Pass the options
/// on.
public protocol Agent: Sendable {
    /// Sends a request and returns its response where the caller is. Cancelling the calling task cancels the request.
    ///
    /// Throws ``ErrandError``, and what filters, checks and `decode` throw, each after the agent's `mapError` and then
    /// the request's; neither changes a cancellation or a passed deadline.
    @discardableResult
    func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output>

    /// Starts a request and returns at once; accessories have received will-start by then.
    @discardableResult
    func start<R: Request>(
        _ request: R, options: CallOptions, completion: Completion<Response<R.Output>>?
    ) -> RequestHandle<Response<R.Output>>

    /// Runs an activity of a kind of one's own around a body: with accessories, a parent and cancellation, as a request
    /// has. Every ``Composite`` is built on it.
    @discardableResult
    func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success>

    /// Finds out for whom a request would be sent now, without sending it: for what is stored and sent later. Defaults
    /// to nil, which says that the agent can't tell.
    ///
    /// Runs the filters that change or sign requests, cookies, and sessions, which refresh nothing and keep the operation
    /// of a ``UserPin`` with their user. Accessories receive nothing. The ``UserPin/marks`` of the request on the wire include
    /// these, unless the user has changed.
    func userMarks<R: Request>(for request: R, options: CallOptions) async throws -> Set<UserMark>?
}

extension Agent {
    /// Nil: the agent can't tell.
    public func userMarks<R: Request>(for request: R, options: CallOptions) async throws -> Set<UserMark>? { nil }

    /// Sends a request without options of the call's own.
    @inlinable @discardableResult
    public func send<R: Request>(_ request: R) async throws -> Response<R.Output> {
        try await send(request, options: CallOptions())
    }

    /// Starts a request; then, on the main actor, first the delegate and then the completion is notified of its one
    /// end.
    @discardableResult
    public func start<R: Request>(
        _ request: R, delegate: (any RequestDelegate)? = nil, options: CallOptions = CallOptions(),
        completion: (@MainActor (Result<Response<R.Output>, any Error>) -> Void)? = nil
    ) -> RequestHandle<Response<R.Output>> {
        start(
            request, options: options, completion: .both(delegate.map { .delegate($0) }, completion.map { .main($0) }))
    }

    /// The same with the completion on a queue of the caller's.
    @discardableResult
    public func start<R: Request>(
        _ request: R, delegate: (any RequestDelegate)? = nil, options: CallOptions = CallOptions(),
        on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Response<R.Output>, any Error>) -> Void
    ) -> RequestHandle<Response<R.Output>> {
        start(
            request, options: options, completion: .both(delegate.map { .delegate($0) }, .queue(queue, completion)))
    }

    /// Runs an activity of a kind of one's own and awaits it; cancelling the calling task cancels it.
    public func run<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions = CallOptions(),
        body: @escaping @Sendable (Activity) async throws -> Success
    ) async throws -> Success {
        try await start(kind, options: options, completion: nil, body: body).joined()
    }
}

extension Request {
    /// `try await GetUser(id: 7).send(on: agent)`
    @discardableResult
    public func send(on agent: some Agent, options: CallOptions = CallOptions()) async throws -> Response<Output> {
        try await agent.send(self, options: options)
    }

    /// `GetUser(id: 7).start(on: agent) { result in … }`
    @discardableResult
    public func start(
        on agent: some Agent, delegate: (any RequestDelegate)? = nil, options: CallOptions = CallOptions(),
        completion: (@MainActor (Result<Response<Output>, any Error>) -> Void)? = nil
    ) -> RequestHandle<Response<Output>> {
        agent.start(self, delegate: delegate, options: options, completion: completion)
    }
}

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

extension Agent {
    /// Starts an activity that sends the request by `send`.
    @discardableResult
    public func start<R: Request>(
        _ request: R, options: CallOptions, completion: Completion<Response<R.Output>>?
    ) -> RequestHandle<Response<R.Output>> {
        begin(.request, request: request, options, completion: completion, http: { $0.http }) { activity in
            try await send(request, options: options.forwarded(by: activity))
        }
    }

    /// Starts an activity around a body.
    @discardableResult
    public func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success> {
        begin(kind, options, completion: completion, http: { _ in nil }, body: body)
    }

    /// Begins an activity that no agent's registry knows.
    private func begin<Success: Sendable>(
        _ kind: ActivityKind, request: (any Request)? = nil, _ options: CallOptions, completion: Completion<Success>?,
        http: @escaping @Sendable (Success) -> HTTPResponse?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success> {
        let registry = ActivityRegistry(time: SystemTimeSource())
        let activity = Activity(
            kind, request: request, label: options.label,
            tags: request.map { $0.tags.merging(options.tags) }
                ?? options.tags.with(InheritedFilters.self, options.allFilters),
            parent: options.parent?.id, accessories: options.accessories, registry: registry,
            progress: options.progress)
        return RequestHandle(
            registry.launch(
                activity, priority: request?.priority?.task, completion: completion?.delivery(to: activity)
            ) { result in
                let success = try await body(activity)
                result.succeed(success)
                return http(success)
            })
    }
}

extension CallOptions {
    /// The options for an agent that carries out a call for an activity which stands for it: accessories and listener
    /// are that activity's, which passes on what it receives.
    fileprivate func forwarded(by activity: Activity) -> CallOptions {
        var options = self
        let accessories = activity.accessories
        options.accessories =
            accessories.isEmpty ? [] : [ForwardedEvents(activity: activity, accessories: accessories)]
        options.progress = { activity.report(.progress($0)) }
        return options
    }
}

/// Passes on what happens in an activity to the one that stands for it; each has its own start and end, and progress
/// comes by the listener.
private struct ForwardedEvents: Accessory {
    let activity: Activity
    /// The accessories of the activity, for work that outlives it.
    let accessories: [any Accessory]

    var maximumBodyBytes: Int { activity.maximumBodyBytes }
    var observesMessages: Bool { activity.observesMessages }

    func activity(_ below: Activity, did event: ActivityEvent) {
        guard below.kind == .request else {
            // Work that the call detaches has an end of its own.
            for accessory in accessories { accessory.activity(below, did: event) }
            return
        }
        switch event {
        case .willStart, .willStop, .didStop, .transport(.progress): break
        default: activity.notify(event)
        }
    }
}
