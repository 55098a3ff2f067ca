#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Testing

/// Connections without a request and without TLS, whose sockets libcurl lets go of.
@Suite("Plain connections over libcurl", .timeLimit(.minutes(10)), .leakChecked)
struct ByteConnectionTests {
    private static func server() throws -> RawServer {
        try RawServer { peer in
            while case let bytes = peer.read(4), bytes.count == 4 { peer.send(bytes) }
        }
    }

    private static func echoes(over connection: any ByteConnection) async throws -> Bool {
        connection.enqueue(Data("ping".utf8))
        try await connection.flush()
        var received = Data()
        while received.count < 4, let bytes = try await connection.receive() { received += bytes }
        return received == Data("ping".utf8)
    }

    @Test("many that are open take a few KB each, and leave no descriptor")
    func memory() async throws {
        let server = try Self.server()
        await #expect(processExitsWith: .success) { [port = Int(server.port) as Int] in
            let transport = CurlTransport()
            let request = try request(.get, "http://127.0.0.1:\(port)/")
            func open(_ count: Int) async throws -> [any ByteConnection] {
                var all: [any ByteConnection] = []
                for _ in 0..<count {
                    all.append(try await transport.connect(for: request, options: .of()))
                    guard try await Self.echoes(over: all[all.count - 1]) else { preconditionFailure("other bytes") }
                }
                return all
            }
            _ = try await open(1)
            let (before, memory) = (openSockets(), residentBytes())
            let connections = try await open(200)
            let each = (residentBytes() - memory) / 200
            // A sanitizer keeps books of its own.
            precondition(each < 12_000 || isSanitized, "\(each) bytes a connection")
            for connection in connections { connection.close() }
            try await eventually { openSockets() <= before }
        }
    }

    @Test("one whose socket cannot be taken over stays with libcurl")
    func shortage() async throws {
        let server = try Self.server()
        await #expect(processExitsWith: .success) { [port = Int(server.port) as Int] in
            let transport = CurlTransport()
            let request = try request(.get, "http://127.0.0.1:\(port)/")
            let first = try await transport.connect(for: request, options: .of())
            try await DescriptorTests.leave(1)
            let second = try await transport.connect(for: request, options: .of())
            for connection in [first, second] {
                let isEchoed = try await Self.echoes(over: connection)
                precondition(isEchoed, "other bytes")
            }
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test("a reset is connectionLost, with the words of the system")
    func reset() async throws {
        let server = try RawServer { peer in
            _ = peer.read(4)
            peer.reset()
        }
        let request = try request(.get, server.url())
        let connection = try await CurlTransport().connect(for: request, options: .of())
        let error = await #expect(throws: ErrandError.self) { try await Self.echoes(over: connection) }
        #expect(error?.code == .connectionLost && (error?.underlying as? CurlError)?.code == 56)
        #expect(error?.message.lowercased().contains("reset") == true)
        connection.close()
    }
}
#endif
