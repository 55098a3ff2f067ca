// The code of docs/coalescing.md.
import Errand
import ErrandCache
import ErrandCoalescing
import ErrandSystemTransport
import Foundation

private func first() {
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system, filters: [.cache(.memory()), .coalescing])
    _ = agent
}

private func rules(_ agent: NetworkAgent) async throws {
    let filter = CoalescingFilter(.standard.ignoring("X-Screen"))
    let narrow = CoalescingFilter(.standard.comparingOnly("Accept", "Accept-Language"))
    let fresh = try await agent.send(GetUser(id: 7), options: .coalescing(.off)).value
    _ = (filter, narrow, fresh)

    struct GetTicket: Request {
        typealias Output = Data
        var path: String { "tickets/next" }
        var tags: Tags { Tags().with(CoalescingPolicy.self, .off) }
    }
}

private enum Tag {
    enum Region: TagKey {
        static let defaultValue = "eu"
        static let affectsResponse = true
    }
}
