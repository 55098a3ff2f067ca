import Errand
import ErrandExampleShop
import ErrandExampleUsers

/// Sends the same request with `await`, with a callback and with a delegate.
enum CallStyles {
    static func run(_ shop: Shop) async throws {
        Chapter.begin("One request, three ways to call it")
        let user = try await shop.agent.send(GetUser(id: 7)).value
        Chapter.line("await     → \(user.name)")

        let byCallback = shop.agent.start(GetUser(id: 7)) { result in
            if case .success(let response) = result {
                Chapter.line("callback  → \(response.value.name), on the main actor")
            }
        }
        _ = await byCallback.result

        let screen = Screen()
        let byDelegate = shop.agent.start(GetUser(id: 7), delegate: screen)
        _ = await byDelegate.result
        Chapter.end()
    }
}

@MainActor private final class Screen: RequestDelegate {
    func requestDidSucceed(_ activity: Activity, response: Response<any Sendable>) {
        if let user = response.value as? User { Chapter.line("delegate  → \(user.name), from \(activity)") }
    }
}
