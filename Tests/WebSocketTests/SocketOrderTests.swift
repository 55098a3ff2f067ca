import Dispatch
import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandWebSocket

/// The order of messages, and the memory they leave allocated.
@Suite("Messages of a WebSocket in their order", .endsInTime, .leakChecked) struct SocketOrderTests {
    private let stub = StubTransport()
    private let agent: NetworkAgent

    init() { agent = NetworkAgent(baseURL: "https://example.com", transport: stub) }

    /// A socket of numbers. Encoding an even number waits for a signal.
    private struct Numbers: WebSocketRequest {
        typealias Incoming = String
        typealias Outgoing = Int
        let encoding: Gate
        let signal = DispatchSemaphore(value: 0)
        var path: String { "socket" }
        var webSocketOptions = WebSocketOptions(
            reconnection: ReconnectionPolicy(backoff: .none, minimumDelay: .milliseconds(1)), pingInterval: nil,
            closeTimeout: .zero)

        func encode(_ message: Int, by coder: WebSocketCoder) throws -> WebSocketMessage {
            if message == 0 {
                encoding.open()
                signal.wait()
            }
            return .text("\(message)")
        }
    }

    @Test("later messages don't overtake a message that takes long to encode")
    func order() async throws {
        let (numbers, seen) = (Numbers(encoding: Gate()), Log<String>())
        stub.on(
            "/socket",
            response: .webSocket { socket in
                while let frame = try await socket.receive(), frame.opcode == 1 { seen.add(frame.text) }
            })
        let socket = agent.webSocket(numbers)
        let first = Task { try await socket.send(0) }
        try await numbers.encoding.wait()
        var others: [Task<Void, any Error>] = []
        for number in 1...3 {
            others.append(Task { try await socket.send(number) })
            try await eventually { socket.core.turns.waitingCount == number }
        }
        // A message that leaves the queue doesn't block the others.
        others[1].cancel()
        await #expect(throws: CancellationError.self) { try await others[1].value }
        numbers.signal.signal()
        for task in [first, others[0], others[2]] { try await task.value }
        try await seen.wait { $0.count == 3 }
        #expect(seen.all == ["0", "1", "3"])
        socket.cancel()
    }

    @Test(
        "messages that wait for a connection are sent in the order of the calls, and a full queue refuses the next one")
    func waiting() async throws {
        let (gate, seen) = (Gate(), Log<String>())
        stub.on(
            "/socket", response: .webSocket { _ in try await gate.wait() },
            .webSocket { socket in
                while let frame = try await socket.receive(), frame.opcode == 1 { seen.add(frame.text) }
            })
        var lines = QuietLines()
        let hour = Duration.seconds(3600)
        lines.webSocketOptions.reconnection = ReconnectionPolicy(
            backoff: Backoff(base: hour, maximumDelay: hour), minimumDelay: hour)
        lines.webSocketOptions.whileDisconnected = .wait(maximumQueue: 20)
        let socket = agent.webSocket(lines)
        try await socket.open()
        gate.open()
        for await state in socket.states { if case .waiting = state { break } }
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<20 {
            tasks.append(Task { try await socket.send("\(number)") })
            try await eventually { socket.core.turns.isTaken && socket.core.turns.waitingCount == number }
        }
        let refused = await #expect(throws: WebSocketError.self) { try await socket.send("20") }
        #expect(refused?.code == .notConnected)
        socket.reconnect()
        for task in tasks { try await task.value }
        try await seen.wait { $0.count == 20 }
        #expect(seen.all == (0..<20).map { "\($0)" })
        socket.cancel()
    }

    @Test("after a failed send, the next message waits for the next connection, even if no reader has seen the end")
    func failedSend() async throws {
        let seen = Log<String>()
        stub.on(
            "/socket",
            response: .webSocket { socket in for number in 0..<4 { try await socket.send(.text("\(number)")) } },
            .webSocket { socket in
                seen.add(try await socket.receive()?.text ?? "")
                try await socket.close()
            })
        var lines = QuietLines()
        lines.webSocketOptions = WebSocketOptions(
            reconnection: ReconnectionPolicy(backoff: .none, minimumDelay: .milliseconds(1)), maximumQueue: 1,
            pingInterval: nil, closeTimeout: .zero)
        let socket = agent.webSocket(lines)
        try await socket.open()
        // The reader is held back and hasn't noticed that the connection is over.
        try await eventually { (try? await socket.send("lost")) == nil }
        let sending = Task { try await socket.send("again") }
        try await eventually { socket.core.turns.isTaken }
        var received: [String] = []
        for try await text in socket { received.append(text) }
        try await sending.value
        #expect(received == ["0", "1", "2", "3"] && seen.all == ["again"])
    }

    private final class Sleeps: TimeSource {
        let count = Counter()
        var now: ContinuousClock.Instant { .now }
        var date: Date { Date() }
        func sleep(until instant: ContinuousClock.Instant) async throws {
            count.increment()
            try await SystemTimeSource().sleep(until: instant)
        }
    }

    @Test("time limits of messages and pings share one timer")
    func timers() async throws {
        let time = Sleeps()
        let agent = NetworkAgent(baseURL: "https://example.com", transport: stub, time: time)
        stub.on("/socket", response: .webSocket { try await $0.echo() })
        var lines = QuietLines()
        lines.webSocketOptions.pongTimeout = .seconds(3600)
        let socket = agent.webSocket(lines)
        try await socket.open()
        let before = time.count.value
        var messages = socket.makeAsyncIterator()
        for number in 0..<200 {
            async let sent: Void = socket.send("\(number)")
            #expect(try await messages.next(within: .seconds(3600)) == "\(number)")
            try await sent
            try await socket.ping()
        }
        #expect(time.count.value - before <= 2)
        socket.cancel()
    }

    @Test(
        "a missed time limit throws, even with other limits running, and the next message is read"
    )
    func limits() async throws {
        let time = ManualTimeSource()
        let agent = NetworkAgent(baseURL: "https://example.com", transport: stub, time: time)
        let gate = Gate()
        stub.on(
            "/socket",
            response: .webSocket { socket in
                try await gate.wait()
                try await socket.send(.text("late"))
                try await socket.close()
            })
        var lines = QuietLines()
        lines.webSocketOptions.pongTimeout = .seconds(60)
        let socket = agent.webSocket(lines)
        try await socket.open()
        let start = time.now
        let pinging = Task { try await socket.ping() }
        try await eventually { time.nextWake == start.advanced(by: .seconds(60)) }
        var messages = socket.makeAsyncIterator()
        let advancing = Task {
            try await eventually { time.nextWake == start.advanced(by: .seconds(5)) }
            time.advance(by: .seconds(5))
        }
        var error = await #expect(throws: WebSocketError.self) { _ = try await messages.next(within: .seconds(5)) }
        #expect(error?.code == .timedOut)
        try await advancing.value
        try await eventually { time.nextWake == start.advanced(by: .seconds(60)) }
        time.advance(by: .seconds(55))
        error = await #expect(throws: WebSocketError.self) { try await pinging.value }
        #expect(error?.code == .timedOut)
        gate.open()
        #expect(try await messages.next(within: .seconds(5)) == "late")
        #expect(try await messages.next() == nil)
    }

    private struct Member: Codable, Sendable { let id: Int }

    private struct Members: WebSocketRequest {
        typealias Incoming = Member
        typealias Outgoing = Member
        var path: String { "socket" }
    }

    @Test("the error of a message that can't be decoded has the place in that message")
    func decoding() async throws {
        stub.on(
            "/socket",
            response: .webSocket { socket in
                for text in [#"{"id":"seven"}"#, #"{"no":1}"#] { try await socket.send(.text(text)) }
                try await socket.close()
            })
        var messages = agent.webSocket(Members()).makeAsyncIterator()
        for expected in ["/id: expected Int", #"the key "id" is missing"#] {
            let error = await #expect(throws: WebSocketError.self) { _ = try await messages.next() }
            #expect(error?.code == .decodingFailed && error?.description.contains(expected) == true)
            #expect(error?.underlying is DecodingError && error?.description.contains("seven") == false)
        }
        #expect(try await messages.next() == nil)
    }
}
