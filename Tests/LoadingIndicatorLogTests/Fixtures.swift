import Errand
import ErrandLoadingIndicatorLog
import ErrandTesting
import Synchronization

final class Log<Element: Sendable>: Sendable, LoadingPresenter where Element: Sendable {
    private let elements = Mutex<[Element]>([])
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0 } }

    func present(_ state: LoadingState) {
        if let state = state as? Element { add(state) }
    }
}

/// A text at a path; its label for the indicator.
struct Get: Request {
    typealias Output = String
    var path = "text"
    var loadingLabel: String?
    var tags: Tags { Tags().with(LoadingLabel.self, loadingLabel) }
}

let base = "https://api.example.com/v1"
