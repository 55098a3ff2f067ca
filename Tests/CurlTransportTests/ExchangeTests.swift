#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Exchanges over libcurl", .endsInTime, .leakChecked)
struct ExchangeTests {
    private func server(_ reply: String) throws -> RawServer {
        try RawServer { peer in while peer.readHead() != nil { peer.send(reply) } }
    }

    @Test("a GET returns status, headers, version and body", arguments: [BodyDelivery.data, .stream])
    func get(delivery: BodyDelivery) async throws {
        let server = try server("HTTP/1.1 203 Other\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nhello")
        let response = try await CurlTransport().send(try request(.get, server.url("/a?b=c")), options: .of(delivery))
        #expect(response.status == 203)
        #expect(response.version == "1.1")
        #expect(response.headers["x-a"] == "1")
        #expect(response.url.absoluteString == server.url("/a?b=c"))
        #expect((response.body.data != nil) == (delivery == .data))
        #expect(try await response.body.collect(upTo: 10) == "hello".utf8.asData)
    }

    @Test("a request is sent as it was written, on one kept connection")
    func sent() async throws {
        let heads = Log<String>()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                heads.add(head)
                peer.send("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
        let transport = CurlTransport()
        let headers: HTTPHeaders = [
            "X-One": "1", "X-Empty": "", "X-Blank": "  ", "Accept": "text/plain", "X-Odd": "a;b:c",
        ]
        _ = try await transport.send(
            try request(.get, server.url("/a/./b/../c?d=%20"), headers: headers), options: .of())
        _ = try await transport.send(try request("PROPFIND", server.url()), options: .of())
        #expect(server.accepted == 1)
        let first = try #require(heads.all.first)
        #expect(first.hasPrefix("GET /a/./b/../c?d=%20 HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
        for line in ["X-One: 1", "X-Empty:", "X-Blank:", "Accept: text/plain", "X-Odd: a;b:c"] {
            #expect(first.contains("\r\n\(line)\r\n"), "\(line) in \(first)")
        }
        #expect(!first.contains("Expect") && !first.contains("Content-Length") && !first.contains("User-Agent"))
        #expect(heads.all[1].hasPrefix("PROPFIND / HTTP/1.1\r\n"))
    }

    @Test(
        "responses without a body are complete at once",
        arguments: [
            ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"), ("GET", "HTTP/1.1 204 No Content\r\n\r\n"),
            ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n"),
            ("GET", "HTTP/1.1 205 X\r\nContent-Length: 0\r\n\r\n"),
        ])
    func bodiless(method: String, reply: String) async throws {
        let server = try server(reply)
        let transport = CurlTransport()
        for delivery in [BodyDelivery.data, .stream] {
            let response = try await transport.send(
                try request(HTTPMethod(rawValue: method), server.url()), options: .of(delivery))
            #expect(try await response.body.collect(upTo: 100).isEmpty)
        }
        #expect(server.accepted == 1)
    }

    @Test("duplicate, folded, empty and non-UTF-8 fields survive; an invalid one is dropped with its folded lines")
    func headers() async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                peer.send(
                    Array(
                        "HTTP/1.1 200 \r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nX-Fold: one\r\n  two\r\n\tthree\r\n"
                            .utf8))
                peer.send(Array("X-Empty:\r\nX-Latin: caf".utf8) + [0xE9] + Array("\r\nX-Utf: café\r\n".utf8))
                peer.send("bad name: 1\r\n of it\r\nX-Space : 2\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let response = try await CurlTransport().send(try request(.get, server.url()), options: .of())
        #expect(response.headers.values(of: .setCookie) == ["a=1", "b=2"])
        #expect(response.headers["X-Fold"] == "one two three")
        #expect(response.headers["X-Empty"] == "")
        #expect(response.headers["X-Latin"] == "café")
        #expect(response.headers["X-Utf"] == "café")
        #expect(response.headers["X-Space"] == "2")
        #expect(!response.headers.contains { $0.name.rawName.contains(" ") })
    }

    @Test("header names keep their spelling, including common names, in a head of any length")
    func names() async throws {
        let names = [
            "Date", "date", "DATE", "Content-Type", "content-type", "content-Type", "Set-Cookie", "set-cookie",
            "SET-cookie",
            "Strict-Transport-Security", "strict-transport-security", "Access-Control-Allow-Origin", "Dave", "X-1",
        ]
        let fields = (0..<20).flatMap { number in names.map { ($0, "\($0) \(number)") } }
        let lines = fields.map { "\($0): \($1)\r\n" }.joined()
        let server = try server("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n")
        let response = try await CurlTransport().send(try request(.get, server.url()), options: .of())
        #expect(response.headers.dropLast().map(\.name.rawName) == fields.map(\.0))
        #expect(response.headers.dropLast().map(\.value) == fields.map(\.1))
        for field in response.headers { #expect(field.isSensitive == (field.name == .setCookie), "\(field.name)") }
    }

    @Test(
        "a body arrives whole in every framing",
        arguments: [
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde", "HTTP/1.1 200 OK\r\n\r\nabcde",
            "HTTP/1.0 200 OK\r\n\r\nabcde",
            "HTTP/1.1 200 OK\nContent-Length: 5\n\nabcde",
        ], [BodyDelivery.data, .stream])
    func framing(reply: String, delivery: BodyDelivery) async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send(reply)
        }
        let response = try await CurlTransport().send(try request(.get, server.url()), options: .of(delivery))
        #expect(try await response.body.collect(upTo: 100) == "abcde".utf8.asData)
    }

    @Test("a chunked response may be split anywhere")
    func splits() async throws {
        let reply = Array(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n".utf8)
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                let cut = Int(head.split(separator: " ")[1].dropFirst()) ?? 0
                peer.send(Array(reply[..<cut]))
                sched_yield()
                peer.send(Array(reply[cut...]))
            }
        }
        let transport = CurlTransport()
        for cut in 0..<reply.count {
            let response = try await transport.send(try request(.get, server.url("/\(cut)")), options: .of())
            #expect(response.data == "abcde".utf8.asData, "split at \(cut)")
        }
    }

    @Test("a body larger than the limit is refused before it is kept", arguments: [true, false])
    func limit(isAnnounced: Bool) async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\n" + (isAnnounced ? "Content-Length: 1000000000000\r\n" : "") + "\r\n")
            while peer.send([UInt8](repeating: 0, count: 65536)) {}
        }
        let transport = CurlTransport()
        let error = try await failure {
            try await transport.send(try request(.get, server.url()), options: .of(limit: 1 << 20))
        }
        #expect(error.code == .bodyTooLarge)
    }

    enum Flood: String, CaseIterable { case longLines, longerLines, shortLines, informational, trailers }

    @Test("a head's size is limited, with any content", arguments: Flood.allCases)
    func headerLimit(flood: Flood) async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            let (start, line) =
                switch flood {
                case .longLines: ("HTTP/1.1 200 OK\r\n", "X-Long: \(String(repeating: "a", count: 90_000))\r\n")
                case .longerLines: ("HTTP/1.1 200 OK\r\n", "X-Long: \(String(repeating: "a", count: 200_000))\r\n")
                case .shortLines: ("HTTP/1.1 200 OK\r\n", "X: 1\r\n")
                case .informational: ("", "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n")
                case .trailers: ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: 1\r\n")
                }
            peer.send(start)
            while peer.send(String(repeating: line, count: 10)) {}
        }
        let transport = CurlTransport()
        let error = try await failure { try await transport.send(try request(.get, server.url()), options: .of()) }
        #expect(error.code == .invalidResponse, "\(error)")
        #expect(error.message.contains("header"))
    }

    @Test(
        "fields that would smuggle a second request are refused",
        arguments: [
            ("X-A", "1\r\nX-B: 2"), ("X-A", "1\nX-B: 2"), ("X\r\nA", "1"), ("X-A", "1\u{0}"),
        ])
    func smuggling(name: String, value: String) async throws {
        let server = try server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let transport = CurlTransport()
        let headers = HTTPHeaders([.init(HTTPHeaderName(name), value)])
        let error = try await failure {
            try await transport.send(try request(.get, server.url(), headers: headers), options: .of())
        }
        #expect(error.code == .invalidRequest)
        let method = try await failure {
            try await transport.send(try request("GET / HTTP/1.1\r\nX:", server.url()), options: .of())
        }
        #expect(method.code == .invalidRequest)
        #expect(server.accepted == 0)
    }
}
#endif
