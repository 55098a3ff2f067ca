#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import ErrandTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Connections without a request. Without TLS, libcurl gives up their sockets; with TLS, it moves their bytes.
@Suite("Connections over libcurl without a request", .endsInTime, .leakChecked)
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

    @Test("many open connections take a few KB each, and leave no descriptors")
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
            // A sanitizer allocates additional memory.
            precondition(each < 12_000 || isSanitized, "\(each) bytes a connection")
            for connection in connections { connection.close() }
            try await eventually { openSockets() <= before }
        }
    }

    @Test("libcurl keeps a connection if the transport can't take over its socket")
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

    @Test(
        "over TLS, small pieces that the system has no room for are sent later",
        .enabled(if: TLSContext.isAvailable && Nginx.isInstalled, "OpenSSL is needed"))
    func smallPieces() async throws {
        let count = 400_000
        let certificates = try await TestCertificates()
        let context = try TLSContext(
            certificate: certificates.file("good.pem"), key: certificates.file("good.key"), choosesHTTP2: false)
        let (gate, received) = (Gate(), Log<Int>())
        let server = try RawServer { peer in
            guard let session = context.accept(peer.descriptor) else { return }
            while !gate.isOpen { usleep(1000) }
            var total = 0
            while total < count, let bytes = session.read(8) { total += bytes == Array("12345678".utf8) ? 1 : 0 }
            received.add(total)
        }
        let request = try request(.get, "https://127.0.0.1:\(server.port)/")
        let connection = try await CurlTransport(trusting: certificates).connect(for: request, options: .of())
        let piece = Data("12345678".utf8)
        for _ in 0..<count { connection.enqueue(piece) }
        connection.push()
        var last = -1
        while connection.pendingBytes != last {
            last = connection.pendingBytes
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(last > 0)
        gate.open()
        try await connection.flush()
        try await received.wait { $0 == [count] }
        connection.close()
    }

    @Test("a reset is connectionLost, with the system's message")
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
