import Errand
import ErrandExampleShop
import ErrandTesting

enum Failures {
    struct Reason: Decodable { let reason: String }

    static func run(_ shop: Shop) async throws {
        Chapter.begin("Errors explain what failed and keep the response")
        do {
            _ = try await shop.agent.send(GetText(path: "nothing"))
        } catch let error as ErrandError where error.code == .unacceptableStatus {
            Chapter.line("\(error)")
            let reason = try error.response?.json(Reason.self).reason ?? ""
            Chapter.line("the server's reason: \(reason)")
        }
        do {
            _ = try await shop.agent.send(GetText(path: "a b"))
        } catch let error as ErrandError { Chapter.line("\(error)") }
        Chapter.end()

        Chapter.begin("A cancellation ends a request at once, and is reported")
        let handle = shop.agent.start(GetText(path: "slow"))
        try await shop.gate.reached()
        handle.cancel()
        if case .failure(let error) = await handle.result { Chapter.line("\(error)") }
        Chapter.end()
    }
}
