// The code of docs/websocket.md.
import Errand
import ErrandTesting
import ErrandWebSocket
import Foundation

nonisolated struct RoomEvent: Decodable, Sendable { let text: String }
nonisolated struct RoomCommand: Encodable, Sendable { let text: String }
nonisolated struct Price: Decodable, Sendable {}
nonisolated struct Subscription: Encodable, Sendable {
    let symbols: [String]
    let after: Int
}

struct Chat: WebSocketRequest {
    typealias Incoming = RoomEvent
    typealias Outgoing = RoomCommand
    let room: Int
    var path: String { "rooms/\(room)/socket" }
}

struct Prices: WebSocketRequest {
    typealias Incoming = Price
    typealias Outgoing = Subscription
    var path: String { "prices" }
    var webSocketOptions: WebSocketOptions { .reconnecting }
}

private func chat(_ agent: NetworkAgent) async throws {
    let socket = agent.webSocket(Chat(room: 7))
    try await socket.send(RoomCommand(text: "hello"))
    for try await event in socket { print(event.text) }

    await socket.close(.goingAway, reason: "the app is left")
}

private func converse(_ socket: WebSocket<RoomEvent, RoomCommand>) async throws -> (Duration, RoomEvent?) {
    let roundTrip = try await socket.ping()
    var events = socket.makeAsyncIterator()
    let reply = try await events.next(within: .seconds(5))
    return (roundTrip, reply)
}

private func follow(_ agent: NetworkAgent, watched: (symbols: [String], last: Int)) async throws {
    let prices = agent.webSocket(Prices()) { sender in
        try await sender.send(Subscription(symbols: watched.symbols, after: watched.last))
    }
    for try await price in prices { print(price) }
}

private func stubbed() -> NetworkAgent {
    let stub = StubTransport()
    stub.on(
        "/rooms/7/socket",
        response: .webSocket { socket in
            try await socket.send(.text(#"{"text":"welcome"}"#))
            try await socket.echo()
        })
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
    return agent
}

private func serve() throws {
    let server = try TestServer()
    server.on(
        "/rooms/7/socket",
        .webSocket { socket in
            while let frame = try socket.receive(), frame.opcode != 8 {
                try socket.send(.text(#"{"text":"\#(frame.text)"}"#))
            }
            try socket.send(.close())
        })
}
