import Errand
import ErrandExampleShop
import ErrandTesting

enum ManyAtOnce {
    static func run(_ shop: Shop) async throws {
        Chapter.begin("200 requests at once")
        let start = ContinuousClock.now
        let pongs = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 { group.addTask { try await shop.agent.send(GetText(path: "ping")).value } }
            return try await group.reduce(into: 0) { count, text in count += text == "pong" ? 1 : 0 }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        Chapter.line(
            "\(pongs) responses over \(shop.server.connectionCount) connections, \(Int(200 / seconds)) a second")
        Chapter.end()
    }
}
