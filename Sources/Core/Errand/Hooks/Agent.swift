public import Dispatch

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
