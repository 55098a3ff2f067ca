import Errand

/// One run of a batch.
///
/// As many workers as parts may run at a time take the parts from the ledger one by one, so a part that has not begun
/// has no task, and no part begins after the decision or a cancellation.
struct BatchRun<Part: Sendable, Success: Sendable>: Sendable {
    private let batch: Batch<Part, Success>
    private let agent: ScopedAgent
    private let parts: BatchParts<Part, Success>
    private let progress: BatchProgress
    private let outcomes: BatchOutcomes<Part>
    /// Takes the results as they arrive, for a reader; nil for a run with one output.
    private let channel: BatchChannel<Part>?

    init(_ batch: Batch<Part, Success>, on agent: ScopedAgent, channel: BatchChannel<Part>? = nil) {
        (self.batch, self.agent, self.channel) = (batch, agent, channel)
        parts = batch.parts()
        progress = BatchProgress(agent.activity, count: batch.count, needsOne: batch.rule == .firstSuccess)
        outcomes = BatchOutcomes(
            BatchLedger(batch.rule, count: batch.count), count: channel == nil ? batch.count : 0)
    }

    /// Sends the parts and combines their outputs.
    func output() async throws -> Success {
        try await carryOut()
        return try parts.gather(outcomes)
    }

    /// Runs the parts; their results are put into the channel.
    func carryOut() async throws {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<min(batch.maximumConcurrent, batch.count) { group.addTask { await work() } }
            for await goesOn in group where !goesOn { group.cancelAll() }
        }
        await progress.allReported()
        if agent.activity.isCancelled { throw CancellationError() }
        try outcomes.check()
    }

    /// Runs one part after the other; false if the rest is to be cancelled.
    private func work() async -> Bool {
        while !Task.isCancelled, let index = outcomes.take() {
            let (output, failure) = await send(index)
            // A request computes its label: not under the lock.
            let name = failure == nil ? nil : parts.name(index)
            let (counts, isDecided) = outcomes.end(index, output, failure, name)
            progress.end(index, isSuccess: failure == nil)
            if counts, let channel, batch.rule != .failFast || !isDecided {
                let error = failure ?? CancellationError()
                await channel.put((index, output.map { .success($0) } ?? .failure(error)))
            }
            if isDecided { return false }
        }
        return true
    }

    /// The output of a part, or its error.
    private func send(_ index: Int) async -> (output: Part?, failure: (any Error)?) {
        progress.begin(index)
        let options = CallOptions(progress: listener(of: index))
        do { return (try await parts.send(index, agent, options), nil) } catch { return (nil, error) }
    }

    private func listener(of index: Int) -> @Sendable (TransferProgress) -> Void {
        let whole = progress.listener(of: index)
        guard let each = batch.eachProgress else { return whole }
        return { progress in
            whole(progress)
            each(index, progress)
        }
    }
}
