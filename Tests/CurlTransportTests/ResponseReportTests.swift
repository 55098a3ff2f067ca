#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import ErrandTesting
import Testing

/// Responses that other clients got wrong; the reports are in Tests/Lessons.md.
@Suite("Responses that other clients got wrong, over libcurl", .endsInTime, .leakChecked) struct ResponseReportTests {
    /// Responds with the parts, one after the other, to each request for `/odd`, and with "ok" to others.
    private func server(_ parts: String...) throws -> RawServer {
        try RawServer { peer in
            while let head = peer.readHead() {
                guard head.contains(" /odd ") else {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    continue
                }
                for part in parts { peer.send(part) }
            }
        }
    }

    private func text(_ transport: CurlTransport, _ url: String, _ delivery: BodyDelivery = .data) async throws
        -> String
    {
        let response = try await transport.send(try request(.get, url), options: .of(delivery))
        return String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
    }

    @Test(
        "a status without a body ends at its head, although it names chunks", arguments: ["204 No Content", "304 No"])
    func chunkedNothing(status: String) async throws {
        let server = try server("HTTP/1.1 \(status)\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n")
        let transport = CurlTransport()
        for delivery in [BodyDelivery.data, .stream] {
            for method in [HTTPMethod.get, .post, .delete] {
                let sent = try request(method, server.url("/odd"))
                let response = try await transport.send(sent, options: .of(delivery))
                #expect(response.status == Int(status.prefix(3)))
                #expect(try await response.body.collect(upTo: 10).isEmpty)
            }
        }
        #expect(try await text(transport, server.url("/ok")) == "ok")
    }

    @Test("a chunked body consists of its chunks, whatever Content-Length says", arguments: ["2", "500", "0"])
    func chunksAndLength(length: String) async throws {
        let server = try server(
            "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")
        let transport = CurlTransport()
        for _ in 0..<3 {
            for delivery in [BodyDelivery.data, .stream] {
                #expect(try await text(transport, server.url("/odd"), delivery) == "abcde")
            }
            #expect(try await text(transport, server.url("/ok")) == "ok")
        }
    }

    @Test("the last chunk may come later than the bytes, and the connection is used again")
    func lateEnd() async throws {
        let server = try server(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "0\r\n", "X-End: 1\r\n", "\r\n")
        let transport = CurlTransport()
        for _ in 0..<30 { #expect(try await text(transport, server.url("/odd")) == "abc") }
        #expect(server.accepted == 1)
    }

    @Test("a body that is shorter than its length is an error and not a short body", arguments: [0, 1, 9])
    func shortBody(count: Int) async throws {
        let server = try RawServer { peer in
            guard peer.readHead() != nil else { return }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" + String(repeating: "a", count: count))
        }
        let transport = CurlTransport()
        for delivery in [BodyDelivery.data, .stream] {
            let failure = await #expect(throws: ErrandError.self) {
                try await text(transport, server.url("/odd"), delivery)
            }
            #expect(failure?.code == .connectionLost || failure?.code == .truncated)
        }
    }

    @Test("a field without a value doesn't swallow the next one")
    func emptyFields() async throws {
        let server = try server(
            "HTTP/1.1 200 OK\r\nX-Empty:\r\nX-Next: a\r\nX-Space: \t \r\nX-Last:b\r\nContent-Length: 0\r\n\r\n")
        let response = try await CurlTransport().send(try request(.get, server.url("/odd")), options: .of())
        #expect(response.headers["X-Empty"] == "" && response.headers["X-Next"] == "a")
        #expect(response.headers["X-Space"] == "" && response.headers["X-Last"] == "b")
    }

    @Test("a folded field is read as one value with a space, or the response is invalid; it isn't read as two fields")
    func foldedFields() async throws {
        let server = try server(
            "HTTP/1.1 200 OK\r\nX-Folded: a  \r\n \t b\r\n\tc: d\r\nX-Next: e\r\nContent-Length: 2\r\n\r\nok")
        let sent = try request(.get, server.url("/odd"))
        let result = await Task { try await CurlTransport().send(sent, options: .of()) }.result
        switch result {
        case .success(let response):
            #expect(response.headers["X-Folded"]?.split { $0 == " " || $0 == "\t" } == ["a", "b", "c:", "d"])
            #expect(!response.headers.contains("c") && response.headers["X-Next"] == "e")
            #expect(response.data == Data("ok".utf8))
        case .failure(let error): #expect((error as? ErrandError)?.code == .invalidResponse)
        }
    }

    @Test("a line of blanks after a field belongs to the field, doesn't end the head, and adds no blank to the value")
    func blankFoldedLine() async throws {
        for blanks in [" ", "\t", " \t", "  \r\n\t"] {
            let server = try server(
                "HTTP/1.1 200 OK\r\nX-A: one\r\n\(blanks)\r\nContent-Length: 5\r\n\(blanks)\r\nX-B:\r\n\(blanks)\r\n two\r\n"
                    + "X-After: value\r\n\r\nhello")
            let response = try await CurlTransport().send(try request(.get, server.url("/odd")), options: .of())
            #expect(response.headers["X-A"] == "one" && response.headers["X-B"] == "two")
            #expect(response.headers[.contentLength] == "5" && response.headers["X-After"] == "value")
            #expect(response.data == Data("hello".utf8))
        }
    }

    @Test("an IPv4 address that is written as an IPv6 address connects, and Host has the URL's spelling")
    func mappedAddress() async throws {
        let server = try server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        for host in ["[::ffff:7f00:1]", "[::ffff:127.0.0.1]"] {
            let sent = try request(.get, "http://\(host):\(server.port)/odd")
            let response = try await CurlTransport().send(sent, options: .of())
            #expect(response.data == Data("ok".utf8))
        }
    }

    @Test("a carriage return within a field doesn't end the field or begin another field")
    func bareReturn() async throws {
        let server = try server("HTTP/1.1 200 OK\r\nX-A:\rContent-Length: 2\r\nContent-Length: 5\r\n\r\nabcde")
        let sent = try request(.get, server.url("/odd"))
        let result = await Task { try await CurlTransport().send(sent, options: .of()) }.result
        if case .success(let response) = result { #expect(response.data == Data("abcde".utf8)) }
    }

    @Test("unread bytes of a body don't get into the next response", arguments: [10, 100_000, 3_000_000])
    func unreadBody(count: Int) async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                let size = head.contains(" /odd ") ? count : 2
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                peer.send(Array(repeating: UInt8(ascii: size == 2 ? "k" : "x"), count: size))
            }
        }
        let transport = CurlTransport()
        for _ in 0..<10 {
            let response = try await transport.send(try request(.get, server.url("/odd")), options: .of(.stream))
            #expect(response.status == 200)
            response.body.cancel()
            #expect(try await text(transport, server.url("/ok")) == "kk")
        }
    }

    @Test("fifty responses with trailers, read or not, leave few connections")
    func trailersAndConnections() async throws {
        let server = try server(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nab\r\n0\r\nX-Sum: 1\r\n\r\n")
        let transport = CurlTransport()
        for _ in 0..<50 { #expect(try await text(transport, server.url("/odd"), .stream) == "ab") }
        #expect(server.accepted == 1)
    }

    @Test(
        "a 304 that has a body doesn't disturb the next request on its connection", arguments: ["", "ETag: \"a\"\r\n"])
    func notModifiedWithBody(fields: String) async throws {
        let body = "<html>not modified</html>"
        for length in ["Content-Length: \(body.utf8.count)\r\n", "Transfer-Encoding: chunked\r\n", ""] {
            let content = length.hasPrefix("T") ? "19\r\n\(body)\r\n0\r\n\r\n" : body
            for parts in [["\r\n\(content)"], ["\r\n", content]] {
                let server = try RawServer { peer in
                    while let head = peer.readHead() {
                        guard head.contains(" /odd ") else {
                            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                            continue
                        }
                        peer.send("HTTP/1.1 304 Not Modified\r\n\(fields)\(length)" + parts[0])
                        for part in parts.dropFirst() { peer.send(part) }
                    }
                }
                let transport = CurlTransport()
                for _ in 0..<3 {
                    let sent = try request(.get, server.url("/odd"), headers: ["If-None-Match": "\"a\""])
                    let response = try await transport.send(sent, options: .of())
                    #expect(response.status == 304 && response.data.isEmpty)
                    #expect(try await text(transport, server.url("/ok")) == "ok")
                }
            }
        }
    }
}
#endif
