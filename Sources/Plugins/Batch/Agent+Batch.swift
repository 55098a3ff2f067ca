public import Errand

extension Agent {
    /// Runs a batch and returns its results as they finish; see ``BatchResults``.
    public func results<Part, Success>(
        of batch: Batch<Part, Success>, options: CallOptions = CallOptions()
    ) -> BatchResults<Part> {
        BatchResults {
            let channel = BatchChannel<Part>(limit: batch.maximumConcurrent)
            let closing = Completion<Void> { _, _ in channel.close() }
            let handle = start(
                running: StreamedBatch(batch: batch, channel: channel), options: options, completion: closing)
            return (channel, handle)
        }
    }
}

private struct StreamedBatch<Part: Sendable, Success: Sendable>: Composite {
    let batch: Batch<Part, Success>
    let channel: BatchChannel<Part>

    var activityKind: ActivityKind { .batch }
    var activityLabel: String? { batch.label }

    func run(on agent: ScopedAgent) async throws {
        try await BatchRun(batch, on: agent, channel: channel).carryOut()
    }
}
