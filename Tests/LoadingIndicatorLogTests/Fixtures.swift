import Errand
import ErrandLoadingIndicatorLog
import ErrandTesting
import Synchronization

/// A presenter that keeps what it is to present.
extension Log: LoadingPresenter where Element == LoadingState {
    func present(_ state: LoadingState) { add(state) }
}

/// A text at a path; its label for the indicator.
struct Get: Request {
    typealias Output = String
    var path = "text"
    var loadingLabel: String?
    var tags: Tags { Tags().with(LoadingLabel.self, loadingLabel) }
}

let base = "https://api.example.com/v1"
