public import Dispatch
import ErrandHTTP

/// Sends requests and returns their responses. ``NetworkAgent`` sends them over the network.
///
/// To write an agent, for example a fake for tests or a wrapper around another agent, implement `send`. All other
/// methods have defaults that call `send`.
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
/// Always pass the options on. The default `start` creates an activity for the handle, and forwards the wrapped call's
/// events and progress to this activity. Accessories are notified only of the handle's activity.
public protocol Agent: Sendable {
    /// Sends a request and returns its response on the caller's actor. Cancelling the calling task cancels the request.
    ///
    /// Throws ``ErrandError``, or an error from a filter, a check or `decode`. The agent's `mapError` maps the error
    /// first, and then the request's `mapError`. Cancellations and passed deadlines aren't mapped.
    @discardableResult
    func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output>

    /// Starts a request and returns its handle. Accessories receive will-start before this method returns. `completion`
    /// receives the result.
    @discardableResult
    func start<R: Request>(
        _ request: R, options: CallOptions, completion: Completion<Response<R.Output>>?
    ) -> RequestHandle<Response<R.Output>>

    /// Starts a closure as an activity of a custom kind, such as a batch, and returns its handle. ``Composite`` uses
    /// this method. Like a request, the activity notifies accessories, can have a parent and can be cancelled.
    @discardableResult
    func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success>

    /// Returns the users for whom a request would be sent now, without sending it. Use it before you store a request to
    /// send it later. Defaults to nil, which means that the agent can't tell.
    ///
    /// Runs the filters that manage sessions, change or sign requests, or add cookies. Sessions don't refresh their
    /// credentials, but check that a ``UserPin``'s operation stays with its user. Accessories aren't notified. When the
    /// request is sent, its ``UserPin/marks`` include these marks, unless the user has changed.
    func userMarks<R: Request>(for request: R, options: CallOptions) async throws -> Set<UserMark>?
}

extension Agent {
    /// Returns nil, because the agent can't tell.
    public func userMarks<R: Request>(for request: R, options: CallOptions) async throws -> Set<UserMark>? { nil }

    /// Sends a request and returns its response. See ``send(_:options:)``.
    @inlinable @discardableResult
    public func send<R: Request>(_ request: R) async throws -> Response<R.Output> {
        try await send(request, options: CallOptions())
    }

    /// Starts a request and returns its handle. When the request ends, the delegate and then the completion are
    /// notified once, on the main actor.
    @discardableResult
    public func start<R: Request>(
        _ request: R, delegate: (any RequestDelegate)? = nil, options: CallOptions = CallOptions(),
        completion: (@MainActor (Result<Response<R.Output>, any Error>) -> Void)? = nil
    ) -> RequestHandle<Response<R.Output>> {
        start(
            request, options: options, completion: .both(delegate.map { .delegate($0) }, completion.map { .main($0) }))
    }

    /// Starts a request and returns its handle. When the request ends, the delegate is notified on the main actor, and
    /// then the completion runs on a queue.
    @discardableResult
    public func start<R: Request>(
        _ request: R, delegate: (any RequestDelegate)? = nil, options: CallOptions = CallOptions(),
        on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Response<R.Output>, any Error>) -> Void
    ) -> RequestHandle<Response<R.Output>> {
        start(
            request, options: options, completion: .both(delegate.map { .delegate($0) }, .queue(queue, completion)))
    }

    /// Runs a closure as an activity of a custom kind, such as a batch. Cancelling the calling task cancels the
    /// activity.
    public func run<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions = CallOptions(),
        body: @escaping @Sendable (Activity) async throws -> Success
    ) async throws -> Success {
        try await start(kind, options: options, completion: nil, body: body).joined()
    }
}

extension Request {
    /// Sends this request with an agent: `try await GetUser(id: 7).send(on: agent)`. See ``Agent/send(_:options:)``.
    @discardableResult
    public func send(on agent: some Agent, options: CallOptions = CallOptions()) async throws -> Response<Output> {
        try await agent.send(self, options: options)
    }

    /// Starts this request with an agent and returns its handle: `GetUser(id: 7).start(on: agent) { result in … }`.
    @discardableResult
    public func start(
        on agent: some Agent, delegate: (any RequestDelegate)? = nil, options: CallOptions = CallOptions(),
        completion: (@MainActor (Result<Response<Output>, any Error>) -> Void)? = nil
    ) -> RequestHandle<Response<Output>> {
        agent.start(self, delegate: delegate, options: options, completion: completion)
    }
}

extension Agent {
    /// Runs a composite, such as a batch or a chain. Returns its output on the caller's actor, after all members have
    /// ended. Cancelling the calling task cancels the composite.
    ///
    /// Throws the composite's error, or ``ErrandError`` with `cancelled`.
    @discardableResult
    public func run<C: Composite>(_ composite: C, options: CallOptions = CallOptions()) async throws -> C.Output {
        try await start(running: composite, options: options, completion: nil as Completion<C.Output>?).joined()
    }

    /// Starts a composite and returns its handle. Accessories receive will-start before this method returns.
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

    /// Starts a composite and returns its handle. When the composite ends, the delegate and then the completion are
    /// notified once, on the main actor.
    @discardableResult
    public func start<C: Composite>(
        running composite: C, delegate: C.Delegate? = nil, options: CallOptions = CallOptions(),
        completion: (@MainActor (Result<C.Output, any Error>) -> Void)? = nil
    ) -> RequestHandle<C.Output> {
        start(composite, delegate: delegate, options: options, completion: completion.map { .main($0) })
    }

    /// Starts a composite and returns its handle. When the composite ends, the delegate is notified on the main actor,
    /// and then the completion runs on a queue.
    @discardableResult
    public func start<C: Composite>(
        running composite: C, delegate: C.Delegate? = nil, options: CallOptions = CallOptions(),
        on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<C.Output, any Error>) -> Void
    ) -> RequestHandle<C.Output> {
        start(composite, delegate: delegate, options: options, completion: .queue(queue, completion))
    }

    private func start<C: Composite>(
        _ composite: C, delegate: C.Delegate?, options: CallOptions, completion: Completion<C.Output>?
    ) -> RequestHandle<C.Output> {
        guard let delegate else { return start(running: composite, options: options, completion: completion) }
        let notified: Completion<C.Output>? = .both(composite.completion(notifying: delegate), completion)
        return start(running: composite.notifying(delegate), options: options, completion: notified)
    }
}

extension Agent {
    /// Starts an activity that calls `send`.
    @discardableResult
    public func start<R: Request>(
        _ request: R, options: CallOptions, completion: Completion<Response<R.Output>>?
    ) -> RequestHandle<Response<R.Output>> {
        begin(.request, request: request, options, completion: completion, http: { $0.http }) { activity in
            try await send(request, options: options.forwarded(by: activity))
        }
    }

    /// Starts an activity that runs the closure.
    @discardableResult
    public func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success> {
        begin(kind, options, completion: completion, http: { _ in nil }, body: body)
    }

    /// Begins an activity in a separate registry, because the activity doesn't belong to a network agent.
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
            parent: options.parent?.id, accessories: options.accessories.withoutRepetitions, registry: registry,
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
    fileprivate func forwarded(by activity: Activity) -> CallOptions {
        var options = self
        let accessories = activity.accessories
        options.accessories =
            accessories.isEmpty ? [] : [ForwardedEvents(activity: activity, accessories: accessories)]
        options.progress = { activity.report(.progress($0)) }
        return options
    }
}

/// Forwards a call's events, except progress, start and end, to the activity that represents the call.
private struct ForwardedEvents: Accessory {
    let activity: Activity
    /// The activity's accessories. They're kept because background work can outlive the activity and still notify them.
    let accessories: [any Accessory]

    var maximumBodyBytes: Int { activity.maximumBodyBytes }
    var observesMessages: Bool { activity.observesMessages }
    func observesNotes(of kind: ActivityKind) -> Bool { accessories.contains { $0.observesNotes(of: kind) } }

    func activity(_ below: Activity, did event: ActivityEvent) {
        guard below.kind == .request else {
            for accessory in accessories { accessory.activity(below, did: event) }
            return
        }
        switch event {
        case .willStart, .willStop, .didStop, .transport(.progress): break
        default: activity.notify(event)
        }
    }
}
