import Errand
import ErrandEssentials
import Synchronization

/// Answers a GET that reaches no server with a text of the app.
struct OfflineAnswer: Filter {
    /// Right: rethrows a cancellation. Wrong: answers it, too.
    let keepsCancellations: Bool

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        do { return try await next(exchange) } catch let error as ErrandError
            where exchange.http.method == .get && !(keepsCancellations && error.isCancellation)
        {
            return HTTPResponse(
                to: exchange.http, status: 503, headers: [.contentType: "text/plain"],
                body: HTTPBody(Data("offline".utf8)), source: .stored("app", age: .zero, reason: "\(error.code)"))
        }
    }
}

/// Spins from the first request of a call until the call ends.
final class TransferSpinner: Accessory {
    /// Right: stops at the end of a call. Wrong: stops at a response or a failure.
    private let endsWithCall: Bool
    private let running = Mutex<Set<Activity.ID>>([])

    init(endsWithCall: Bool) { self.endsWithCall = endsWithCall }

    var text: String { running.withLock { $0.isEmpty ? "still" : "spinning" } }
    var count: String { running.withLock { "\($0.count) transfers" } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .sending: running.withLock { _ = $0.insert(activity.id) }
        case .didStop(.cancelled) where !endsWithCall: break
        case .didStop: running.withLock { _ = $0.remove(activity.id) }
        default: break
        }
    }
}
