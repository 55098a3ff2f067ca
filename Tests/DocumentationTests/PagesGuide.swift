// The code of pages that don't belong to a module: a request's path, concurrency, security, errors.
import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

private func travelling(_ agent: NetworkAgent) async throws {
    let made = try await agent.filteredRequest(for: GetUser(id: 7))
    print(made.url, made.headers)
}

@MainActor final class UserTitle {
    private(set) var text = ""

    func load(_ id: Int, from agent: NetworkAgent) async throws {
        text = try await agent.send(GetUser(id: id)).value.name
    }
}

final class HostCounts: Accessory {
    private let counts = Mutex<[String: Int]>([:])

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .sending(let request, _) = event else { return }
        counts.withLock { $0[request.url.host ?? "", default: 0] += 1 }
    }

    var all: [String: Int] { counts.withLock { $0 } }
}

private func trusting(_ agent: NetworkAgent, key: String) {
    agent.configure {
        $0.headers.set("X-Api-Key", key, sensitive: true)
        $0.trustedOrigins = ["https://uploads.example.com"]
    }
}

struct DeclareUser: Filter {
    let user: String
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let fields = exchange.http.headers.filter { $0.name == .cookie || $0.name == .authorization }
        exchange.assign(to: UserMark(user, source: "account"), carriedBy: Array(fields))
        return try await next(exchange)
    }
}

private func failing(_ agent: NetworkAgent, show: (Any) -> Void) async {
    do {
        show(try await agent.send(GetUser(id: 7)).value)
    } catch let error where error.isCancellation {
        return
    } catch let error as ErrandError where error.code == .unacceptableStatus && error.response?.status == 404 {
        show("There is no such user.")
    } catch let error as any RequestFailure where error.isRetryable {
        show("Try again later.")
    } catch {
        show(error.localizedDescription)
    }
}

@Suite("What the page on concurrency shows", .leakChecked) struct ConcurrencyGuideTests {
    @Test("an accessory counts by host, and a screen changes itself")
    @MainActor func shown() async throws {
        let counts = HostCounts()
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json(#"{"id":7,"name":"Ada"}"#)),
            accessories: [counts])
        let title = UserTitle()
        try await title.load(7, from: agent)
        #expect(title.text == "Ada" && counts.all == ["api.example.com": 1])
    }
}
