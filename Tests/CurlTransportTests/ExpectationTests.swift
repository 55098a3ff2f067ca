#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import ErrandTesting
import Testing

/// `Expect: 100-continue` (RFC 9110, section 10.1.1), with servers that respond without 100 and keep the connection.
@Suite("Expectations over libcurl", .endsInTime, .leakChecked)
struct ExpectationTests {
    /// Responds to the head of a request that expects 100 without reading its body, and then reads the body as the next
    /// request. RFC 9112 forbids that to servers and tells clients not to risk it.
    private static func server(_ heads: Log<String>, _ response: String) throws -> RawServer {
        try RawServer { peer in
            while let head = peer.readHead() {
                heads.add(head)
                if head.lowercased().contains("\r\nexpect:") {
                    peer.send(response)
                    continue
                }
                _ = peer.read(length(in: head))
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
    }

    private static func length(in head: String) -> Int {
        guard let range = head.lowercased().firstRange(of: "content-length: ") else { return 0 }
        return Int(head[range.upperBound...].prefix { $0.isNumber }) ?? 0
    }

    /// Bodies that would be sent along with the head, and bodies that are read while they're sent.
    private static let bodies: [RequestBody] = [
        .data(pattern(1000)), .data(pattern(200_000)),
        .stream(length: 2000) { HTTPBody(source: Feed([pattern(1000), pattern(1000)])) },
    ]

    @Test(
        "a final response before the 100 leaves no part of the request on a reused connection",
        arguments: [200, 201, 204, 302, 401, 403, 413, 500], [BodyDelivery.data, .stream])
    func unsentBody(status: Int, delivery: BodyDelivery) async throws {
        for body in Self.bodies {
            let heads = Log<String>()
            let length = status == 204 ? "" : "Content-Length: 2\r\n"
            let server = try Self.server(heads, "HTTP/1.1 \(status) Early\r\n\(length)\r\n\(status == 204 ? "" : "no")")
            let transport = CurlTransport()
            let put = try request(.put, server.url("/put"), headers: ["Expect": "100-continue"], body: body)
            let response = try await transport.send(put, options: .of(delivery))
            #expect(response.status == status)
            #expect(try await response.body.collect(upTo: 10).count == (status == 204 ? 0 : 2))
            for _ in 0..<2 {
                let get = try request(.get, server.url("/next"), headers: ["Authorization": "Bearer x"])
                #expect(try await transport.send(get, options: .of()).data == "ok".utf8.asData)
            }
            // The server read exactly three requests, the first one on a separate connection.
            #expect(heads.all.map { String($0.prefix { $0 != " " }) } == ["PUT", "GET", "GET"])
            #expect(server.accepted == 2)
        }
    }

    @Test(
        "after a refused expectation, the request is sent on another connection without it",
        arguments: ["", "Connection: keep-alive\r\n", "Connection: close\r\n"], [BodyDelivery.data, .stream])
    func refused(field: String, delivery: BodyDelivery) async throws {
        for body in Self.bodies {
            let heads = Log<String>()
            let server = try Self.server(
                heads, "HTTP/1.1 417 Expectation Failed\r\n\(field)Content-Length: 2\r\n\r\nno")
            let transport = CurlTransport()
            let post = try request(.post, server.url("/post"), headers: ["Expect": "100-continue"], body: body)
            for round in 1...2 {
                let response = try await transport.send(post, options: .of(delivery))
                #expect(response.status == 200)
                #expect(try await response.body.collect(upTo: 10) == "ok".utf8.asData)
                let expects = heads.all.map { $0.lowercased().contains("\r\nexpect:") }
                #expect(expects == Array([true, false, true, false].prefix(2 * round)))
                #expect(heads.all.allSatisfy { $0.hasPrefix("POST /post ") })
            }
            // No connection was reused after an expectation. The second expectation's connection had served a request
            // before.
            #expect(server.accepted == 3)
        }
    }

    @Test("a request that expects 100 and receives it leaves its connection reusable")
    func met() async throws {
        let heads = Log<String>()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                heads.add(head)
                if head.lowercased().contains("\r\nexpect:") { peer.send("HTTP/1.1 100 Continue\r\n\r\n") }
                _ = peer.read(Self.length(in: head))
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let transport = CurlTransport()
        for body in Self.bodies {
            let put = try request(.put, server.url(), headers: ["Expect": "100-continue"], body: body)
            #expect(try await transport.send(put, options: .of()).status == 200)
        }
        #expect(server.accepted == 1 && heads.all.count == 3)
    }

    @Test("a 417 after the body of a stream has begun is an error, because the request can't be sent again")
    func refusedLate() async throws {
        let server = try RawServer { peer in
            guard peer.readHead() != nil else { return }
            // libcurl waits a second for 100.
            _ = peer.read(1000)
            peer.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
            _ = peer.drain()
        }
        for delivery in [BodyDelivery.data, .stream] {
            let transport = CurlTransport()
            let feed = Feed([pattern(1000)], ends: false)
            let body = RequestBody.stream(length: 2000) { HTTPBody(source: feed) }
            let put = try request(.put, server.url(), headers: ["Expect": "100-continue"], body: body)
            let error = try await failure { try await transport.send(put, options: .of(delivery)) }
            #expect(error.code == .bodyNotReplayable, "\(error)")
            #expect(feed.isCancelled)
        }
    }
}
#endif
