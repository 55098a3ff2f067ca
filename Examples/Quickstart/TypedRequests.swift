import Errand
import ErrandExampleShop
import ErrandExampleUsers
import Foundation

enum TypedRequests {
    static func run(_ shop: Shop) async throws {
        Chapter.begin("Typed requests")
        let user = try await shop.agent.send(GetUser(id: 7))
        Chapter.line("GET  users/7 → \(user.value)")
        let created = try await shop.agent.send(CreateUser(name: "Grace"))
        Chapter.line("POST users   → \(created.value), status \(created.http.status)")
        let moved = try await shop.agent.send(GetText(path: "old"))
        Chapter.line("GET  old     → redirected to \(moved.http.url.path)")
        Chapter.end()
    }
}
