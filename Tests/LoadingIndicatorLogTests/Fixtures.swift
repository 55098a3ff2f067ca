import Errand
import ErrandLoadingIndicatorLog
import ErrandTesting
import Synchronization

/// A presenter that logs the states it receives.
extension Log: LoadingPresenter where Element == LoadingState {
    func present(_ state: LoadingState) { add(state) }
}

/// A request for a text, with a label for the indicator.
struct Get: Request {
    typealias Output = String
    var path = "text"
    var loadingLabel: String?
    var tags: Tags { Tags().with(LoadingLabel.self, loadingLabel) }
}

let base = "https://api.example.com/v1"
