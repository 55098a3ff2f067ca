import Errand
import ErrandEssentials
import Synchronization

/// Notes where a request goes first: as it is sent, before redirects, or as it is built where nothing is sent.
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
