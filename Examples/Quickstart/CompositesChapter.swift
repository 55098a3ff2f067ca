import Errand
import ErrandBatch
import ErrandChain
import ErrandExampleShop
import ErrandExampleUsers
import Foundation

/// Sends A, then B and C with A's result, then D with both.
enum CompositesChapter {
    static func run(_ shop: Shop) async throws {
        Chapter.begin("Many requests as one: a chain with a batch in it")
        let created = try await shop.agent.run(
            Chain("sign up") { steps in
                let ada = try await steps.send(GetUser(id: 7)).value
                let (again, pong) = try await steps.run(Batch(GetUser(id: ada.id), GetText(path: "ping")))
                return try await steps.send(CreateUser(name: "\(again.value.name) says \(pong.value)")).value
            })
        Chapter.line("A, then B and C, then D → \(created.name)")
        let results = try await shop.agent.run(
            Batch(["ping", "nothing", "ping"].map(GetText.init), maximumConcurrent: 2, policy: .collectAll))
        Chapter.line("collect all → \(results.map { (try? $0.get().value) ?? "failed" })")
        do {
            _ = try await shop.agent.run(Chain("lost", GetText(path: "ping")).then { _ in GetText(path: "nothing") })
        } catch let error as ChainError {
            Chapter.line("a failure names its step: \(error.label), at index \(error.index)")
        }
        Chapter.end()
    }
}
