#if os(Linux)
import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandURLSessionTransport

@Suite("Expectations over URLSession on Linux", .endsInTime, .leakChecked)
struct ExpectationTests {
    @Test(
        "a final response to a head leaves no part of the request on a reused connection",
        arguments: [200, 401, 417])
    func unsentBody(status: Int) async throws {
        let heads = Log<String>()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                heads.add(head)
                // If the client waits for 100, this server reads the body as the next request.
                let expects = head.lowercased().contains("\r\nexpect:")
                if head.hasPrefix("PUT"), !expects { _ = peer.read(100_000) }
                peer.send("HTTP/1.1 \(head.hasPrefix("PUT") ? status : 200) Early\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let transport = URLSessionTransport()
        func request(_ method: HTTPMethod, _ headers: HTTPHeaders, _ body: RequestBody = .none) throws -> HTTPRequest {
            HTTPRequest(method, try #require(URL(string: server.url())), headers: headers, body: body)
        }
        let put = try request(.put, ["Expect": "100-continue"], .data(Data(repeating: 65, count: 100_000)))
        #expect(try await transport.send(put, options: TransportOptions()).status == status)
        let get = try request(.get, ["Authorization": "Bearer x"])
        for _ in 0..<2 { #expect(try await transport.send(get, options: TransportOptions()).status == 200) }
        #expect(heads.all.map { String($0.prefix(4)) } == ["PUT ", "GET ", "GET "])
    }
}
#endif
