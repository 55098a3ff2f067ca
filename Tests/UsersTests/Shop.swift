import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// A server that randomly refuses, fails, redirects and validates, and checks the requests it receives.
final class Shop: Sendable {
    private struct State {
        /// How often each order was carried out.
        var carriedOut: [String: Int] = [:]
        var faults: [String] = []
        var count = 0
    }

    private let state = Mutex(State())
    private let random: SharedGenerator

    init(_ random: SharedGenerator) { self.random = random }

    var faults: [String] { state.withLock { $0.faults } }
    var count: Int { state.withLock { $0.count } }
    func fault(_ text: String) { state.withLock { $0.faults.append(text) } }

    var transport: StubTransport { StubTransport(maximumRecordedRequests: 0) { [self] in await respond(to: $0) } }

    private func chance(_ percent: Int) -> Bool { random.below(100) < percent }

    private func respond(to request: HTTPRequest) async -> StubResponse {
        for _ in 0..<random.below(6) { await Task.yield() }
        state.withLock { $0.count += 1 }
        check(request)
        let response = response(to: request)
        if request.method == .post, response.status != 401, response.status / 100 != 3 {
            let order = request.headers["X-Order"] ?? "none"
            let times = state.withLock { state in
                state.carriedOut[order, default: 0] += 1
                return state.carriedOut[order] ?? 0
            }
            if times > 1 { fault("order \(order) was carried out \(times) times") }
        }
        for _ in 0..<random.below(6) { await Task.yield() }
        return response
    }

    private func response(to request: HTTPRequest) -> StubResponse {
        let isHome = request.url.host() == "api.example.com"
        let isPost = request.method == .post
        if isHome, request.url.path.hasSuffix("away") {
            return .redirect(to: "https://other.example/back", status: isPost ? 307 : 302)
        }
        if !isHome {
            return chance(60)
                ? .redirect(to: Service.home + "/home", status: isPost ? 307 : 302) : .text("data of nobody")
        }
        if chance(12) { return .status(401) }
        if chance(10) { return .status(503) }
        let user = Service.user(of: request)
        let tag = "\"\(user)\""
        let policy = ["private, max-age=600", "max-age=0", "private, max-age=0, stale-while-revalidate=60", "no-cache"]
        let caching = policy[random.below(policy.count)]
        if request.headers["If-None-Match"] == tag {
            return .status(304, headers: ["ETag": tag, "Cache-Control": caching])
        }
        return .text("data of \(user)").header("ETag", tag).header("Cache-Control", caching)
    }

    /// Checks that no credential appears twice in a request or goes to another host.
    private func check(_ request: HTTPRequest) {
        let fields: [HTTPHeaderName] = [.authorization, .cookie, "X-Device-Key", "X-Signature"]
        let items = Service.items(of: request, "api_key") + Service.formItems(of: request, "api_key")
        let counts = fields.map { request.headers.values(of: $0).count } + [items.count]
        if counts.contains(where: { $0 > 1 }) { fault("twice in \(request.urlText)") }
        if request.url.host() != "api.example.com", counts.contains(where: { $0 > 0 }) {
            fault("for a stranger: \(request.urlText) \(request.headers.map(\.name.rawName))")
        }
    }
}
