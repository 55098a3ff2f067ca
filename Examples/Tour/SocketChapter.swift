import Errand
import ErrandExampleShop
import ErrandSystemTransport
import ErrandTesting
import ErrandWebSocket

/// A WebSocket over a connection that breaks once.
enum SocketChapter {
    private struct Prices: WebSocketRequest {
        typealias Incoming = Price
        typealias Outgoing = Wish
        var path: String { "prices" }
        var webSocketOptions: WebSocketOptions { WebSocketOptions(reconnection: ReconnectionPolicy(backoff: .none)) }
    }

    private struct Price: Codable, Sendable {
        let fruit: String
        let cents: Int
    }

    private struct Wish: Codable, Sendable { let fruit: String }

    static func run(_ shop: Shop) async throws {
        Chapter.begin("WebSockets: prices as they change, over a connection that breaks")
        shop.server.on(
            "/v1/prices",
            .webSocket { socket in
                guard let wish = try socket.receive() else { return }
                try socket.send(.text(#"{"fruit":"apple","cents":\#(wish.text.count + 30)}"#))
                try socket.connection.reset()
            })
        // Don't use the shop's agent: its cassette records responses, not sockets.
        let agent = NetworkAgent(baseURL: shop.server.url("v1"), transport: .system)
        let socket = agent.webSocket(Prices()) { sender in try await sender.send(Wish(fruit: "apple")) }
        var seen = 0
        for try await price in socket {
            Chapter.line("\(price.fruit): \(price.cents) cents")
            seen += 1
            if seen == 2 { break }
        }
        await socket.close()
        Chapter.line("each connection asked for its fruit again")
        Chapter.end()
    }
}
