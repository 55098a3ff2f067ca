// The code of docs/transport-conformance.md and docs/urlsession-transport.md.
import Errand
import ErrandConformance
import ErrandTesting
import ErrandURLSessionTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private typealias MyTransport = URLSessionTransport

/// Runs only one feature of the real suite, because the whole suite runs elsewhere.
private enum TransportConformance {
    static func cases(
        for make: @escaping @Sendable () throws -> any Transport, effects: [TransportEffect] = [],
        samples: [WireExchange] = [], laws: LawOptions = .off,
        knownLimitations limitations: [KnownLimitation] = []
    ) -> [ConformanceCase] {
        ErrandConformance.TransportConformance.cases(
            for: make, effects: effects, samples: samples, laws: laws, knownLimitations: limitations
        ).filter {
            $0.feature == .ranges
        }
    }

    static func localCases(
        for make: @escaping @Sendable () throws -> any Transport, at url: String
    ) -> [ConformanceCase] { ErrandConformance.TransportConformance.localCases(for: make, at: url) }

    static func localCases(
        serving make: @escaping @Sendable ([LocalResource]) throws -> any Transport
    ) -> [ConformanceCase] { ErrandConformance.TransportConformance.localCases(serving: make) }
}

private struct UnsealingTransport: Transport {
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        HTTPResponse(to: request, status: 200)
    }
}

private struct BundleTransport: Transport {
    init(_ folder: URL) {}
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        HTTPResponse(to: request, status: 200)
    }
}

private func sampleCases() -> [ConformanceCase] {
    let sealed = WireExchange(reply: WireReply(headers: ["X-Sealed": "1"], body: .bytes(50)))
    let cases = TransportConformance.cases(for: { UnsealingTransport() }, samples: [sealed])
    return cases
}

private struct MemoryTransport: Transport {
    init(_ resources: [(url: String, contentType: String, body: Data)]) {}
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        HTTPResponse(to: request, status: 200)
    }
}

private struct ResumingTransport: Transport {
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        HTTPResponse(to: request, status: 200)
    }
}

private func continuingCases() -> [ConformanceCase] {
    let cases = TransportConformance.cases(for: { ResumingTransport() }, effects: [.continuesBodies])
    return cases
}

private func servingCases() -> [ConformanceCase] {
    TransportConformance.localCases(serving: { resources in
        MemoryTransport(resources.map { ($0.url, $0.contentType, $0.body) })
    })
}

private func localCases(_ folder: URL) -> [ConformanceCase] {
    TransportConformance.localCases(for: { BundleTransport(folder) }, at: "https://bundle.local/index.html")
}

private func thoroughCases() -> [ConformanceCase] {
    TransportConformance.cases(for: { MyTransport() }, laws: LawOptions(rounds: 10_000, budget: .seconds(600), seed: 7))
}

/// In place of a relay with a TLS library.
private final class TLSRelay: WireRelay {
    let url: String
    init(to port: Int) throws { url = "http://127.0.0.1:\(port)" }
}

private func overTLS() -> [ConformanceCase] {
    ErrandConformance.TransportConformance.laws(
        for: { MyTransport() }, through: { port in try TLSRelay(to: port) })
}

private func overHTTP2() -> [ConformanceCase] {
    ErrandConformance.TransportConformance.http2Cases(
        for: { MyTransport() }, through: { port in try TLSRelay(to: port) })
}

@Suite("MyTransport passes the transport conformance suite")
struct MyTransportTests {
    @Test(arguments: TransportConformance.cases(for: { MyTransport() }))
    func kept(each: ConformanceCase) async throws { try await each.run() }
}

private func excused() -> [ConformanceCase] {
    TransportConformance.cases(
        for: { MyTransport() }, knownLimitations: [.feature(.trailers, because: "the client below drops them")])
}

private func inAWord() {
    let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .urlSession)
    _ = agent
}

private func configured() {
    let configuration = URLSessionTransport.standardConfiguration
    configuration.httpMaximumConnectionsPerHost = 6
    let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .urlSession(configuration))
    _ = agent
}

struct Legacy: Request {
    let urlRequest: URLRequest
    func httpRequest() throws -> HTTPRequest? { try HTTPRequest(urlRequest) }
}

struct Prefetch: Request {
    var tags: Tags {
        Tags().with(AllowsCellularAccess.self, false)
            .with(AllowsExpensiveNetworkAccess.self, false)  // nor a personal hotspot
            .with(AllowsConstrainedNetworkAccess.self, false)  // nor Low Data Mode
    }
}

struct Offline: Accessory {
    let show: @Sendable (Bool) -> Void

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .transport(.waitingForConnectivity): show(true)
        case .received, .didStop: show(false)
        default: break
        }
    }
}
