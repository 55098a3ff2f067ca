#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Testing

/// A server that considers many requests a flood closes their connection while they run; nginx does so if it doesn't
/// read their bodies. Every request must end, and a request that the server may have processed must not be sent twice.
@Suite(
    "HTTP/2 connections that end under many requests, over libcurl", .endsInTime,
    .needsHTTP2)
struct FloodedConnectionTests {
    /// How the connection ends while 40 streams wait on it.
    enum Ending: CaseIterable, CustomTestStringConvertible {
        /// GOAWAY with ENHANCE_YOUR_CALM that counts all streams as processed.
        case calm
        /// Like `calm`, but counts only half of the streams as processed.
        case calmForSome
        /// The connection closes without a GOAWAY.
        case abrupt
        /// Like `abrupt`, but after the head of one response.
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
        guard method == .get || !Offer.sendsBodiesInHTTP1 else {
            try Test.cancel("bodies go out over HTTP/1 first with this libcurl")
        }
        let certificates = try await TestCertificates()
        // The first request opens the connection that the other requests share.
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
                        // Only the end of the connection can end it: the test's time limit is shorter than this
                        // timeout.
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
            // A request isn't repeated once its response has begun.
            #expect(failures.count <= (ending == .afterHead ? 1 : 0))
        } else {
            // Each is sent once, or again if the server reported that it didn't process it.
            #expect(server.arrivals.count <= 1 + Self.streams + (ending == .calmForSome ? Self.streams : 0))
        }
    }
}
#endif
