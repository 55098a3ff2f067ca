#if os(Linux) || os(Android)
import Errand
import ErrandTesting
import Foundation
import Testing

/// Shows the harm that each transport of the catalogue does, without the suite.
@Suite("Mistakes in transports do harm", .endsInTime)
struct UnseenTransportHarmTests {
    private func request(_ server: TestServer, _ method: HTTPMethod = .get, body: RequestBody = .none) throws
        -> HTTPRequest
    {
        HTTPRequest(method, try #require(URL(string: server.url("/a"))), body: body)
    }

    @Test("an error has no response")
    func evidence() async throws {
        let server = try TestServer()
        server.on("/a", .text("a long text").closing(afterBodyBytes: 4))
        let error = await #expect(throws: ErrandError.self) {
            try await EvidenceLost().send(try request(server), options: TransportOptions())
        }
        #expect(error?.response == nil)
    }

    @Test("a body is read past the limit")
    func limit() async throws {
        let server = try TestServer()
        server.on("/a", .repeating(count: 160).closing(afterBodyBytes: 10_000_000))
        let options = TransportOptions(maximumBodyBytes: 1000)
        // Reads until the connection closes, and doesn't notice before that the body is too long.
        let found = await code { try await LimitBlind().send(try request(server), options: options) }
        #expect(found != .bodyTooLarge)
    }

    @Test("a cancellation ends another exchange")
    func neighbors() async throws {
        let (server, gate) = (try TestServer(), Gate())
        server.on("/a", .text("text").waiting(for: gate))
        let (transport, request) = (CancelsNeighbors(), try request(server))
        let first = Task { try await transport.send(request, options: TransportOptions()) }
        let second = Task { try await transport.send(request, options: TransportOptions()) }
        try await gate.reached(by: 2)
        first.cancel()
        #expect(await code { try await second.value } == .connectionLost)
        gate.open()
    }

    @Test("a server doesn't learn the length of a large body")
    func chunks() async throws {
        let server = try TestServer()
        server.on("/a", .status(204))
        let large = try request(server, .put, body: .data(Data(count: 300_000)))
        _ = try await ChunksLargeBodies().send(large, options: TransportOptions())
        #expect(try await server.nextRequest().isChunked)
    }

    @Test("a slow reader's stream times out")
    func reader() async throws {
        let server = try TestServer()
        server.on("/a", .repeating(count: 100))
        let time = ManualTimeSource()
        let options = TransportOptions(timeout: .seconds(5), delivery: .stream, time: time)
        let response = try await ImpatientWithReaders().send(try request(server), options: options)
        time.advance(by: .seconds(6))
        #expect(await code { try await response.body.collect(upTo: .max) } == .timedOut)
    }

    @Test("an app doesn't see its service's own status")
    func statuses() async throws {
        let server = try TestServer()
        server.on("/a", .text("slow down").status(420))
        #expect(try await KnownStatuses().send(try request(server), options: TransportOptions()).status == 400)
    }
}
#endif
