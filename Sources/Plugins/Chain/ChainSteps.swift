public import Errand

/// The agent that the body of a chain sends its steps with.
///
/// Each request, batch or chain that it sends is a step: counted from 0, told to accessories by a note of the chain's
/// activity, and named by the error if it fails. It throws what the chain's own agent throws. Several steps may run at a
/// time, with `async let`, a task group or a batch. What the body has started and leaves running is cancelled when it
/// returns, what a task of its own still sends is awaited, and after that this throws ``Errand/ErrandError/Code/activityEnded``.
public struct ChainSteps: Agent {
    /// The chain as it runs.
    public let activity: Activity
    private let base: any Agent
    let record: ChainRecord
    private let observer: ChainObserver?

    init(_ activity: Activity, on base: any Agent, _ observer: ChainObserver?) {
        (self.activity, self.base, self.observer) = (activity, base, observer)
        record = ChainRecord(activity)
    }

    /// Cancels the chain: whatever the body returns, the chain ends as cancelled.
    public func cancel() { activity.cancel() }

    /// Sends a request as the next step.
    public func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        if isOfComposite(options) {
            try record.check()
            return try await base.send(request, options: options)
        }
        let step = try record.begin(options.label, .request, request, isSent: true)
        defer { record.end(step) }
        let response: Response<R.Output>
        do { response = try await base.send(request, options: joined(options, step)) } catch {
            record.fail(step, error)
            throw error
        }
        await observer?.finished(activity, step, response.value, response.http)
        return response
    }

    /// Starts a request as the next step; the chain does not wait for it.
    @discardableResult
    public func start<R: Request>(
        _ request: R, options: CallOptions, completion: Completion<Response<R.Output>>?
    ) -> RequestHandle<Response<R.Output>> {
        do {
            if isOfComposite(options) {
                try record.check()
                return base.start(request, options: options, completion: completion)
            }
            let step = try record.begin(options.label, .request, request)
            let heard = heard(step, completion, \.http, \.value)
            return base.start(request, options: started(options, step), completion: heard)
        } catch {
            return base.start(.request, options: options, completion: completion) { _ in throw error }
        }
    }

    /// Starts a batch, a chain or another activity as the next step; sending one comes here too.
    @discardableResult
    public func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success> {
        do {
            if isOfComposite(options) {
                try record.check()
                return base.start(kind, options: options, completion: completion, body: body)
            }
            let step = try record.begin(options.label, kind, nil)
            let heard = heard(step, completion, { _ in nil }, { $0 })
            return base.start(kind, options: started(options, step), completion: heard, body: body)
        } catch {
            return base.start(kind, options: options, completion: completion) { _ in throw error }
        }
    }

    /// What a composite within this chain sends has that composite as its parent, and is no step.
    private func isOfComposite(_ options: CallOptions) -> Bool { !options.belongs(to: activity) }

    private func joined(_ options: CallOptions, _ step: ChainRecord.Step) -> CallOptions {
        var options = options
        options.parent = activity
        options.tags = activity.tags.merging(options.tags)
        let listener = record.listener(of: step)
        guard let own = options.progress else {
            options.progress = listener
            return options
        }
        options.progress = { told in
            own(told)
            listener(told)
        }
        return options
    }

    /// Of a step that may go on while nobody awaits it.
    private func started(_ options: CallOptions, _ step: ChainRecord.Step) -> CallOptions {
        var options = joined(options, step)
        options.accessories.append(record.watcher(of: step))
        return options
    }

    /// The completion with what the record and the observer want to know before it.
    private func heard<Success>(
        _ step: ChainRecord.Step, _ completion: Completion<Success>?,
        _ http: @escaping @Sendable (Success) -> HTTPResponse?,
        _ value: @escaping @Sendable (Success) -> any Sendable
    ) -> Completion<Success> {
        let heard = Completion<Success> { [activity, record, observer] _, result in
            switch result {
            case .success(let success): await observer?.finished(activity, step, value(success), http(success))
            case .failure(let error): record.fail(step, error)
            }
        }
        return completion.map(heard.then) ?? heard
    }
}
