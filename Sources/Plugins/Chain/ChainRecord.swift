import Errand
import Synchronization

/// What one run of a chain remembers: which steps failed, and how far the others are.
final class ChainRecord: MemberObserver {
    /// A chain that continues after failures remembers the last ones only.
    private static let maximumFailures = 16

    private let activity: Activity
    private let notifier: ChainNotifier?
    let progress: ProgressReporter<ChainProgress>
    private let failures = Mutex<[(step: CompositeMember, error: any Error)]>([])

    init(_ activity: Activity, _ notifier: ChainNotifier?) {
        (self.activity, self.notifier) = (activity, notifier)
        progress = ProgressReporter(ChainProgress(), of: activity, progress: \.whole)
    }

    func memberWillStart(_ step: CompositeMember) {
        progress.update(reporting: false) { $0.begin(step.index) }
        activity.note("chain", "step \(step.index): \(step.label)")
    }

    func member(_ step: CompositeMember, didReport progress: TransferProgress) {
        self.progress.update { $0.update(step.index, progress) }
    }

    func memberDidEnd(_ step: CompositeMember, result: Result<CompositeMember.Output, any Error>) async {
        progress.update(reporting: false) { $0.end(step.index) }
        switch result {
        case .success(let output): await notifier?.notify(activity, ChainStepResult(step, output))
        case .failure(let error): fail(step, error)
        }
    }

    private func fail(_ step: CompositeMember, _ error: any Error) {
        if error.isCancellation { return }
        failures.withLock { failures in
            if failures.count == Self.maximumFailures { failures.removeFirst() }
            failures.append((step, error))
        }
    }

    /// How many of how many steps of a list are done.
    func count(_ done: Int, of all: Int) { progress.update { $0.count(done, of: all) } }

    /// An error of the body's as the chain's: a step's failure is named, a cancellation and an error of the body's own
    /// stay what they are. A step's failure is known by its identity, so that neither another that reads the same nor
    /// the order of several that fail at once matters.
    func explained(_ error: any Error) -> any Error {
        if error.isCancellation { return error }
        let failure = failures.withLock { $0 }.last { ThrownError($0.error).isSame(as: error) }
        guard let failure else { return error }
        return ChainError(chain: activity.label, failure.step, error)
    }
}
