public import Errand

/// A batch is run like every composite: `agent.run(batch)`, `agent.start(running: batch, delegate: screen) { result in … }`.
///
/// Throws ``BatchError`` if the batch's policy is not met, and ``Errand/ErrandError`` with `cancelled`.
extension Batch: Composite {
    /// A batch.
    public var activityKind: ActivityKind { .batch }

    /// Its ``label``.
    public var activityLabel: String? { label }

    /// Sends the parts and combines their outputs.
    public func run(on agent: ScopedAgent) async throws -> Success {
        try await BatchRun(self, on: agent).output()
    }

    /// Notifies a delegate, held weakly, of the end.
    public func completion(notifying delegate: any BatchDelegate) -> Completion<Success> {
        .main(
            success: { [weak delegate, cached] in delegate?.batchDidSucceed($0, output: $1, cached: cached($1)) },
            failure: { [weak delegate] in delegate?.batchDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.batchDidCancel($0) })
    }
}
