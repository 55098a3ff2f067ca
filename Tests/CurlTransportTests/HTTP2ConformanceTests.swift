#if os(Linux)
import Errand
import ErrandConformance
import ErrandCurlTransport
import ErrandEssentials
import ErrandTestSupport
import Testing

@Suite("The conformance suite for HTTP/2", .endsInTime, .needsHTTP2)
struct HTTP2ConformanceTests {
    private static let certificates = Task { try await TestCertificates() }

    private static func cases(
        _ make: @escaping @Sendable (TestCertificates) -> any Transport = { CurlTransport(trusting: $0) },
        changing change: @escaping FrameRelay.Change = { _, frame in [frame] }
    ) async throws -> [ConformanceCase] {
        let certificates = try await certificates.value
        let context = try certificates.context()
        return TransportConformance.http2Cases(
            for: { make(certificates) },
            through: { port in
                let relay = try FrameRelay(to: port, change)
                return try ChangedRelay(TLSRelay(to: relay.port, context), relay)
            }, within: .seconds(100))
    }

    private static let names = TransportConformance.http2Cases(for: { CurlTransport() }).map(\.name)

    @Test("curl passes each case", arguments: names)
    func kept(name: String) async throws {
        for each in try await Self.cases() where each.name == name { try await each.run() }
    }
}

/// A TLS relay in front of a relay that changes frames.
private final class ChangedRelay: WireRelay {
    private let outer: TLSRelay
    private let inner: FrameRelay

    init(_ outer: TLSRelay, _ inner: FrameRelay) { (self.outer, self.inner) = (outer, inner) }

    var url: String { outer.url }
}
#endif
