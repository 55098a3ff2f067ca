import Errand
import ErrandSupport

/// Tells the progress of the whole on the batch's activity, in order, whichever parts tell at the same time.
struct BatchProgress: Sendable {
    private let teller: NewsTeller<ProgressSum, TransferProgress>

    init(_ activity: Activity, count: Int, needsOne: Bool) {
        teller = NewsTeller(ProgressSum(count: count, needsOne: needsOne), news: \.whole) {
            activity.report(.progress($0))
        }
    }

    func begin(_ index: Int) { teller.prepare { $0.begin(index) } }

    func end(_ index: Int, isSuccess: Bool) { teller.change { $0.end(index, isSuccess: isSuccess) } }

    func allTold() async { await teller.allTold() }

    /// Listens to a part.
    func listener(of index: Int) -> @Sendable (TransferProgress) -> Void {
        { [teller] part in teller.change { $0.update(index, part) } }
    }
}
