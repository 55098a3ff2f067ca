import Errand
import ErrandSupport

/// Tells the progress of the whole on the batch's activity, in order, whichever parts tell at the same time.
struct BatchProgress: Sendable {
    private let batch: Activity.ID
    private let teller: NewsTeller<ProgressSum, TransferProgress>

    init(_ activity: Activity, count: Int, needsOne: Bool) {
        batch = activity.id
        teller = NewsTeller(ProgressSum(count: count, needsOne: needsOne), news: \.whole) {
            activity.report(.progress($0))
        }
    }

    func begin(_ index: Int) { teller.prepare { $0.begin(index) } }

    func end(_ index: Int, isSuccess: Bool) { teller.change { $0.end(index, isSuccess: isSuccess) } }

    func allTold() async { await teller.allTold() }

    /// Watches a part.
    func watcher(of index: Int) -> any Accessory { Watcher(batch: batch, index: index, teller: teller) }

    private struct Watcher: Accessory {
        let batch: Activity.ID
        let index: Int
        let teller: NewsTeller<ProgressSum, TransferProgress>

        func activity(_ activity: Activity, did event: ActivityEvent) {
            // Work that a part detaches has its accessories, and is no part.
            guard case .transport(.progress(let part)) = event, activity.parent == batch else { return }
            teller.change { $0.update(index, part) }
        }
    }
}
