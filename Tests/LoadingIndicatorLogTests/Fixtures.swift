import Errand
import ErrandLoadingIndicatorLog
import ErrandTesting
import Synchronization

extension Log: LoadingPresenter where Element == LoadingState {
    func present(_ state: LoadingState) { add(state) }
}

struct Get: Request {
    typealias Output = String
    var path = "text"
    var loadingLabel: String?
    var tags: Tags { Tags().with(LoadingLabel.self, loadingLabel) }
}

let base = "https://api.example.com/v1"
