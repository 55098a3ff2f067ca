import Errand
import ErrandExampleShop
import ErrandTesting
import Foundation
import Synchronization

/// A handwritten accessory and filter.
enum Hooks {
    static func run(_ shop: Shop) async throws {
        Chapter.begin("An accessory watches, a filter acts")
        let teller = Teller()
        shop.agent.configure {
            $0.accessories = [teller]
            $0.filters = [SignedIn(token: "s3cret")]
        }
        _ = try await shop.agent.send(GetText(path: "old"))
        shop.agent.configure {
            $0.accessories = []
            $0.filters = []
        }
        teller.lines.withLock { $0.forEach(Chapter.line) }
        let sent = shop.server.received.last?.headers["Authorization"]
        Chapter.line("the server got the filter's header: \(sent == "Bearer s3cret" ? "yes" : "no")")
        Chapter.end()
    }
}

/// Records events as lines of text.
private final class Teller: Accessory {
    let lines = Mutex<[String]>([])

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let line: String? =
            switch event {
            case .willStart: "will start   \(activity.label)"
            case .sending(let request, let position):
                "sending      \(request.method) \(request.url.path), hop \(position.hop)"
            case .redirected(let response, let next): "redirected   \(response.status) to \(next.url.path)"
            case .received(let response, _): "received     \(response.status)"
            case .willStop: "will stop"
            case .didStop: "did stop"
            default: nil
            }
        if let line { lines.withLock { $0.append(line) } }
    }
}

/// Adds a token to every call.
private struct SignedIn: Filter {
    let token: String

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.headers[.authorization] = "Bearer " + token
        return try await next(exchange)
    }
}
