import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import Testing

@Suite("Requests that the test server accepts", .endsInTime, .leakChecked)
struct ServerInputTests {
    @Test("the server records method, target, query, headers and body, the request's connection, and its index there")
    func records() async throws {
        let server = try TestServer { _ in .status(200) }
        try await blocking {
            let client = try RawClient(port: server.port)
            try client.send(get("/a%20b?x=1&y=a+b%21&z&x=2", "X-A: 1\r\nX-A: \t2 \r\n", close: false))
            _ = try client.receive(until: "\r\n\r\n")
            try client.send(get("/", "Content-Length: 5\r\n", method: "PATCH", close: false) + "hello")
            _ = try client.receive(until: "\r\n\r\n")
        }
        let first = try await server.nextRequest()
        let second = try await server.nextRequest()
        #expect(first.method == .get && first.target == "/a%20b?x=1&y=a+b%21&z&x=2" && first.path == "/a%20b")
        #expect(first.query("x") == "1" && first.query("y") == "a b!" && first.query("z") == nil)
        #expect(first.queryItems.map(\.name) == ["x", "y", "z", "x"])
        #expect(first.headers.values(of: "X-A") == ["1", "2"] && first.body.isEmpty && first.version == "1.1")
        #expect(second.method == .patch && second.text == "hello" && second.bodyLength == 5)
        #expect((first.connection, first.index, second.connection, second.index) == (1, 1, 1, 2))
        #expect(server.received.count == 2 && server.connectionCount == 1)
    }

    @Test("a request may arrive in any pieces", arguments: [1, 2, 3, 7])
    func pieces(_ size: Int) async throws {
        let server = try TestServer { request in .text("\(request.text) \(request.trailers.count)") }
        let request =
            get("/", "Transfer-Encoding: chunked\r\n", method: "POST")
            + "1;x=y\r\na\r\n00a\r\n0123456789\r\nA\r\nabcdefghij\r\n0\r\nX-T: 1\r\n\r\n"
        let text = try await blocking {
            let client = try RawClient(port: server.port)
            var rest = Data(request.utf8)
            while !rest.isEmpty {
                try client.send(Data(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            return try client.receiveAll().text
        }
        #expect(text.hasSuffix("\r\n\r\na0123456789abcdefghij 1"))
        #expect(server.received.first?.isChunked == true)
    }

    @Test("pipelined requests get their responses in order")
    func pipelined() async throws {
        let server = try TestServer { request in .text(request.path + ";" + request.text) }
        let requests = (0..<50).map { get("/\($0)", "Content-Length: 1\r\n", close: $0 == 49) + "x" }.joined()
        let text = try await exchange(server.port, requests).text
        let bodies = text.split(separator: "\r\n\r\n").dropFirst().map { $0.prefix { $0 != "H" } }
        #expect(bodies.map(String.init) == (0..<50).map { "/\($0);x" })
    }

    @Test("100 Continue is sent to clients that wait for it, unless turned off")
    func expectation() async throws {
        let head = get("/", "Expect: 100-continue\r\nContent-Length: 2\r\n", method: "PUT")
        let server = try TestServer { request in .text(request.text) }
        try await blocking {
            let client = try RawClient(port: server.port)
            try client.send(head)
            #expect(try client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            try client.send("hi")
            #expect(try client.receiveAll().text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
        var configuration = TestServer.Configuration()
        configuration.sendsContinue = false
        let silent = try TestServer(configuration) { request in .text(request.text) }
        #expect(try await exchange(silent.port, head + "hi").text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(
            try await exchange(server.port, get("/", "Expect: tea\r\nContent-Length: 1\r\n")).text.hasPrefix(
                "HTTP/1.1 417 "))
    }

    @Test("a body is stored, only counted, not read, or held back by a gate")
    func reading() async throws {
        let server = try TestServer()
        let gate = Gate()
        server.on(.put, "/counted", .text("ok"), reading: .discarded)
        server.on(.put, "/untouched", .text("no, thanks", status: 413), reading: .untouched)
        server.on(.put, "/held", .echoBody, reading: .held(by: gate))
        _ = try await exchange(
            server.port,
            get("/counted", "Content-Length: 200000\r\n", method: "PUT") + String(repeating: "x", count: 200_000))
        let counted = try await server.nextRequest()
        #expect(counted.body.isEmpty && counted.bodyLength == 200_000)

        let refused = try await exchange(
            server.port, get("/untouched", "Content-Length: 5\r\n", method: "PUT", close: false) + "hello")
        #expect(
            refused.text.contains("Connection: close\r\n") && refused.text.hasSuffix("no, thanks") && !refused.wasReset)
        #expect(try await server.nextRequest().bodyLength == 0)

        async let held = exchange(server.port, get("/held", "Content-Length: 5\r\n", method: "PUT") + "hello")
        try await gate.reached()
        #expect(server.requestCount == 2)
        gate.open()
        #expect(try await held.text.hasSuffix("\r\n\r\nhello"))
    }

    @Test("a body is observed as it arrives, after a 1xx, up to the end that the closure chooses")
    func watching() async throws {
        let server = try TestServer()
        server.on(.put, "/informed", reading: .watched { _, piece in piece.isEmpty ? [.inform(104, ["X": "1"])] : [] })
        {
            .text("\($0.bodyLength)")
        }
        let ends: [(path: String, action: BodyAction)] = [
            ("/enough", .respond), ("/reset", .reset), ("/closed", .close),
        ]
        for (path, action) in ends {
            server.on(.put, path, reading: .watched { _, piece in piece.isEmpty ? [] : [action] }) { _ in .status(413) }
        }
        func put(_ path: String, _ body: String = "hello") async throws -> RawClient.Rest {
            try await exchange(
                server.port, get(path, "Content-Length: \(body.utf8.count)\r\n", method: "PUT") + body)
        }
        for body in ["hello", ""] {
            let informed = try await put("/informed", body).text
            #expect(informed.hasPrefix("HTTP/1.1 104 Upload Resumption Supported\r\nX: 1\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(informed.hasSuffix("\r\n\r\n\(body.utf8.count)"))
        }
        #expect(try await put("/enough").text.hasPrefix("HTTP/1.1 413 "))
        let reset = try await put("/reset")
        #expect(reset.bytes.isEmpty && reset.wasReset)
        #expect(try await put("/closed").bytes.isEmpty)
    }

    @Test("a body over the limit is refused with 413, even if it's chunked")
    func bodyLimit() async throws {
        var configuration = TestServer.Configuration()
        configuration.maximumBodyBytes = 4
        let server = try TestServer(configuration) { _ in .text("ok") }
        for fields in [
            "Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        ] {
            let text = try await exchange(server.port, "PUT / HTTP/1.1\r\nHost: a\r\n\(fields)").text
            #expect(text.hasPrefix("HTTP/1.1 413 "))
        }
        #expect(try await exchange(server.port, get("/", "Content-Length: 4\r\n") + "four").text.hasSuffix("ok"))
        #expect(server.faults.map(\.status) == [413, 413])
    }

    @Test("a client that uses TLS is refused at once, and the fault names TLS")
    func tls() async throws {
        let server = try TestServer { _ in .text("ok") }
        let agent = NetworkAgent(
            baseURL: server.url.replacing("http:", with: "https:"), transport: .system)
        let error = await #expect(throws: ErrandError.self) { try await agent.send(Call<Void>(.get, "x")) }
        #expect(error?.code == .insecureConnection)
        #expect(server.faults.map(\.description) == ["400 the client uses TLS, but this server doesn't"])
    }

    @Test(
        "bytes that aren't an HTTP/1.1 request are refused with a typed fault",
        arguments: [
            ("GARBAGE\r\n\r\n", 400), ("GET /\r\n\r\n", 400), ("GET  / HTTP/1.1\r\n\r\n", 400), ("\0\0\0\r\n\r\n", 400),
            ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: a\n\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{1}\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: a\nY: b\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 70_000) + "\r\n\r\n", 431),
            (String(repeating: "x", count: 70_000), 431), ("\u{16}\u{3}\u{1}", 400), ("\u{0}", 400),
            ("\r\n\u{16}", 400),
        ])
    func malformed(_ input: String, _ status: Int) async throws {
        let server = try TestServer { _ in .text("ok") }
        let text = try await exchange(server.port, input).text
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        #expect(text.contains("Connection: close\r\n"))
        #expect(server.faults.map(\.status) == [status])
        #expect(server.received.isEmpty)
        #expect(try await exchange(server.port, get("/")).text.hasSuffix("ok"))
    }

    @Test("empty lines before a request, HTTP/1.0 and bytes above ASCII are understood")
    func lenient() async throws {
        let server = try TestServer { _ in .text("ok") }
        #expect(try await exchange(server.port, "\r\n\r\n" + get("/")).text.hasSuffix("ok"))
        #expect(try await exchange(server.port, "GET / HTTP/1.0\r\n\r\n").text.contains("Connection: close\r\n"))
        try await blocking {
            let client = try RawClient(port: server.port)
            try client.send(
                Data("GET /k HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: ".utf8) + [0xE9]
                    + Data("\r\nY: é\r\n\r\n".utf8))
            _ = try client.receiveAll()
        }
        let headers = try #require(server.received.last?.headers)
        #expect(headers["X"] == "é" && headers["Y"] == "é")
    }

    @Test("random bytes never cause harm", arguments: 0..<20)
    func randomBytes(_ seed: UInt64) async throws {
        let server = try TestServer { _ in .text("ok") }
        try await blocking {
            var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
            func random() -> UInt64 {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return state
            }
            let valid = Array((get("/", "Transfer-Encoding: chunked\r\n", close: false) + "3\r\nabc\r\n0\r\n\r\n").utf8)
            for _ in 0..<20 {
                var bytes = valid + valid
                for _ in 0..<(random() % 6 + 1) {
                    bytes[Int(random() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random())
                }
                let client = try RawClient(port: server.port)
                try client.send(Data(bytes))
                client.finishSending()
                _ = try client.receiveAll()
            }
        }
        #expect(try await exchange(server.port, get("/")).text.hasSuffix("ok"))
    }

    @Test("it keeps the last requests, up to limits of number and size")
    func bounded() async throws {
        var configuration = TestServer.Configuration()
        configuration.maximumRecordedRequests = 3
        let server = try TestServer(configuration) { _ in .text("ok") }
        _ = try await exchange(server.port, (0..<10).map { get("/\($0)", close: $0 == 9) }.joined())
        #expect(server.received.map(\.path) == ["/7", "/8", "/9"])
        #expect(server.requestCount == 10)
        configuration.maximumRecordedBytes = 10
        let tight = try TestServer(configuration) { _ in .text("ok") }
        _ = try await exchange(
            tight.port, (0..<3).map { get("/\($0)", "Content-Length: 6\r\n", close: $0 == 2) + "123456" }.joined())
        #expect(tight.received.map(\.path) == ["/2"])
        configuration.maximumRecordedRequests = 0
        let forgetful = try TestServer(configuration) { _ in .text("ok") }
        _ = try await exchange(forgetful.port, get("/"))
        #expect(forgetful.received.isEmpty && forgetful.requestCount == 1)
        configuration = TestServer.Configuration()
        (configuration.maximumRecordedRequests, configuration.maximumRecordedBytes) = (.max, .max)
        (configuration.maximumBodyBytes, configuration.maximumHeadBytes) = (.max, .max)
        let unlimited = try TestServer(configuration) { _ in .text("ok") }
        _ = try await exchange(unlimited.port, get("/", "Content-Length: 6\r\n") + "123456")
        #expect(unlimited.received.count == 1)
    }

    @Test("a wait that never ends reports what it waited for, and ends with its task")
    func waits() async throws {
        let server = try TestServer()
        let error = await #expect(throws: WaitTimeout.self) { try await server.nextRequest(within: .milliseconds(1)) }
        #expect(error?.what == "a request")
        let task = Task { try await server.wait(forRequests: 2) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
