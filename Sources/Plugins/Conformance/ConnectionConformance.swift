public import Errand
import ErrandEssentials
import ErrandTesting

/// Test cases for the connections of a ``Errand/ConnectingTransport``. You can run them with any test framework.
///
/// ```swift
/// @Test(arguments: ConnectionConformance.cases(for: { CurlTransport() }))
/// func connections(_ each: PluginConformanceCase) async throws { try await each.run() }
/// ```
///
/// Each case creates a transport and starts its own loopback server.
public enum ConnectionConformance {
    /// Returns the cases for the transports that `make` creates.
    ///
    /// - Parameters:
    ///   - make: Creates a new transport. The transport must not have connections or share state with other transports.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    public static func cases(
        for make: @escaping @Sendable () throws -> any ConnectingTransport, within limit: Duration = .seconds(600)
    ) -> [PluginConformanceCase] {
        drafts.map { name, body in
            PluginConformanceCase(name: name, limitation: nil, limit: limit) {
                try await body(ConnectionBench(server: TestServer(), transport: make()))
            }
        }
    }

    private typealias Draft = (String, @Sendable (ConnectionBench) async throws -> Void)

    private static let drafts: [Draft] = [
        (
            "bytes are sent and received in order",
            { bench in
                let connection = try await bench.connect { try ConnectionBench.echo($0) }
                let sent = ConformanceBench.pattern(3 << 20)
                async let received = bench.read(connection, count: sent.count)
                for start in stride(from: 0, to: sent.count, by: 100_001) {
                    connection.enqueue(Data(sent[start..<min(sent.count, start + 100_001)]))
                }
                try await connection.flush()
                try bench.equal(await received, sent, "the echo")
                try bench.equal(connection.pendingBytes, 0, "pending bytes after a flush")
                connection.close()
            }
        ),
        (
            "when the server closes, its last bytes are read first, then the end",
            { bench in
                let connection = try await bench.connect { try $0.send(Data("bye".utf8)) }
                try bench.equal(try await bench.read(connection, count: .max), Data("bye".utf8), "the bytes")
                try bench.equal(try await connection.receive(), nil, "the end again")
            }
        ),
        (
            "a reset fails a waiting reader with connectionLost",
            { bench in
                let gate = Gate()
                let connection = try await bench.connect {
                    try $0.wait(for: gate)
                    try $0.reset()
                }
                let received = Task { try await connection.receive() }
                try await gate.reached()
                gate.open()
                try await bench.expect(.connectionLost, "a read from a reset connection") {
                    try await received.value
                }
            }
        ),
        (
            "a flush waits for a server that doesn't read, and a cancelled flush returns",
            { bench in
                let gate = Gate()
                let connection = try await bench.connect {
                    try $0.wait(for: gate)
                    try ConnectionBench.echo($0)
                }
                let sent = Data(repeating: 0x2E, count: 32 << 20)
                connection.enqueue(sent)
                let flush = Task { try await connection.flush() }
                try await gate.reached()
                try bench.expect(connection.pendingBytes > 0, "pending bytes", came: "\(connection.pendingBytes)")
                let cancelled = Task { try await connection.flush() }
                cancelled.cancel()
                try bench.expect((try? await cancelled.value) == nil, "a cancelled flush to throw", came: "it returned")
                gate.open()
                try bench.equal(try await bench.read(connection, count: sent.count), sent, "the echo")
                try await flush.value
            }
        ),
        (
            "bytes that aren't read make the server pause",
            { bench in
                let all = 64 << 20
                let connection = try await bench.connect { try $0.send(Data(count: all)) }
                _ = try await connection.receive()
                var last: Int64 = -1
                while bench.server.sentBytes != last {
                    last = bench.server.sentBytes
                    try await Task.sleep(for: .milliseconds(200))
                }
                try bench.expect(last < Int64(all / 2), "the server to pause", came: "it sent \(last) bytes")
                connection.close()
            }
        ),
        (
            "closing ends all waiting calls immediately, and the server sees the close",
            { bench in
                let connection = try await bench.connect { try ConnectionBench.echo($0) }
                let reading = Task { try await connection.receive() }
                await Task.yield()
                connection.close()
                try await bench.expect(.cancelled, "a read from a closed connection") { try await reading.value }
                try await bench.expect(.cancelled, "a flush of a closed connection") { try await connection.flush() }
                try await bench.server.waitUntilNoConnections()
            }
        ),
        (
            "a cancelled read loses no bytes: the next read gets them",
            { bench in
                let gate = Gate()
                let connection = try await bench.connect {
                    try $0.wait(for: gate)
                    try ConnectionBench.echo($0)
                }
                let reading = Task { try await connection.receive() }
                try await gate.reached()
                reading.cancel()
                try bench.expect((try? await reading.value) == nil, "a cancelled read to throw", came: "it returned")
                gate.open()
                connection.enqueue(Data("ping".utf8))
                try await connection.flush()
                try bench.equal(try await bench.read(connection, count: 4), Data("ping".utf8), "the bytes")
            }
        ),
        (
            "a connection that is deallocated closes",
            { bench in
                do { _ = try await bench.connect { try ConnectionBench.echo($0) } }
                try await bench.server.waitUntilNoConnections()
            }
        ),
        (
            "a cancelled task doesn't open a connection",
            { bench in
                bench.serve { try ConnectionBench.echo($0) }
                let gate = Gate()
                let opening = Task {
                    try? await gate.wait()
                    return try await bench.transport.connect(for: bench.request(), options: TransportOptions())
                }
                try await gate.reached()
                opening.cancel()
                try await bench.expect(.cancelled, "a connection of a cancelled task") { try await opening.value }
                try await bench.server.waitUntilNoConnections()
            }
        ),
        (
            "a host that refuses connections is a cannotConnect error",
            { bench in
                bench.server.stop()
                try await bench.expect(.cannotConnect, "a connection") {
                    try await bench.transport.connect(for: bench.request(), options: TransportOptions())
                }
            }
        ),
        (
            "two hundred concurrent connections each get their own bytes",
            { bench in
                bench.serve { try ConnectionBench.echo($0) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            let connection = try await bench.opened()
                            let sent = Data("number \(number)".utf8)
                            connection.enqueue(sent)
                            try await connection.flush()
                            try bench.equal(try await bench.read(connection, count: sent.count), sent, "the echo")
                        }
                    }
                    try await group.waitForAll()
                }
                try await bench.server.waitUntilNoConnections()
            }
        ),
    ]
}

struct ConnectionBench: Sendable {
    let server: TestServer
    let transport: any ConnectingTransport

    func request() throws -> HTTPRequest {
        guard let url = URL(string: server.url("/raw")) else {
            throw ConformanceFailure(expected: "a URL", came: server.url)
        }
        return HTTPRequest(.get, url)
    }

    /// Serves a connection. Calls `body` when the client has read the head and sent a byte.
    func serve(_ body: @escaping @Sendable (TestConversation) throws -> Void) {
        let head = TestResponse(status: 101, headers: [.upgrade: "raw"])
        server.on(
            "/raw",
            head.continuing { conversation in
                if try conversation.receive(upTo: 1) != nil { try body(conversation) }
            })
    }

    /// This function is static, because a handler that captured the bench would keep the bench's server alive.
    static func echo(_ conversation: TestConversation) throws {
        while let bytes = try conversation.receive() { try conversation.send(bytes) }
    }

    func connect(_ body: @escaping @Sendable (TestConversation) throws -> Void) async throws -> any ByteConnection {
        serve(body)
        return try await opened()
    }

    func opened() async throws -> any ByteConnection {
        let connection = try await transport.connect(for: request(), options: TransportOptions())
        connection.enqueue(Data("GET /raw HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n\r\n".utf8))
        try await connection.flush()
        let head = Data("HTTP/1.1 101 \r\nUpgrade: raw\r\n\r\n".utf8)
        try equal(try await read(connection, count: head.count), head, "the head")
        connection.enqueue(Data("!".utf8))
        try await connection.flush()
        return connection
    }

    func read(_ connection: any ByteConnection, count: Int) async throws -> Data {
        var data = Data()
        while data.count < count, let bytes = try await connection.receive() { data.append(bytes) }
        return data
    }

    func expect(_ condition: Bool, _ expected: String, came: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(expected: expected, came: came()) }
    }

    func equal<Value: Equatable>(_ came: Value, _ expected: Value, _ what: @autoclosure () -> String) throws {
        if came != expected { throw ConformanceFailure(expected: "\(what()): \(expected)", came: "\(came)") }
    }

    func expect<Value>(
        _ code: ErrandError.Code, _ what: String, _ body: () async throws -> Value
    ) async throws {
        do { _ = try await body() } catch let error as ErrandError where error.code == code { return } catch {
            throw ConformanceFailure(expected: "\(what): \(code)", came: "\(error)")
        }
        throw ConformanceFailure(expected: "\(what): \(code)", came: "no error")
    }
}
