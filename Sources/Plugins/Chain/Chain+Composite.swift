public import Errand

/// A chain is run like every composite: `agent.run(chain)`, `agent.start(running: chain, delegate: screen) { result in … }`.
///
/// Throws ``ChainError`` if a step fails, an error of the body as it is, and ``Errand/ErrandError`` with `cancelled`.
extension Chain: Composite {
    /// A chain.
    public var activityKind: ActivityKind { .chain }

    /// Its ``label``.
    public var activityLabel: String? { label }

    /// Runs the body; each request that it sends is a step.
    public func run(on agent: ScopedAgent) async throws -> Success {
        let record = ChainRecord(agent, notifier)
        do {
            let success = try await body(agent.observed(by: record), record)
            await record.progress.allReported()
            return success
        } catch {
            await record.progress.allReported()
            throw record.named(error)
        }
    }

    /// The same chain, which notifies a delegate, held weakly, of each step.
    public func notifying(_ delegate: any ChainDelegate) -> Chain {
        var copy = self
        copy.notifier = ChainNotifier(delegate)
        return copy
    }

    /// Notifies a delegate, held weakly, of the end.
    public func completion(notifying delegate: any ChainDelegate) -> Completion<Success> {
        .main(
            success: { [weak delegate] in delegate?.chainDidSucceed($0, output: $1) },
            failure: { [weak delegate] in delegate?.chainDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.chainDidCancel($0) })
    }
}
