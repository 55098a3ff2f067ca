import ErrandHTTP

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
