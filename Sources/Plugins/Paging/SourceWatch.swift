import Errand
import ErrandEssentials
import Synchronization

/// Records the first URL of a request: as it is sent, before redirects, or as it is built where nothing is sent.
final class SourceWatch: Accessory {
    private let state = Mutex<URL?>(nil)

    var url: URL? { state.withLock { $0 } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .built(let request), .sending(let request, _, hop: 1):
            let url = request.url
            state.withLock { $0 = url }
        default: break
        }
    }
}
