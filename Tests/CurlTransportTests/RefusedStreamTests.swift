#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Synchronization
import Testing

/// RFC 9113, sections 6.8 and 8.7: a server that refuses a stream says that it has not acted on it. What went out is
/// nevertheless repeated by the one rule that holds for every connection.
@Suite(
    "HTTP/2 streams that a server refuses, over libcurl", .timeLimit(.minutes(10)),
    .enabled(
        if: Offer.speaksHTTP2 && TLSContext.isAvailable && Nginx.isInstalled,
        "no HTTP/2, or OpenSSL is not installed"))
struct RefusedStreamTests {
    enum Refusal: CaseIterable, CustomTestStringConvertible {
        case reset, goAway, openGoAway
        var testDescription: String { "\(self)" }
        var reaction: HTTP2Server.Reaction {
            switch self {
            case .reset: .refuse
            case .goAway: .goAway
            case .openGoAway: .goAwayOpen
            }
        }
    }

    private func transport(_ certificates: TestCertificates) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(certificates.file("root.pem"))
        return CurlTransport(configuration)
    }

    @Test(
        "a POST whose stream is refused goes out once, on a fresh connection and on a kept one",
        arguments: Refusal.allCases, SampleBody.allCases)
    func post(refusal: Refusal, body: SampleBody) async throws {
        let certificates = try await TestCertificates()
        for isWarm in [false, true] {
            for waitsForBody in [false, true] {
                let server = try HTTP2Server(try certificates.context(), waitsForBody: waitsForBody) { arrival in
                    arrival.method == "GET" ? .respond : refusal.reaction
                }
                let transport = transport(certificates)
                if isWarm { _ = try await transport.send(try request(.get, server.url), options: .of()) }
                let post = try request(.post, server.url, body: body.body)
                let error = try await failure { try await transport.send(post, options: .of()) }
                #expect(error.code == .connectionLost, "\(error)")
                // Some versions send a body over HTTP/1.1 only, which this server refuses before a request.
                #expect(server.arrivals.filter { $0.method == "POST" }.count <= 1)
            }
        }
    }

    @Test("a GET whose stream is refused once goes out again and succeeds", arguments: Refusal.allCases, [false, true])
    func getOnce(refusal: Refusal, isWarm: Bool) async throws {
        let certificates = try await TestCertificates()
        let refused = isWarm ? 1 : 0
        let server = try HTTP2Server(try certificates.context(), waitsForBody: true) { arrival in
            arrival.number == refused ? refusal.reaction : .respond
        }
        let transport = transport(certificates)
        let get = try request(.get, server.url)
        for _ in 0...refused { #expect(try await transport.send(get, options: .of()).data == "ok".utf8.asData) }
        #expect(server.arrivals.count == refused + 2)
    }

    @Test("a GET whose stream is refused each time goes out twice", arguments: Refusal.allCases, [false, true])
    func getTwice(refusal: Refusal, isWarm: Bool) async throws {
        let certificates = try await TestCertificates()
        let server = try HTTP2Server(try certificates.context(), waitsForBody: true) { arrival in
            isWarm && arrival.number == 0 ? .respond : refusal.reaction
        }
        let transport = transport(certificates)
        let get = try request(.get, server.url)
        if isWarm { _ = try await transport.send(get, options: .of()) }
        let error = try await failure { try await transport.send(get, options: .of()) }
        #expect(error.code == .connectionLost, "\(error)")
        #expect(server.arrivals.count == (isWarm ? 3 : 2))
    }

    @Test("a refused stream leaves the others of its connection alone", arguments: [Refusal.reset, .openGoAway])
    func others(refusal: Refusal) async throws {
        let certificates = try await TestCertificates()
        // The first one warms the connection; two are held until the fourth is refused.
        let server = try HTTP2Server(try certificates.context(), waitsForBody: true) { arrival in
            switch arrival.number {
            case 1, 2: .hold
            case 3: refusal.reaction
            default: .respond
            }
        }
        let transport = transport(certificates)
        let get = try request(.get, server.url)
        _ = try await transport.send(get, options: .of())
        let held = (0..<2).map { _ in Task { try await transport.send(get, options: .of()).data } }
        try await eventually { server.arrivals.count == 3 }
        // It goes out again, on another connection.
        #expect(try await transport.send(get, options: .of()).status == 200)
        for task in held { #expect(try await task.value == "ok".utf8.asData) }
        // Where libcurl closes the whole connection after a GOAWAY, the held ones go out again too: once.
        let connections = server.arrivals.map(\.connection)
        #expect(refusal == .openGoAway ? connections.count <= 7 : connections == [1, 1, 1, 1, 2])
    }
}
#endif
