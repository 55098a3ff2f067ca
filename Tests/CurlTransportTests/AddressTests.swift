#if os(Linux)
import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@testable import ErrandCurlTransport

/// Hosts with some unreachable addresses. `TransportConformance.addressCases` has the cases for requests.
@Suite("Several addresses of a host over libcurl", .endsInTime, .leakChecked)
struct AddressTests {
    private static func echo() throws -> RawServer {
        try RawServer { peer in
            while case let bytes = peer.read(4), bytes.count == 4 { peer.send(bytes) }
        }
    }

    private static func transport(_ addresses: [String]) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.proxy = .off
        configuration.addresses = ["several.test": addresses + ["127.0.0.1"]]
        return CurlTransport(configuration)
    }

    private static func echoes(_ transport: CurlTransport, _ server: RawServer) async throws -> Bool {
        let connection = try await transport.connect(
            for: try request(.get, "http://several.test:\(server.port)/"), options: .of(timeout: .seconds(14)))
        defer { connection.close() }
        connection.enqueue(Data("ping".utf8))
        try await connection.flush()
        return try await connection.receive() == Data("ping".utf8)
    }

    @Test("a connection for another protocol gets past addresses that refuse")
    func refusing() async throws {
        let server = try Self.echo()
        let transport = Self.transport(["127.0.0.71", "127.0.0.72", "127.0.0.73"])
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 { group.addTask { try await Self.echoes(transport, server) } }
            for try await isEcho in group { #expect(isEcho) }
        }
    }

    @Test("a connection for another protocol gets past addresses that don't respond")
    func silent() async throws {
        let server = try Self.echo()
        let silent = try [2, 3].map { try #require(SilentAddress($0, port: Int(server.port))) }
        #expect(try await Self.echoes(Self.transport(silent.map(\.address)), server))
    }

    @Test("if no address responds, the connection timeout ends the request")
    func nobody() async throws {
        let server = try Self.echo()
        let silent = try #require(SilentAddress(2, port: Int(server.port)))
        var configuration = CurlConfiguration()
        configuration.proxy = .off
        configuration.addresses = ["several.test": [silent.address, silent.address]]
        configuration.connectTimeout = .seconds(1)
        let transport = CurlTransport(configuration)
        let get = try request(.get, "http://several.test:\(server.port)/")
        async let connection = failure { try await transport.connect(for: get, options: .of()) }
        let error = try await failure { try await transport.send(get, options: .of()) }
        #expect(error.code == .timedOut, "\(error)")
        let code = try await connection.code
        #expect(code == .timedOut || code == .cannotConnect)
    }

    // MARK: The times

    private static func rounds(_ limit: Duration, _ version: CurlVersion = CurlVersion(7, 88, 1)) -> AddressRounds {
        let library = CurlLibrary(
            version: version, avoided: CurlVersionRule.avoided(in: version), tls: "", hasTLS: true, hasHTTP2: true,
            hasHTTP3: false, authorities: .builtIn)
        return AddressRounds(limit: Nanoseconds.of(limit), isWatched: true, library)
    }

    private func seconds(_ time: UInt64?) -> Double? { time.map { Double($0) / 1e9 } }

    @Test("a long timeout has a short first round and uses the rest for a second round, a short timeout has one round")
    func times() {
        var rounds = Self.rounds(.seconds(30))
        #expect(seconds(rounds.start(at: 0)) == 4)
        let four = Nanoseconds.of(.seconds(4))
        let (first, second) = (
            rounds.goOn(after: CurlCode.timedOut, since: 0, at: four),
            rounds.goOn(after: CurlCode.timedOut, since: 0, at: 2 * four)
        )
        #expect(first && !second)
        #expect(seconds(rounds.start(at: four)) == 28 && rounds.begun == 0)
        let atEnd = rounds.end()
        #expect(seconds(atEnd) == 32)
        #expect(seconds(rounds.start(at: four)) == 4)
        #expect(seconds(Self.rounds(.seconds(4)).start(at: 0)) == 5)
        #expect(seconds(Self.rounds(.seconds(30), CurlVersion(8, 23, 0)).start(at: 0)) == 32)
    }

    @Test("name lookups and handshakes don't count toward the short time")
    func lookups() {
        var rounds = Self.rounds(.seconds(30))
        let atLookup = rounds.beginLookup(at: 0)
        let duringLookup = (
            rounds.establish(), rounds.goOn(after: CurlCode.timedOut, since: 0, at: Nanoseconds.of(.seconds(20)))
        )
        #expect(seconds(atLookup) == 32 && duringLookup == (nil, false))
        let ends = (rounds.endLookup(at: Nanoseconds.of(.seconds(6))), rounds.endLookup(at: 0))
        #expect(seconds(ends.0) == 10 && ends.1 == nil)
        let handshakes = (rounds.establish(), rounds.establish())
        #expect(seconds(handshakes.0) == 32 && handshakes.1 == nil)
        let goesOn = rounds.goOn(after: CurlCode.timedOut, since: 0, at: Nanoseconds.of(.seconds(10)))
        #expect(!goesOn)
    }

    @Test("an immediate refusal ends the attempt, and a refusal after an unresponsive address doesn't")
    func refusals() {
        var rounds = Self.rounds(.seconds(30))
        let early = rounds.goOn(after: CurlCode.couldNotConnect, since: 0, at: Nanoseconds.of(.seconds(1)))
        let other = rounds.goOn(after: CurlCode.peerVerification, since: 0, at: Nanoseconds.of(.seconds(3)))
        let late = rounds.goOn(after: CurlCode.couldNotConnect, since: 0, at: Nanoseconds.of(.seconds(3)))
        #expect(!early && !other && late)
    }
}
#endif
