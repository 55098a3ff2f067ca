#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Testing

/// A server that takes many requests for a flood ends their connection in the midst of them: nginx does so where it reads
/// no bodies. Each request ends, and none that the server may have processed goes out twice.
@Suite(
    "HTTP/2 connections that end under many requests, over libcurl", .timeLimit(.minutes(30)),
    .needsHTTP2)
struct FloodedConnectionTests {
    /// The way in which the connection ends while 40 streams wait on it.
    enum Ending: CaseIterable, CustomTestStringConvertible {
        /// GOAWAY with ENHANCE_YOUR_CALM that counts all streams as processed.
        case calm
        /// The same, with half of the streams left out.
        case calmForSome
        /// The end of the connection, without a word.
        case abrupt
        /// The same, after the head of one response.
        case afterHead

        var testDescription: String { "\(self)" }

        var steps: [HTTP2Server.Step] {
            switch self {
            case .calm: [.goAway(code: 11), .close]
            case .calmForSome: [.goAway(code: 11, after: -40), .close]
            case .abrupt: [.close]
            case .afterHead: [.fields([(":status", "200")]), .close]
            }
        }
    }

    private static let streams = 40

    @Test(
        "every request ends without waiting for its timeout, a GET with the response to its second attempt",
        arguments: Ending.allCases, [HTTPMethod.get, .post])
    func ended(ending: Ending, method: HTTPMethod) async throws {
        guard method == .get || !Offer.sendsBodiesInHTTP1 else { return }
        let certificates = try await TestCertificates()
        // The first one makes the connection, on which the next ones come together.
        let server = try HTTP2Server(try certificates.context(), waitsForBody: true) { arrival in
            guard arrival.connection == 1, arrival.number > 0 else { return .respond }
            return arrival.number < Self.streams ? .send([]) : .send(ending.steps)
        }
        let transport = CurlTransport(trusting: certificates)
        _ = try await transport.send(try request(.get, server.url), options: .of())
        let body: RequestBody = method == .post ? .data(pattern(1000)) : .none
        let sent = try request(method, server.url, body: body)
        let failures: [ErrandError] = try await withThrowingTaskGroup(of: ErrandError?.self) { group -> [ErrandError] in
            for _ in 0..<Self.streams {
                group.addTask {
                    do {
                        // Only the end of the connection can end it: the limit of the test is shorter.
                        let response = try await transport.send(sent, options: .of(timeout: .seconds(86_400)))
                        #expect(response.status == 200)
                        return nil
                    } catch let error as ErrandError {
                        return error
                    }
                }
            }
            return try await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
        }
        for error in failures { #expect(error.code == .connectionLost || error.code == .truncated, "\(error)") }
        if method == .get {
            // A response that has begun is not asked for again.
            #expect(failures.count <= (ending == .afterHead ? 1 : 0))
        } else {
            // Each is sent once, or again where the server has said that it did not process it.
            #expect(server.arrivals.count <= 1 + Self.streams + (ending == .calmForSome ? Self.streams : 0))
        }
    }
}
#endif
