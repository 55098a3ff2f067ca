import Errand
import ErrandSupport

/// Reports the progress of the whole on the batch's activity, in order, whichever parts report at the same time.
struct BatchProgress: Sendable {
    private let notifier: LatestValueNotifier<ProgressSum, TransferProgress>

    init(_ activity: Activity, count: Int, needsOne: Bool) {
        notifier = LatestValueNotifier(ProgressSum(count: count, needsOne: needsOne), value: \.whole) {
            activity.report(.progress($0))
        }
    }

    func begin(_ index: Int) { notifier.changeSilently { $0.begin(index) } }

    func end(_ index: Int, isSuccess: Bool) { notifier.change { $0.end(index, isSuccess: isSuccess) } }

    func allDelivered() async { await notifier.allDelivered() }

    /// Receives the progress of a part.
    func listener(of index: Int) -> @Sendable (TransferProgress) -> Void {
        { [notifier] part in notifier.change { $0.update(index, part) } }
    }
}
