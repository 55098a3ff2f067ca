import Errand
import ErrandExampleRequests
import Foundation

enum TypedRequests {
    static func run(_ shop: Shop) async throws {
        Quickstart.chapter("Typed requests")
        let user = try await shop.agent.send(GetUser(id: 7))
        Quickstart.line("GET  users/7 → \(user.value)")
        let created = try await shop.agent.send(CreateUser(name: "Grace"))
        Quickstart.line("POST users   → \(created.value), status \(created.http.status)")
        let moved = try await shop.agent.send(GetText(path: "old"))
        Quickstart.line("GET  old     → redirected to \(moved.http.url.path)")
        Quickstart.end()
    }
}
