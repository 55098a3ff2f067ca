import Errand
import ErrandAuthentication
import ErrandCache
import ErrandExampleRequests
import ErrandPaging
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import Foundation

/// Loads a feed with sign-in, expiring tokens, pages, retries and a cache, from a server that misbehaves on purpose.
/// Prints what happens, and exits with status 0 if every article arrived once and in order.
@main struct Feed {
    static func main() async throws {
        let server = try NewsServer(articles: 35)
        let accounts = NetworkAgent(baseURL: server.url, transport: .system, filters: [.retry(retryPolicy)])
        let session = AuthenticationSession<BearerToken> { old in
            print(old == nil ? "  signing in" : "  refreshing the token")
            guard let refresh = old?.refreshToken else {
                return try await accounts.send(SignIn(user: "ada", password: "secret")).value
            }
            return try await accounts.send(RefreshToken(refresh)).value
        }
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system,
            filters: [.retry(retryPolicy), .authentication(session), .cache(.memory())], accessories: [Narrator()])

        print("Four pages, one after the other:")
        var articles: [Article] = []
        for try await page in agent.pages(of: GetArticles(), prefetching: true) {
            print("  page \(page.number) of \((page.total ?? 0) / 10 + 1): \(page.items.count) articles")
            articles += page.items
        }

        print("Ten readers at once, with a token that the server has forgotten:")
        server.forgetTokens()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...10 { group.addTask { _ = try await agent.send(GetArticle(id: number)) } }
            try await group.waitForAll()
        }

        print("A screen whose next button is pressed a hundred times, and which is then reloaded:")
        let screen = PageController(GetArticles(), on: agent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try await screen.next() } }
            try await group.waitForAll()
        }
        try await screen.reload()
        while try await screen.next() != nil {}
        print("  shows \(screen.state.items.count) of \(screen.state.total ?? 0) articles")

        print("The server saw \(server.summary)")
        let isRight = articles.map(\.id) == Array(1...35) && screen.state.items.map(\.id) == Array(1...35)
        print(isRight ? "Every article came once and in order." : "Articles are missing or repeated.")
        if !isRight { exit(1) }
    }

    private static var retryPolicy: RetryPolicy {
        var policy = RetryPolicy(maximumAttempts: 5)
        policy.backoff = Backoff(base: .milliseconds(20), maximumDelay: .milliseconds(200))
        return policy
    }
}

/// Prints retries, token refreshes and failures.
private struct Narrator: Accessory {
    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .note(let note) where note.name == "retry" || note.name == "authentication":
            print("  \(activity.label): \(note.message)")
        case .willStop(.success): break
        case .willStop(let outcome): print("  \(activity.label): \(outcome)")
        default: break
        }
    }
}
