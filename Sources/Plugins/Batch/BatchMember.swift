public import Errand

/// The agent that a part of a batch sends with: the batch's own agent, with the batch as the parent of what it sends.
///
/// It hands on the tags of the batch. Once the batch has ended it throws ``Errand/ErrandError/Code/activityEnded``.
public struct BatchMember: Agent {
    private let base: any Agent
    private let own: CallOptions

    init(_ base: any Agent, _ options: CallOptions) { (self.base, own) = (base, options) }

    /// Sends a request as a part of the batch.
    public func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        try check()
        return try await base.send(request, options: joined(options))
    }

    /// Starts a request as a part of the batch; the batch neither waits for it nor cancels it.
    @discardableResult
    public func start<R: Request>(
        _ request: R, options: CallOptions, completion: Completion<Response<R.Output>>?
    ) -> RequestHandle<Response<R.Output>> {
        if own.parent?.isOver != true { return base.start(request, options: joined(options), completion: completion) }
        return base.start(.request, options: joined(options), completion: completion) { _ in throw Self.ended }
    }

    /// Starts a batch, a chain or another activity as a part of the batch.
    @discardableResult
    public func start<Success: Sendable>(
        _ kind: ActivityKind, options: CallOptions, completion: Completion<Success>?,
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> RequestHandle<Success> {
        base.start(kind, options: joined(options), completion: completion) { activity in
            try check()
            return try await body(activity)
        }
    }

    private func joined(_ options: CallOptions) -> CallOptions {
        var options = options
        // What a composite within sends has that composite as its parent, and its tags.
        guard let batch = own.parent, options.belongs(to: batch) else { return options }
        options.parent = batch
        options.tags = own.tags.merging(options.tags)
        return options
    }

    private func check() throws {
        if own.parent?.isOver == true { throw Self.ended }
    }

    private static var ended: ErrandError { ErrandError(.activityEnded, "the batch had ended before this was sent") }
}
