public import ErrandHTTP
import ErrandMessageSyntax

/// An agent whose calls are members of an activity, such as a composite.
///
/// A call without a parent gets the activity as its parent, and the activity's tags. In a composite, it also gets the
/// filters of the composite's call. A call with another parent is passed on unchanged (``CallOptions/belongs(to:)``).
///
/// After the activity has ended, calls throw ``ErrandError/Code/activityEnded``. After the activity was cancelled,
/// calls throw a cancellation error.
///
/// A composite receives a scoped agent in ``Composite/run(on:)``. A filter creates one to send requests:
///
/// ```swift
/// let user = try await exchange.activity.agent(on: agent).send(GetUser(id: 7)).value
/// ```
public struct ScopedAgent: Agent {
    /// The activity that the calls belong to.
    public let activity: Activity
    private let base: any Agent
    private let scope: MemberScope
    private var observer: (any MemberObserver)?

    init(_ activity: Activity, on base: any Agent) {
        (self.activity, self.base) = (activity, base)
        scope = MemberScope(activity)
    }

    /// Cancels the activity. The activity then ends as cancelled, whatever its body returns.
    public func cancel() { activity.cancel() }

    /// Returns an agent for the same activity that notifies another observer of its members. The members of both agents
    /// share one sequence of numbers.
    public func observed(by observer: some MemberObserver) -> ScopedAgent {
        var copy = self
        copy.observer = observer
        return copy
    }

    /// Returns the underlying agent's ``Agent/userMarks(for:options:)``.
    public func userMarks<R: Request>(for request: R, options: CallOptions) async throws -> Set<UserMark>? {
        try await base.userMarks(for: request, options: options)
    }

    /// Sends a request as a member of the activity, and returns its response on the caller's actor.
    public func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        guard options.belongs(to: activity) else {
            try scope.check()
            return try await base.send(request, options: options)
        }
        let index = try scope.begin()
        defer { scope.end() }
        if let observer { return try await send(request, at: index, options, for: observer) }
        return try await base.send(request, options: joined(options))
    }

    // A separate method, because looking up the response's generic type is slow and only needed with an observer.
    private func send<R: Request>(
        _ request: R, at index: Int, _ options: CallOptions, for observer: any MemberObserver
    ) async throws -> Response<R.Output> {
        let member = CompositeMember(index: index, kind: .request, label: options.label, request: request)
        observer.memberWillStart(member)
        let response: Response<R.Output>
        do { response = try await base.send(request, options: joined(options, member)) } catch {
            await observer.memberDidEnd(member, result: .failure(error))
            throw error
        }
        await observer.memberDidEnd(member, result: .success(.init(value: response.value, http: response.http)))
        return response
    }

    /// Starts a request as a member of the activity, and returns its handle. When a composite's `run` returns, the
    /// request is cancelled.
    @discardableResult
    public func start<R: Request>(
        _ request: R, options: CallOptions, completion: Completion<Response<R.Output>>?
    ) -> RequestHandle<Response<R.Output>> {
        start(
            .request, request: request, options: options, completion: completion,
            output: { CompositeMember.Output(value: $0.value, http: $0.http) },
            with: { base.start(request, options: $0, completion: $1) })
    }

    /// Starts a composite or another activity as a member of this activity, and returns its handle. `run` calls this
    /// method, too.
    @discardableResult
    public func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success> {
        start(
            kind, request: nil, options: options, completion: completion,
            output: { CompositeMember.Output(value: $0, http: nil) },
            with: { base.start(kind, options: $0, completion: $1, body: body) })
    }

    private func start<Success: Sendable>(
        _ kind: ActivityKind, request: (any Request)?, options: CallOptions, completion: Completion<Success>?,
        output: @escaping @Sendable (Success) -> CompositeMember.Output,
        with start: (CallOptions, Completion<Success>?) -> RequestHandle<Success>
    ) -> RequestHandle<Success> {
        do {
            guard options.belongs(to: activity) else {
                try scope.check()
                return start(options, completion)
            }
            let member = try CompositeMember(
                index: scope.begin(), kind: kind, label: options.label, request: request)
            // The member now counts as started, because the watcher has received its will-start.
            defer { scope.end() }
            observer?.memberWillStart(member)
            var options = joined(options, member)
            options.accessories.append(scope.watcher)
            guard let observer else { return start(options, completion) }
            let observed = Completion<Success> { _, result in
                await observer.memberDidEnd(member, result: result.map(output))
            }
            return start(options, .both(observed, completion))
        } catch {
            return base.start(kind, options: options, completion: completion) { _ in throw error }
        }
    }

    /// Returns the options for a member. Creates new options, because mutating a few properties would copy everything
    /// first.
    @inline(never) private func joined(_ options: CallOptions, _ member: CompositeMember? = nil) -> CallOptions {
        var progress = options.progress
        if let member, let observer {
            progress = { [own = progress] progress in
                own?(progress)
                observer.member(member, didReport: progress)
            }
        }
        var tags = activity.tags.merging(options.tags)
        // An inner composite belongs to the outer composite's user.
        if options.userPin?.sessionsOnly == true, let outer = activity.tags[PinnedOperation.self] {
            tags[PinnedOperation.self] = outer
        }
        return CallOptions(
            tags: tags, parent: activity, filters: options.filters,
            accessories: options.accessories, label: options.label, progress: progress)
    }

    func runMembers<C: Composite>(of composite: C) async throws -> C.Output {
        do {
            let output = try await withTaskCancellationHandler {
                try await composite.run(on: self)
            } onCancel: {
                scope.cancelAll()
            }
            await scope.close()
            return output
        } catch {
            await scope.close()
            throw error
        }
    }
}

extension Activity {
    /// Returns an agent whose calls belong to this activity. See ``ScopedAgent``.
    public func agent(on base: some Agent) -> ScopedAgent { ScopedAgent(self, on: base) }
}

/// Observes the members of a ``ScopedAgent``, for example to compute a composite's progress. All methods are optional.
/// See ``ScopedAgent/observed(by:)``.
public protocol MemberObserver: Sendable {
    /// A member is about to start. Called before accessories receive the member's will-start.
    func memberWillStart(_ member: CompositeMember)
    /// A member reported its progress. Called on any thread, in order for each member.
    func member(_ member: CompositeMember, didReport progress: TransferProgress)
    /// A member ended. Called exactly once for each member, and awaited before the member's sender receives its result.
    func memberDidEnd(_ member: CompositeMember, result: Result<CompositeMember.Output, any Error>) async
}

extension MemberObserver {
    /// Does nothing.
    public func memberWillStart(_ member: CompositeMember) {}
    /// Does nothing.
    public func member(_ member: CompositeMember, didReport progress: TransferProgress) {}
    /// Does nothing.
    public func memberDidEnd(_ member: CompositeMember, result: Result<CompositeMember.Output, any Error>) async {}
}

/// A request or composite that was sent with a ``ScopedAgent``.
public struct CompositeMember: Sendable {
    /// The member's index, from 0, in the order of starts.
    public let index: Int
    /// Whether the member is a request, or which kind of composite it is.
    public let kind: ActivityKind
    /// The request as its sender wrote it. Nil for a composite.
    public let request: (any Request)?
    private let givenLabel: String?

    init(index: Int, kind: ActivityKind, label: String?, request: (any Request)?) {
        (self.index, self.kind, givenLabel, self.request) = (index, kind, label, request)
    }

    /// The member's name in logs: the label of its call or composite, or else the request's label, its type, or the
    /// kind. Control characters are escaped.
    public var label: String {
        ControlCharacters.escaped(givenLabel ?? request.map { $0.label ?? "\(type(of: $0))" } ?? kind.rawValue)
    }

    /// The output of a member that succeeded.
    public struct Output: Sendable {
        /// The output of the request or composite.
        public let value: any Sendable
        /// The request's final response. Nil for a composite.
        public let http: HTTPResponse?
    }
}
