#if os(Linux)
import Errand
import ErrandConformance
import ErrandCurlTransport
import ErrandEssentials
import ErrandTestSupport
import Testing

/// The laws of transports again, with TLS between the transport and the scripted server.
@Suite(
    "The laws hold over TLS", .enabled(if: TLSContext.isAvailable && Nginx.isInstalled, "OpenSSL is needed"),
    .endsInTime)
struct TLSLawTests {
    private static let certificates = Task { try await TestCertificates() }

    private static func laws(
        _ make: @escaping @Sendable (TestCertificates) -> any Transport
    ) async throws -> [ConformanceCase] {
        let certificates = try await certificates.value
        let context = try TLSContext(
            certificate: certificates.file("good.pem"), key: certificates.file("good.key"), choosesHTTP2: false)
        return TransportConformance.laws(
            for: { make(certificates) }, through: { try TLSRelay(to: $0, context) },
            laws: LawOptions(rounds: 10 * LawBudget.factor, budget: LawBudget.duration))
    }

    @Test("curl keeps each law over TLS", arguments: TransportLaw.all.map(\.name))
    func kept(name: String) async throws {
        for each in try await Self.laws({ CurlTransport(trusting: $0) }) where each.name == name {
            try await each.run()
        }
    }

    @Test("a law refuses a transport that takes the end of a TLS connection for the end of a body")
    func truncated() async throws {
        let wrong = try await Self.laws { EndsEarly(inner: CurlTransport(trusting: $0)) }
        let faults = try #require(wrong.first { $0.name == TransportLaw.faults.name })
        await #expect(throws: ConformanceFailure.self) { try await faults.run() }
    }
}

/// Takes a lost connection in the middle of a body for its end, but only over TLS.
private struct EndsEarly: Transport {
    let inner: CurlTransport

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var streaming = options
        streaming.delivery = .stream
        var response = try await inner.send(request, options: streaming)
        guard request.url.scheme == "https", response.body.data == nil else { return response }
        let chunks = BodyChunks(response.body)
        response.body = HTTPBody(cancel: chunks.cancel) {
            do { return try await chunks.next() } catch  where !error.isCancellation { return nil }
        }
        return response
    }
}
#endif
