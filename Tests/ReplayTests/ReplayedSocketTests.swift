import Errand
import ErrandRecording
import ErrandReplay
import ErrandSystemTransport
import ErrandTesting
import ErrandWebSocket
import Foundation
import Testing

private struct Echo: WebSocketRequest {
    var path: String { "socket?token=c4n4ry-s3cr3t" }
}

@Suite(.endsInTime, .leakChecked)
struct ReplayedSocketTests {
    private func echoes(over replay: ReplayTransport, at url: String = site) async throws {
        let socket = NetworkAgent(baseURL: url, transport: replay).webSocket(Echo())
        var received = socket.makeAsyncIterator()
        for message in [WebSocketMessage.text("one"), .data(Data([0, 255]))] {
            try await socket.send(message)
            #expect(try await received.next() == message)
        }
        await socket.close()
    }

    private func echoing() -> StubTransport {
        let stub = StubTransport()
        stub.on("/socket", response: .webSocket { try await $0.echo() })
        stub.on("/text", response: .text("ok"))
        return stub
    }

    @Test("modes that pass requests on also open sockets with their transport, and report them as not recorded")
    func passing() async throws {
        for mode in [ReplayMode.recordAll(over: echoing()), .recordNew(over: echoing())] {
            let file = try Folder().file("a.har")
            let replay = try ReplayTransport(har: file, mode: mode)
            try await echoes(over: replay)
            #expect(try await agent(replay).send(Get()).value == "ok")
            #expect(replay.report.recordedCount == 1 && replay.report.notRecorded.count == 1)
            #expect(replay.report.notRecorded.allSatisfy { $0.contains("WebSocket") && !$0.contains("c4n4ry") })
            #expect(replay.newExchanges.map(\.request.url) == ["\(site)/text"])
        }
        let replay = try ReplayTransport(har: archive(), mode: .replayOrPassOn(to: echoing()))
        try await echoes(over: replay)
        #expect(replay.report.notRecorded.isEmpty)
    }

    @Test("opening a socket on a plain recording throws an error with the reason and the URL without secrets")
    func replaying() async throws {
        let replay = try ReplayTransport(har: archive(entry("wss://api.example.com/socket", status: 101)))
        let error = await #expect(throws: ReplayError.self) {
            try await agent(replay).webSocket(Echo()).open()
        }
        #expect(error?.code == .notReplayed && error?.request?.headers[.upgrade] == "websocket")
        let text = try #require(error.map { "\($0)" })
        #expect(text.hasPrefix("notReplayed: GET \(site)/socket?token=••• opens a connection for another protocol"))
        #expect(replay.report.unmatched == ["GET \(site)/socket?token=•••"])
    }

    @Test("an inner transport that can't open connections is named in the error")
    func unable() async throws {
        struct Plain: Transport {
            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                throw ErrandError(.connectionLost, "not asked for")
            }
        }
        let replay = try ReplayTransport(har: archive(), mode: .replayOrPassOn(to: Plain()))
        let error = await #expect(throws: ErrandError.self) { try await agent(replay).webSocket(Echo()).open() }
        #expect(
            error?.code == .transportUnavailable
                && error?.message.contains("Plain can't open WebSocket connections") == true)
    }

    @Test("a socket in a recording mode uses a real connection, which isn't recorded")
    func wire() async throws {
        let server = try TestServer()
        server.on(
            "/socket",
            .webSocket { socket in
                while let frame = try socket.receive(), frame.opcode != 8 {
                    try socket.send(TestFrame(opcode: frame.opcode, frame.content))
                }
                try socket.send(.close())
            })
        let replay = try ReplayTransport(har: try Folder().file("a.har"), mode: .recordAll(over: .system))
        try await echoes(over: replay, at: server.url)
        #expect(replay.report.recordedCount == 0 && server.requestCount == 1)
    }
}
