import ErrandHTTP

/// An agent whose calls belong to an activity, as its members: that of a composite, or any other.
///
/// It sends with the agent below it. A call that names no parent gets the activity as its parent, its tags, and, from a
/// composite, the filters of the composite's call; one that names another parent belongs to that one and passes through
/// (``CallOptions/belongs(to:)``). After the activity's end each call throws ``ErrandError/Code/activityEnded``, and
/// after its cancellation a cancellation.
///
/// A composite receives one in ``Composite/run(on:)``. A filter makes one for requests of its own:
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

    /// Cancels the activity: whatever its body returns, it ends as cancelled.
    public func cancel() { activity.cancel() }

    /// The same agent with an observer of the members that it sends, instead of the one before. Members are counted
    /// together.
    public func observed(by observer: some MemberObserver) -> ScopedAgent {
        var copy = self
        copy.observer = observer
        return copy
    }

    /// Asks the agent that the scope is on.
    public func userMarks<R: Request>(for request: R, options: CallOptions) async throws -> Set<UserMark>? {
        try await base.userMarks(for: request, options: options)
    }

    /// Sends a request as a member.
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

    // Apart, because only here the response passes: its type costs a lookup where it is not known.
    private func send<R: Request>(
        _ request: R, at index: Int, _ options: CallOptions, for observer: any MemberObserver
    ) async throws -> Response<R.Output> {
        let member = CompositeMember(index, options.label, .request, request)
        observer.memberWillStart(member)
        let response: Response<R.Output>
        do { response = try await base.send(request, options: joined(options, member)) } catch {
            await observer.memberDidEnd(member, result: .failure(error))
            throw error
        }
        await observer.memberDidEnd(member, result: .success(.init(value: response.value, http: response.http)))
        return response
    }

    /// Starts a request as a member. A composite does not wait for it: it is cancelled when the composite's `run`
    /// returns.
    @discardableResult
    public func start<R: Request>(
        _ request: R, options: CallOptions, completion: Completion<Response<R.Output>>?
    ) -> RequestHandle<Response<R.Output>> {
        start(
            .request, request, options, completion,
            output: { CompositeMember.Output(value: $0.value, http: $0.http) },
            with: { base.start(request, options: $0, completion: $1) })
    }

    /// Starts a composite or another activity as a member; `run` of one calls this too.
    @discardableResult
    public func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success> {
        start(
            kind, nil, options, completion, output: { CompositeMember.Output(value: $0, http: nil) },
            with: { base.start(kind, options: $0, completion: $1, body: body) })
    }

    private func start<Success: Sendable>(
        _ kind: ActivityKind, _ request: (any Request)?, _ options: CallOptions, _ completion: Completion<Success>?,
        output: @escaping @Sendable (Success) -> CompositeMember.Output,
        with start: (CallOptions, Completion<Success>?) -> RequestHandle<Success>
    ) -> RequestHandle<Success> {
        do {
            guard options.belongs(to: activity) else {
                try scope.check()
                return start(options, completion)
            }
            let member = try CompositeMember(scope.begin(), options.label, kind, request)
            // From will-start on, which comes before `start` returns, the scope knows the member's activity.
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

    /// Made anew: to set what differs would copy everything first.
    @inline(never) private func joined(_ options: CallOptions, _ member: CompositeMember? = nil) -> CallOptions {
        var progress = options.progress
        if let member, let observer {
            progress = { [own = progress] progress in
                own?(progress)
                observer.member(member, didReport: progress)
            }
        }
        var tags = activity.tags.merging(options.tags)
        // A composite within another one belongs to the user of that.
        if options.userPin?.sessionsOnly == true, let outer = activity.tags[PinnedOperation.self] {
            tags[PinnedOperation.self] = outer
        }
        return CallOptions(
            tags: tags, parent: activity, filters: options.filters,
            accessories: options.accessories, label: options.label, progress: progress)
    }

    /// Runs a composite to the end of its last member.
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
    /// An agent whose calls belong to this activity; see ``ScopedAgent``.
    public func agent(on base: some Agent) -> ScopedAgent { ScopedAgent(self, on: base) }
}
