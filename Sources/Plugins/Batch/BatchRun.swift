import Errand
import Synchronization

/// One run of a batch.
///
/// As many workers as may run at a time take the parts from the ledger one by one, so there is no task for a part that
/// has not begun, and no part begins after the decision or a cancellation.
struct BatchRun<Part: Sendable, Success: Sendable>: Sendable {
    private let batch: Batch<Part, Success>
    private let agent: ScopedAgent
    private let parts: BatchParts<Part, Success>
    private let progress: BatchProgress
    private let ledger: BatchLock<Part>
    /// Takes the results as they arrive, for a reader; nil for a run with one output.
    private let channel: BatchChannel<Part>?

    init(_ batch: Batch<Part, Success>, on agent: ScopedAgent, channel: BatchChannel<Part>? = nil) {
        (self.batch, self.agent, self.channel) = (batch, agent, channel)
        parts = batch.parts()
        progress = BatchProgress(agent.activity, count: batch.count, needsOne: batch.rule == .firstSuccess)
        ledger = BatchLock(BatchLedger(batch.rule, count: batch.count, keepsResponses: channel == nil))
    }

    /// Carries out the parts and gathers their outputs.
    func output() async throws -> Success {
        try await carryOut()
        return try parts.gather(ledger.state.withLock { $0 })
    }

    /// Runs the parts; their results go to the channel.
    func carryOut() async throws {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<min(batch.limit, batch.count) { group.addTask { await work() } }
            for await goesOn in group where !goesOn { group.cancelAll() }
        }
        await progress.allReported()
        if agent.activity.isCancelled { throw CancellationError() }
        try ledger.state.withLock { try $0.check() }
    }

    /// Carries out one part after the other; false if the rest is to be cancelled.
    private func work() async -> Bool {
        while !Task.isCancelled, let index = ledger.state.withLock({ $0.take() }) {
            let result = await send(index)
            // A request computes its label: not under the lock.
            let name = if case .failure = result { parts.name(index) } else { nil as BatchLedger<Part>.PartName? }
            let (counts, isDecided) = ledger.state.withLock { ($0.end(index, result, name), $0.isDecided) }
            progress.end(index, isSuccess: (try? result.get()) != nil)
            if counts, let channel, batch.rule != .failFast || !isDecided { await channel.put((index, result)) }
            if isDecided { return false }
        }
        return true
    }

    private func send(_ index: Int) async -> Result<Part, any Error> {
        progress.begin(index)
        let whole = progress.listener(of: index)
        let each = batch.eachProgress
        let options = CallOptions(progress: { progress in
            whole(progress)
            each?(index, progress)
        })
        do { return .success(try await parts.send(index, agent, options)) } catch { return .failure(error) }
    }
}

/// The ledger behind a lock.
private final class BatchLock<Part: Sendable>: Sendable {
    let state: Mutex<BatchLedger<Part>>

    init(_ ledger: BatchLedger<Part>) { state = Mutex(ledger) }
}
