#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Unusual responses over libcurl", .endsInTime, .leakChecked) struct UnusualResponseTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static func length(in head: String) -> Int {
        guard let range = head.lowercased().firstRange(of: "content-length: ") else { return 0 }
        return Int(head[range.upperBound...].prefix { $0.isNumber }) ?? 0
    }

    @Test("a body after a response to HEAD isn't part of it or of the next response")
    func headWithBody() async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                let coded = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n"
                // An empty body in gzip.
                let body: [UInt8] = [0x1F, 0x8B, 8, 0, 0x7A, 0x41, 0xF9, 0x50, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
                peer.send(head.hasPrefix("HEAD") ? Array(coded.utf8) + body : Array(Self.ok.utf8))
            }
        }
        let transport = CurlTransport()
        for _ in 0..<3 {
            let head = try await transport.send(try request(.head, server.url()), options: .of())
            #expect(head.status == 200 && head.data.isEmpty && head.headers[.contentLength] == "20")
            #expect(try await transport.send(try request(.get, server.url()), options: .of()).data == "ok".utf8.asData)
        }
    }

    @Test(
        "for each status and method without a body, the body is empty even if the response names a coding",
        arguments: [
            ("GET", "204 No Content", ""), ("POST", "204 No Content", ""), ("GET", "304 Not Modified", ""),
            ("HEAD", "404 Not Found", "Content-Length: 120\r\n"), ("GET", "401 No", "Content-Length: 0\r\n"),
            ("HEAD", "200 OK", "Transfer-Encoding: chunked\r\n"), ("POST", "201 Created", "Content-Length: 0\r\n"),
        ], ["gzip", "deflate", "br", "gzip, deflate"])
    func nothingCoded(response: (method: String, status: String, fields: String), coding: String) async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                peer.send("HTTP/1.1 \(response.status)\r\nContent-Encoding: \(coding)\r\n\(response.fields)\r\n")
                _ = head
            }
        }
        let transport = CurlTransport()
        for delivery in [BodyDelivery.data, .stream] {
            let sent = try request(HTTPMethod(rawValue: response.method), server.url())
            let received = try await transport.send(sent, options: .of(delivery))
            #expect(received.status == Int(response.status.prefix(3)))
            #expect(try await received.body.collect(upTo: 10).isEmpty)
        }
        #expect(server.accepted == 1)
    }

    @Test(
        "a redirect is followed although its body isn't in the coding that it names",
        arguments: ["", "Moved", "<html>Moved</html>"], [301, 302, 303, 307, 308])
    func codedRedirect(body: String, status: Int) async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                let fields = "Location: /there\r\nContent-Encoding: gzip\r\nContent-Length: \(body.utf8.count)\r\n"
                peer.send(head.contains(" /there ") ? Self.ok : "HTTP/1.1 \(status) No\r\n\(fields)\r\n\(body)")
            }
        }
        let agent = NetworkAgent(baseURL: server.url(""), transport: CurlTransport())
        #expect(try await agent.send(Call<Data>(.get, "here")).value == "ok".utf8.asData)
    }

    @Test("a blank before the first field is ignored or refused at once", arguments: [" ", "\t", "   "])
    func blankBeforeFirstField(blank: String) async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                peer.send("HTTP/1.1 200 OK\r\n\(blank)X-First: 1\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        do {
            let response = try await CurlTransport().send(try request(.get, server.url()), options: .of())
            #expect(response.status == 200 && response.data == "ok".utf8.asData)
        } catch let error as ErrandError {
            // libcurl before version 8.3.
            #expect(error.code == .invalidResponse)
        }
    }

    @Test(
        "a length that isn't a number, or several different lengths, never make another body than the server's",
        arguments: [
            "Content-Length: 2x", "Content-Length: 2\r\nContent-Length: 3", "Content-Length: 2, 3",
            "Content-Length: 1\r\n  9", "Content-Length: -1", "Content-Length: two",
            "Content-Length: 99999999999999999999999999",
        ])
    func wrongLengths(fields: String) async throws {
        let server = try RawServer { peer in
            guard peer.readHead() != nil else { return }
            peer.send("HTTP/1.1 200 OK\r\n\(fields)\r\nConnection: close\r\n\r\nok")
        }
        let result = await Task {
            try await CurlTransport().send(try request(.get, server.url()), options: .of()).data
        }.result
        switch result {
        case .success(let data): #expect(data == "ok".utf8.asData)
        case .failure(let error): #expect(error is ErrandError)
        }
    }

    @Test("any number of 1xx responses comes before the response to a POST that expects 100")
    func severalContinues() async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
                _ = peer.read(Self.length(in: head))
                peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + Self.ok)
            }
        }
        let transport = CurlTransport()
        for count in [12, 100_000] {
            let post = try request(
                .post, server.url(), headers: ["Expect": "100-continue"], body: .data(pattern(count)))
            let response = try await transport.send(post, options: .of())
            #expect(response.status == 200 && response.data == "ok".utf8.asData && response.headers["Link"] == nil)
        }
        #expect(server.accepted == 1)
    }

    @Test("a stream whose expectation gets a 401 isn't read, so it can be sent again")
    func untouchedStream() async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if head.contains("Bearer new") {
                    peer.send("HTTP/1.1 100 Continue\r\n\r\n")
                    let body = peer.read(Self.length(in: head))
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
                    peer.send(body)
                } else {
                    peer.send("HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    return
                }
            }
        }
        let transport = CurlTransport()
        let feed = Feed([pattern(1000)])
        let body = RequestBody.stream(length: 1000) { HTTPBody(source: feed) }
        var headers: HTTPHeaders = ["Expect": "100-continue"]
        let refused = try await transport.send(
            try request(.put, server.url(), headers: headers, body: body), options: .of())
        #expect(refused.status == 401 && feed.pulls == 0)
        headers["Authorization"] = "Bearer new"
        let response = try await transport.send(
            try request(.put, server.url(), headers: headers, body: .data(pattern(1000))), options: .of())
        #expect(response.status == 200 && response.data == pattern(1000))
    }

    @Test("a response is complete if the server stops sending after it and waits for the client")
    func halfClosed() async throws {
        for version in ["1.0", "1.1"] {
            let ended = Log<Int>()
            let server = try RawServer { peer in
                guard let head = peer.readHead() else { return }
                _ = peer.read(Self.length(in: head))
                peer.send("HTTP/\(version) 200 OK\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n")
                peer.send(Array(pattern(200_000)))
                peer.endSending()
                ended.add(peer.drain())
            }
            let transport = CurlTransport()
            for number in 1...5 {
                let post = try request(.post, server.url(), body: .data(pattern(10)))
                #expect(try await transport.send(post, options: .of()).data == pattern(200_000))
                try await eventually { ended.all.count == number }
            }
            #expect(ended.all.allSatisfy { $0 == 0 })
        }
    }

    @Test("twenty concurrent redirects with bodies share one connection")
    func redirectsAndLimit() async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if head.contains("/there") {
                    peer.send(Self.ok)
                } else {
                    let head = "HTTP/1.1 301 Moved\r\nLocation: /there\r\nContent-Length: 20000\r\n\r\n"
                    peer.send(Array(head.utf8) + Array(pattern(20_000)))
                }
            }
        }
        var configuration = CurlConfiguration()
        configuration.maximumConnectionsPerHost = 1
        let agent = NetworkAgent(baseURL: server.url(""), transport: CurlTransport(configuration))
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await agent.send(Call<String>(.get, "here")).value } }
            for try await text in group { #expect(text == "ok") }
        }
    }

    /// Sends a request through a filter that asks again after a long 403, over one connection.
    private func askAgain(discarding: Bool) async throws -> String {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if head.contains("Second: 1") {
                    peer.send(Self.ok)
                } else {
                    let head = "HTTP/1.1 403 No\r\nContent-Length: 3000000\r\n\r\n"
                    peer.send(Array(head.utf8) + Array(pattern(3_000_000)))
                }
            }
        }
        var configuration = CurlConfiguration()
        configuration.maximumConnectionsPerHost = 1
        let asking = ClosureFilter { exchange, next in
            let first = try await next(exchange)
            guard first.status == 403 else { return first }
            if discarding { await exchange.discard(first) }
            var exchange = exchange
            exchange.http.headers["Second"] = "1"
            let second = try await next(exchange)
            return withExtendedLifetime(first) { second }
        }
        let agent = NetworkAgent(
            baseURL: server.url(""), transport: CurlTransport(configuration), filters: [asking])
        return try await agent.send(Call<String>(.get, "here") { $0.deadline = .seconds(discarding ? 600 : 1) }).value
    }

    @Test("a filter that sends again has to discard the first response, which keeps its connection until then")
    func heldResponse() async throws {
        #expect(try await askAgain(discarding: true) == "ok")
        let error = await #expect(throws: ErrandError.self) { try await askAgain(discarding: false) }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test("two codings are decoded in reverse order, and a gzip body can end with an empty member")
    func codings() async throws {
        let cases = [
            ("gzip, deflate", "eJyT7+ZgAAEm5tMeZ0+eDNc4r3/Kk5GhVdCLlxsoDAB/ZQez"),
            ("gzip", "H4sIAAAAAAACA8tIzcnJVyjPL8pJAQCFEUoNCwAAAB+LCAAAAAAAAP8BAAD//wAAAAAAAAAA"),
        ]
        for (coding, base64) in cases {
            let body = try #require(Data(base64Encoded: base64))
            let server = try RawServer { peer in
                while peer.readHead() != nil {
                    peer.send(
                        Array(
                            "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n"
                                .utf8) + Array(body))
                }
            }
            let transport = CurlTransport()
            for _ in 0..<2 {
                let response = try await transport.send(try request(.get, server.url()), options: .of())
                #expect(response.data == "hello world".utf8.asData, "\(coding)")
            }
            #expect(server.accepted == 1)
        }
    }

    @Test(
        "the exceptions of a proxy apply anywhere in their list, with a leading dot and without",
        arguments: [
            (["127.0.0.1", "localhost"], true), (["localhost", "127.0.0.1"], true), (["10.0.0.1", "localhost"], false),
            ([".corp.test"], true), (["other.test", ".corp.test", "x.test"], true), (["corp.test"], true),
            (["orp.test"], false), (["a.corp.test.evil"], false), (["*"], true), ([], false),
            (["127.0.0.0/8"], true), (["10.0.0.0/8", "127.0.0.1/32"], true), (["10.0.0.0/8"], false),
            (["x.test", "*"], true), (["*.test"], true), (["x.test", " * "], true), (["*.corp.test"], true),
            (["*corp.test"], false),
        ] as [([String], Bool)])
    func exceptions(except: [String], isDirect: Bool) async throws {
        let proxy = try RawServer { peer in
            while peer.readHead() != nil { peer.send("HTTP/1.1 299 Proxied\r\nContent-Length: 0\r\n\r\n") }
        }
        let server = try RawServer { peer in while peer.readHead() != nil { peer.send(Self.ok) } }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("http://127.0.0.1:\(proxy.port)", except: except)
        configuration.addresses = ["a.corp.test": ["127.0.0.1"]]
        let host = except.contains { $0.contains("127") || $0.contains("10.") } ? "127.0.0.1" : "a.corp.test"
        let url = "http://\(host):\(server.port)/"
        let response = try await CurlTransport(configuration).send(try request(.get, url), options: .of())
        #expect(response.status == (isDirect ? 200 : 299))
    }

    @Test(
        "a length or a chunk size with a sign, an underscore or a prefix, or a second length, is rejected",
        arguments: ["+2", "-2", "0x2", "2_0", "2 2", "2, 3", "2,", "", "18446744073709551618"])
    func lengths(text: String) async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                let isChunked = head.hasPrefix("GET /chunks")
                peer.send(
                    "HTTP/1.1 200 OK\r\n"
                        + (isChunked
                            ? "Transfer-Encoding: chunked\r\n\r\n\(text)\r\nok\r\n0\r\n\r\n"
                            : "Content-Length: \(text)\r\n\r\nok"))
                return
            }
        }
        let transport = CurlTransport()
        // libcurl ends a size at the first character that isn't a digit.
        let paths = text.hasPrefix("2") ? ["/"] : ["/", "/chunks"]
        for path in paths {
            let error = try await failure {
                try await transport.send(try request(.get, server.url(path)), options: .of())
            }
            #expect([.invalidResponse, .truncated].contains(error.code), "\(path): \(error)")
        }
    }

    @Test(
        "a proxy gets its credentials decoded, and no credentials of a server with TLS",
        arguments: [
            ("ada:lovelace", "ada:lovelace"), ("user%20name:p%40ss%3Aw%23rd", "user name:p@ss:w#rd"),
            ("ada:a6%6qgx", "ada:a6%6qgx"), ("group;c=de:x=y", "group;c=de:x=y"), ("ada:100%", "ada:100%"),
        ])
    func proxyCredentials(credentials: String, expected: String) async throws {
        let heads = Log<String>()
        let proxy = try RawServer { peer in
            while let head = peer.readHead() {
                heads.add(head.lowercased())
                peer.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
            }
        }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("http://\(credentials)@127.0.0.1:\(proxy.port)")
        let transport = CurlTransport(configuration)
        let basic = Data(expected.utf8).base64EncodedString().lowercased()
        for scheme in ["http", "https"] {
            var get = try request(.get, "\(scheme)://app.test:81/x")
            get.headers["Authorization"] = "Bearer canary"
            get.headers["Cookie"] = "a=canary"
            _ = try? await transport.send(get, options: .of())
            let head = try #require(heads.all.last)
            #expect(head.contains("proxy-authorization: basic \(basic)\r\n"), "\(head)")
            #expect(head.hasPrefix("connect") == (scheme == "https"))
            if scheme == "https" { #expect(!head.contains("canary"), "\(head)") }
        }
        #expect(heads.all.count == 2)
    }

    @Test(
        "a delimiter in a proxy's password doesn't make a part of it a host, and no error shows that part",
        arguments: [
            "http://ada:x#canary@127.0.0.1:1", "http://ada:canary#@127.0.0.1:1", "http://ada:x?canary@127.0.0.1:1",
            "http://ada:x/canary@127.0.0.1:1", "ada:x#canary@127.0.0.1:1", "socks5h://ada:x#canary@127.0.0.1:1",
            "http://ada:p@ss#canary@127.0.0.1:1",
        ])
    func proxyDelimiters(proxy: String) async throws {
        try await proxySecrets(proxy: proxy)
        #expect(!CurlProxy.url(proxy).description.contains("canary"))
    }

    @Test(
        "the error of a proxy that can't be used doesn't contain its credentials",
        arguments: [
            "http://ada:canary@proxy.test:99999999", "gopher://ada:canary@proxy.test:1", "http://ada:canary@[::1",
            "socks9://ada:canary@x:1", "http://ada:canary@ proxy:1", "http://ada:can@canary ary@proxy.test:1",
            "ada:canary@proxy.test:12x", "http://ada:canary@127.0.0.1:1",
        ])
    func proxySecrets(proxy: String) async throws {
        var configuration = CurlConfiguration()
        configuration.proxy = .url(proxy)
        let transport = CurlTransport(configuration)
        let error = try await failure {
            try await transport.send(try request(.get, "http://127.0.0.1:1/"), options: .of())
        }
        var dumped = ""
        dump(error, to: &dumped)
        dump(error.underlying, to: &dumped)
        for text in [error.description, error.message, dumped, "\(error.underlying.map { "\($0)" } ?? "")"] {
            #expect(!text.contains("canary"), "\(text)")
        }
    }
}
#endif
