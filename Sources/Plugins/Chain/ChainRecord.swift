import Errand
import Synchronization

/// The record of one run of a chain: the failed steps, and the progress of the others.
final class ChainRecord: MemberObserver {
    /// A chain that continues after failures remembers only the last ones.
    private static let maximumFailures = 16

    /// Sends the steps of a list, which records its results itself; a body sends with the same agent, observed.
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

    /// A line for accessories, before the step's will-start.
    func note(_ step: Int, _ label: @autoclosure () -> String) {
        activity.note("chain", "step \(step): \(label())")
    }

    /// The options for the call of a step of a list.
    @inline(never) func options(_ step: Int, _ label: String) -> CallOptions {
        CallOptions(label: label, progress: { progress in self.progress.update { $0.update(step, progress) } })
    }

    func fail(_ step: FailedStep, _ error: any Error) {
        if error.isCancellation { return }
        failures.withLock { failures in
            if failures.count == Self.maximumFailures { failures.removeFirst() }
            failures.append((step, error))
        }
    }

    /// An error of the body as an error of the chain: the failure of a step is named, a cancellation and an error of
    /// the body's own stay as they are. The failure of a step is recognised as ``ThrownError`` describes, so that the
    /// order of several simultaneous failures does not matter.
    func named(_ error: any Error) -> any Error {
        if error.isCancellation { return error }
        let failure = failures.withLock { $0 }.last { ThrownError($0.error).isSame(as: error) }
        guard let failure else { return error }
        return ChainError(chain: activity.label, failure.step, error)
    }
}
