import Errand
import ErrandRecording
import ErrandSystemTransport
import ErrandTesting
import ErrandWebSocket
import Foundation
import Testing

private struct Echo: WebSocketRequest {
    var path = "socket"
    var webSocketOptions = WebSocketOptions(pingInterval: nil)
}

/// WebSocket messages in the form of Chromium's archives.
@Suite(.endsInTime, .leakChecked)
struct SocketRecordingTests {
    private let time = ManualTimeSource()
    private let events = RecordingAccessory()

    /// Sends messages one at a time over a socket that a stub echoes, and returns the socket.
    private func talk(
        _ messages: [WebSocketMessage], _ recorder: ExchangeRecorder, closes: Bool = true,
        path: String = "socket"
    ) async throws -> WebSocket<WebSocketMessage, WebSocketMessage> {
        let stub = StubTransport()
        stub.on("/v1/socket", response: .webSocket { try await $0.echo() })
        let agent = NetworkAgent(baseURL: base, transport: stub, accessories: [recorder, events], time: time)
        let socket = agent.webSocket(Echo(path: path))
        var received = socket.makeAsyncIterator()
        for message in messages {
            try await socket.send(message)
            #expect(try await received.next() == message)
        }
        if closes {
            await socket.close()
            #expect(try await received.next() == nil)
            try await events.waitUntilQuiet()
        }
        return socket
    }

    private func entry(_ recorder: ExchangeRecorder) throws -> HARFile.Entry {
        let file = try JSONDecoder().decode(HARFile.self, from: try recorder.harFile().encoded())
        #expect(file.log.entries.count == 1)
        return try #require(file.log.entries.first)
    }

    @Test("the handshake's entry has the messages in both directions, text unchanged and bytes in Base64")
    func messages() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 100, time: time)
        let date = time.date.timeIntervalSince1970
        _ = try await talk([.text("grüße"), .data(Data([0, 255, 7]))], recorder)
        let entry = try entry(recorder)
        #expect(entry.resourceType == "websocket" && entry.response.status == 101)
        #expect(entry.request.url == "wss://api.example.com/v1/socket")
        #expect(
            entry.webSocketMessages == [
                HARFile.WebSocketMessage(type: "send", time: date, opcode: 1, data: "grüße"),
                HARFile.WebSocketMessage(type: "receive", time: date, opcode: 1, data: "grüße"),
                HARFile.WebSocketMessage(type: "send", time: date, opcode: 2, data: "AP8H"),
                HARFile.WebSocketMessage(type: "receive", time: date, opcode: 2, data: "AP8H"),
            ])
        let data = try recorder.harFile().encoded()
        let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let entries = try #require((root["log"] as? [String: Any])?["entries"] as? [[String: Any]])
        let message = try #require((entries[0]["_webSocketMessages"] as? [[String: Any]])?.first)
        #expect(Set(message.keys) == ["type", "time", "opcode", "data"] && message["time"] as? Double == date)
        #expect(entries[0]["_resourceType"] as? String == "websocket")
    }

    @Test("an open socket is recorded with its messages so far, and recorded again with all messages when it ends")
    func open() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 100, time: time)
        let socket = try await talk([.text("one")], recorder, closes: false)
        #expect(recorder.recording.exchanges.map { $0.webSocket?.messages.count } == [2])
        #expect(recorder.reset().exchanges.count == 1)
        try await socket.send(.text("two"))
        await socket.close()
        try await events.waitUntilQuiet()
        let messages = try #require(try entry(recorder).webSocketMessages)
        #expect(messages.filter { $0.type == "send" }.map(\.data) == ["one", "two"])
        #expect(recorder.recording.exchanges.count == 1 && recorder.recording.activities.count == 1)
    }

    @Test("without bodies, an entry has only the sizes of its messages; a truncated copy has them, too")
    func sizes() async throws {
        for (limit, text, bytes) in [(0, "", ""), (3, "gr", "AP8H")] {
            let recorder = ExchangeRecorder(maximumBodyBytes: limit, time: time)
            _ = try await talk([.text("grüße"), .data(Data([0, 255, 7, 8]))], recorder)
            let messages = try #require(try entry(recorder).webSocketMessages)
            #expect(messages.map(\.data) == [text, text, bytes, bytes], "\(limit)")
            #expect(messages.map(\.size) == [7, 7, 4, 4] && messages.map(\.opcode) == [1, 1, 2, 2], "\(limit)")
        }
    }

    @Test("the newest messages are kept within a socket's limits, and the entry counts the others")
    func bounds() async throws {
        let texts = (0..<10).map { "message \($0)" }
        let few = ExchangeRecorder(maximumBodyBytes: 100, maximumSocketMessages: 4, time: time)
        _ = try await talk(texts.map { .text($0) }, few)
        let entry = try entry(few)
        #expect(entry.webSocketMessages?.map(\.data) == ["message 8", "message 8", "message 9", "message 9"])
        #expect(entry.comment?.hasSuffix("the first 16 messages were dropped") == true)

        let small = ExchangeRecorder(maximumBodyBytes: 1 << 20, maximumSocketBytes: 4096, time: time)
        _ = try await talk([.data(Data(count: 3000)), .data(Data(count: 3000))], small)
        let recorded = try #require(small.recording.exchanges.first)
        #expect(recorded.webSocket?.messages.map(\.body.data.count) == [3000])
        #expect(recorded.webSocket?.droppedMessages == 3 && recorded.approximateByteCount < 6000)
        _ = try await talk([.data(Data(count: 100_000))], small)
        let longer = try #require(small.recording.exchanges.last?.webSocket)
        #expect(longer.messages.map(\.body.isTruncated) == [true] && longer.messages[0].body.data.count < 4096)
    }

    @Test("a recorder that keeps no messages records the handshake like any exchange, and receives no messages")
    func none() async throws {
        for recorder in [
            ExchangeRecorder(maximumSocketMessages: 0, time: time), ExchangeRecorder(maximumExchanges: 0, time: time),
        ] {
            #expect(!recorder.observesMessages)
            _ = try await talk([.text("one")], recorder)
            #expect(recorder.recording.exchanges.allSatisfy { $0.webSocket == nil && $0.response?.status == 101 })
            #expect(!events.names().contains("message"))
        }
    }

    @Test(
        "secrets are masked in messages as in bodies, wherever they occur",
        arguments: [
            (#"{"type":"init","payload":{"authToken":"hunter2hunter2"}}"#, "\"•••\""),
            (#"42/rooms,["login",{"password":"hunter2hunter2"}]"#, "\"•••\""),
            ("CONNECT\nlogin:ada\npasscode: x\nsession:hunter2hunter2\n\nbody: hunter2hunter2\0", "session:•••\n"),
            ("CONNECT\r\nx-token:hunter2hunter2\r\n\r\nbody", "x-token:•••\r\n"),
            (#"{"cut":"yes","token":"hunter2hunter2"#, "\"•••\""),
        ])
    func secrets(text: String, masked: String) async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 1000, time: time)
        let echo = "before: hunter2hunter2"
        _ = try await talk([.text(echo), .text(text), .data(Data("hunter2hunter2\0".utf8))], recorder)
        let file = String(decoding: try recorder.harFile().encoded(), as: UTF8.self)
        #expect(!file.contains("hunter2") && !file.contains(Data("hunter2hunter2\0".utf8).base64EncodedString()))
        let messages = try #require(try entry(recorder).webSocketMessages)
        #expect(messages[0].data == "before: •••" && messages[2].data.contains(masked))
        #expect(messages[2].data.first == text.first)
    }

    @Test("a handshake's secret is masked in the messages, and a message's secret in the handshake")
    func handshakeSecrets() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 1000, time: time)
        let path = "socket?token=hunter2hunter2&page=swordfish7"
        let texts = ["you are hunter2hunter2", #"{"secret":"swordfish7"}"#]
        _ = try await talk(texts.map { .text($0) }, recorder, path: path)
        let file = String(decoding: try recorder.harFile().encoded(), as: UTF8.self)
        #expect(!file.contains("hunter2") && !file.contains("swordfish7"))
        #expect(try entry(recorder).webSocketMessages?.first?.data == "you are •••")
    }

    @Test("each connection of a socket that connects again has an entry with its own messages")
    func reconnection() async throws {
        let stub = StubTransport()
        stub.on(
            "/v1/socket",
            response: .webSocket { socket in
                try await socket.send(.text("first"))
                try await socket.send(.close(1012))
            },
            .webSocket { socket in
                try await socket.send(.text("second"))
                try await socket.send(.close(1000))
            })
        let recorder = ExchangeRecorder(maximumBodyBytes: 100)
        let agent = NetworkAgent(baseURL: base, transport: stub, accessories: [recorder, events])
        let policy = ReconnectionPolicy(backoff: .none, minimumDelay: .zero)
        let socket = agent.webSocket(Echo(webSocketOptions: WebSocketOptions(reconnection: policy, pingInterval: nil)))
        var texts: [WebSocketMessage] = []
        for try await text in socket { texts.append(text) }
        #expect(texts == [.text("first"), .text("second")])
        try await events.waitUntilQuiet()
        let entries = recorder.harFile().log.entries
        #expect(entries.map { $0.webSocketMessages?.map(\.data) } == [["first"], ["second"]])
    }

    @Test("a refused handshake is an entry without messages")
    func refusal() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 100)
        let agent = NetworkAgent(baseURL: base, transport: .stub(.status(403)), accessories: [recorder])
        await #expect(throws: ErrandError.self) { try await agent.webSocket(Echo()).open() }
        let entry = try entry(recorder)
        #expect(entry.resourceType == "websocket" && entry.webSocketMessages == [] && entry.response.status == 403)
    }

    @Test("messages over a real connection are recorded, and pings aren't")
    func wire() async throws {
        let server = try TestServer()
        server.on(
            "/socket",
            .webSocket { socket in
                try socket.send(.ping())
                while let frame = try socket.receive(), frame.opcode != 8 {
                    if frame.opcode < 3 { try socket.send(TestFrame(opcode: frame.opcode, frame.content)) }
                }
                try socket.send(.close())
            })
        let recorder = ExchangeRecorder(maximumBodyBytes: 1000)
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [recorder, events])
        let socket = agent.webSocket(Echo())
        var received = socket.makeAsyncIterator()
        for message in [WebSocketMessage.text(#"{"token":"hunter2hunter2"}"#), .data(Data([1, 2, 3]))] {
            try await socket.send(message)
            #expect(try await received.next() == message)
        }
        await socket.close()
        try await events.waitUntilQuiet()
        let entry = try entry(recorder)
        #expect(entry.request.url == server.url.replacing("http:", with: "ws:") + "/socket")
        let messages = try #require(entry.webSocketMessages)
        #expect(messages.map(\.type) == ["send", "receive", "send", "receive"])
        #expect(messages.map(\.data) == [#"{"token":"•••"}"#, #"{"token":"•••"}"#, "AQID", "AQID"])
        #expect(zip(messages, messages.dropFirst()).allSatisfy { $0.time <= $1.time })
        #expect(abs(messages[0].time - Date().timeIntervalSince1970) < 600)
        #expect(recorder.waterfallPage().html.contains("2 messages"))
    }
}
