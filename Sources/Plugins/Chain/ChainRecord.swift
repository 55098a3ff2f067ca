public import Errand
import ErrandStates
import Synchronization

final class ChainRecord: MemberObserver {
    /// The number of failures to keep. The limit bounds memory if a chain's closure continues after failures.
    private static let maximumKeptFailures = 16

    /// The agent that sends the steps of a list, because a list records its own results. A chain's closure uses an
    /// observed copy of this agent.
    let agent: ScopedAgent
    let notifier: ChainNotifier?
    let progress: ProgressReporter<ChainProgress>
    private let failures = Mutex<[(step: FailedStep, error: any Error)]>([])

    typealias FailedStep = (index: Int, label: String, request: (any Request)?)

    init(_ agent: ScopedAgent, _ notifier: ChainNotifier?) {
        (self.agent, self.notifier) = (agent, notifier)
        progress = ProgressReporter(ChainProgress(), of: agent.activity, progress: \.whole)
    }

    private var activity: Activity { agent.activity }

    func memberWillStart(_ step: CompositeMember) {
        progress.update(reporting: false) { $0.begin(step.index) }
        note(step.index, step.label)
    }

    func member(_ step: CompositeMember, didReport progress: TransferProgress) {
        self.progress.update { $0.update(step.index, progress) }
    }

    func memberDidEnd(_ step: CompositeMember, result: Result<CompositeMember.Output, any Error>) async {
        progress.update(reporting: false) { $0.end(step.index) }
        switch result {
        case .success(let output): await notifier?.notify(activity, ChainStepResult(step, output))
        case .failure(let error): fail((step.index, step.label, step.request), error)
        }
    }

    /// Notes a step and its label in the activity. Call this method before the step's `willStart`.
    func note(_ step: Int, _ label: @autoclosure () -> String) {
        activity.note("chain", "step \(step): \(label())")
    }

    @inline(never) func options(_ step: Int, _ label: String) -> CallOptions {
        CallOptions(label: label, progress: { progress in self.progress.update { $0.update(step, progress) } })
    }

    func fail(_ step: FailedStep, _ error: any Error) {
        if error.isCancellation { return }
        failures.withLock { failures in
            if failures.count == Self.maximumKeptFailures { failures.removeFirst() }
            failures.append((step, error))
        }
    }

    func named(_ error: any Error) -> any Error {
        if error.isCancellation { return error }
        let failure = failures.withLock { $0 }.last { ThrownError($0.error).isSame(as: error) }
        guard let failure else { return error }
        return ChainError(chain: activity.label, failure.step, error)
    }
}

/// The progress of a chain: the bytes of all steps and, for a list, the number of completed steps. It never decreases.
struct ChainProgress: Sendable {
    private var running: [(step: Int, progress: TransferProgress)] = []
    private var sent: Int128 = 0
    private var received: Int128 = 0
    private var fraction: Double?

    mutating func begin(_ step: Int) {
        var index = running.count
        while index > 0, running[index - 1].step > step { index -= 1 }
        running.insert((step, TransferProgress()), at: index)
    }

    mutating func update(_ step: Int, _ progress: TransferProgress) {
        guard let index = index(of: step) else { return }
        let before = running[index].progress
        let now = TransferProgress(
            sent: max(before.sent, progress.sent), received: max(before.received, progress.received))
        sent += Int128(now.sent) - Int128(before.sent)
        received += Int128(now.received) - Int128(before.received)
        running[index].progress = now
    }

    mutating func end(_ step: Int) {
        if let index = index(of: step) { running.remove(at: index) }
    }

    /// Notes that a step of a list is complete. The entry of the completed step becomes the entry of the next step.
    mutating func count(_ done: Int, of all: Int) {
        if let index = index(of: done - 1) { running[index] = (done, TransferProgress()) }
        fraction = max(fraction ?? 0, all > 0 ? min(1, Double(done) / Double(all)) : 1)
    }

    /// Finds a step's entry with a binary search, because a closure may run thousands of steps at a time.
    private func index(of step: Int) -> Int? {
        var (low, high) = (0, running.count)
        while low < high {
            let middle = (low + high) / 2
            if running[middle].step < step { low = middle + 1 } else { high = middle }
        }
        return low < running.count && running[low].step == step ? low : nil
    }

    /// The progress of the whole chain. Its totals are `nil`, because the later steps aren't known yet.
    var whole: TransferProgress {
        TransferProgress(sent: Int64(clamping: sent), received: Int64(clamping: received), fraction: fraction)
    }
}

struct ThrownError {
    private let error: any Error

    init(_ error: any Error) { self.error = error }

    /// Returns whether this error and another error are the same failure. They are if they are the same object, the
    /// same failure of one activity, or the same failure of a step. Other errors are compared by equality or, if they
    /// aren't `Equatable`, by their texts.
    func isSame(as other: any Error) -> Bool {
        guard type(of: error) == type(of: other) else { return false }
        switch (error, other) {
        case (let error as ErrandError, let other as ErrandError) where error.activity != nil || other.activity != nil:
            return error.activity == other.activity && error.code == other.code
        case (let error as ChainError, let other as ChainError):
            return error.chain == other.chain && error.index == other.index
                && ThrownError(error.underlying).isSame(as: other.underlying)
        default:
            if type(of: error) is AnyClass { return error as AnyObject === other as AnyObject }
            if let error = error as? any Equatable { return Self.areEqual(error, other) }
            return String(reflecting: error) == String(reflecting: other)
        }
    }

    private static func areEqual<Value: Equatable>(_ value: Value, _ other: any Error) -> Bool {
        other as? Value == value
    }
}

extension ActivityKind {
    /// The kind of activity that is a run of a chain.
    public static let chain = ActivityKind(rawValue: "chain")
}
