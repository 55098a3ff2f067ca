import Errand
import ErrandCache
import ErrandCookies
import ErrandEssentials
import ErrandTesting
import Testing

/// The cases of Apple's proposed HTTP client API (swift-http-api-proposal), each on a local server, through an agent
/// with cookies and a cache. Each group of its cases is one test.
@Suite("What Apple's proposal for HTTP clients asks for", .endsInTime, .leakChecked)
struct ProposalTests {
    private static func agent(_ wire: Wire, _ server: TestServer) -> NetworkAgent {
        NetworkAgent(
            baseURL: server.url, transport: wire.transport,
            filters: [.cookies, .cache(.memory(), policy: .http)])
    }

    private static func get(
        _ path: String, _ agent: NetworkAgent, query: Parameters = [:], headers: HTTPHeaders = [:]
    ) async throws -> HTTPResponse {
        let call = Call<HTTPResponse>(.get, path, query: query) {
            $0.acceptableStatuses = .any
            $0.headers = headers
        }
        return try await agent.send(call).value
    }

    @Test("a head that isn't HTTP is an error", arguments: Wire.allCases)
    func noHTTP(wire: Wire) async throws {
        let server = try TestServer { _ in .raw("FOOBAR") }
        await #expect(throws: ErrandError.self) { try await Self.get("not_http", Self.agent(wire, server)) }
    }

    @Test(
        "a head with HTTP in lowercase is an error, and a head without a reason phrase isn't",
        arguments: Wire.strict)
    func heads(wire: Wire) async throws {
        let server = try TestServer()
        server.on("/http_case", .raw("Http/1.1 200 OK\r\n\r\n"))
        server.on("/no_reason", .raw("HTTP/1.1 200\r\n\r\n"))
        let agent = Self.agent(wire, server)
        let error = await #expect(throws: ErrandError.self) { try await Self.get("http_case", agent) }
        #expect(error?.code == .invalidResponse)
        #expect(try await Self.get("no_reason", agent).status == 200)
    }

    @Test(
        "a body has the announced length, or is missing if the response can't have a body", arguments: Wire.allCases)
    func lengths(wire: Wire) async throws {
        let server = try TestServer()
        server.on("/204", .raw("HTTP/1.1 204 No Content\r\nContent-Length: 1000\r\n\r\n"))
        server.on("/304", .raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n"))
        server.on("/head", TestResponse(headers: ["Content-Length": "1000"]))
        server.on("/incomplete", .raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n1234"))
        server.on("/none", .raw("HTTP/1.1 200 OK\r\n\r\n1234"))
        server.on("/conflicting", .raw("HTTP/1.1 200 OK\r\nContent-Length: 10, 4\r\n\r\n1234"))
        let agent = Self.agent(wire, server)
        for status in [204, 304] {
            let response = try await Self.get("\(status)", agent)
            #expect(response.status == status && response.data.isEmpty)
        }
        let head = try await agent.send(Call<HTTPResponse>(.head, "head")).value
        #expect(head.status == 200 && head.data.isEmpty && head.headers["Content-Length"] == "1000")
        #expect(try await Self.get("none", agent).text() == "1234")
        for path in ["incomplete", "conflicting"] {
            await #expect(throws: ErrandError.self, "\(path)") { try await Self.get(path, agent) }
        }
    }

    @Test("each method has its response, and every status is accepted", arguments: Wire.allCases)
    func statuses(wire: Wire) async throws {
        let server = try TestServer { request in
            request.path == "/200" ? TestResponse() : TestResponse(status: request.path == "/404" ? 404 : 999)
        }
        let agent = Self.agent(wire, server)
        for method in [.head, .get, .put, .post, .delete] as [HTTPMethod] {
            let response = try await agent.send(Call<HTTPResponse>(method, "200")).value
            #expect(response.status == 200 && response.data.isEmpty)
        }
        for status in [404, 999] {
            let response = try await Self.get("\(status)", agent)
            #expect(response.status == status && response.data.isEmpty)
        }
    }

    @Test("gzip, deflate, Brotli and plain archives are read, if they are requested", arguments: Wire.allCases)
    func codings(wire: Wire) async throws {
        let bodies: [(coding: String, body: [UInt8])] = [
            ("gzip", [31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 11, 113, 13, 14, 225, 2, 0, 190, 215, 131, 247, 5, 0, 0, 0]),
            ("deflate", [120, 156, 11, 113, 13, 14, 225, 2, 0, 4, 104, 1, 75]),
            ("br", [11, 2, 128, 84, 69, 83, 84, 10, 3]), ("identity", Array("TEST\n".utf8)),
        ]
        let server = try TestServer { request in
            let accepted = request.headers["Accept-Encoding"] ?? ""
            guard let wanted = bodies.first(where: { "/\($0.coding)" == request.path }),
                wanted.coding == "identity" || accepted.contains(wanted.coding)
            else { return .text("TEST\n") }
            return TestResponse(headers: ["Content-Encoding": wanted.coding], body: Data(wanted.body))
        }
        let agent = Self.agent(wire, server)
        for (coding, _) in bodies {
            #expect(try await Self.get(coding, agent).data == Data("TEST\n".utf8), "\(coding)")
        }
    }

    @Test(
        "fields arrive unchanged, even custom, empty and repeated fields, and so does a query", arguments: Wire.allCases
    )
    func fields(wire: Wire) async throws {
        let server = try TestServer { _ in TestResponse(headers: ["X-Test": "one", "X-Test": "two"]) }
        let agent = Self.agent(wire, server)
        let response = try await Self.get(
            "request", agent, query: ["foo": "bar", "bar": "baz", "qux": "", "foo": "phew"],
            headers: ["X-Foo": "BARbaz", "X-Empty": "", "X-Test": "one", "X-Test": "two"])
        let request = try await server.nextRequest()
        #expect(request.headers["X-Foo"] == "BARbaz" && request.headers["X-Empty"] == "")
        for headers in [request.headers, response.headers] {
            let values = headers.values(of: "X-Test").flatMap { $0.split(separator: ",") }
            #expect(values.map { $0.trimmingPrefix(" ") } == ["one", "two"])
        }
        #expect(request.queryItems.filter { $0.name == "foo" }.map { $0.value } == ["bar", "phew"])
        #expect(request.query("bar") == "baz" && request.query("qux") == "")
    }

    @Test("redirects are followed, and end", arguments: Wire.allCases)
    func redirects(wire: Wire) async throws {
        let server = try TestServer { request in
            switch request.path {
            case "/301", "/308": .redirect(to: "/request", status: request.path == "/301" ? 301 : 308)
            case "/ping": .redirect(to: "/pong")
            case "/pong": .redirect(to: "/ping")
            default: .text("\(request.method) \(request.bodyLength)")
            }
        }
        let agent = Self.agent(wire, server)
        for path in ["301", "308"] { #expect(try await Self.get(path, agent).text() == "GET 0") }
        await #expect(throws: ErrandError.self) { try await Self.get("ping", agent) }
    }

    @Test("bodies arrive complete: text, empty, a megabyte, with or without chunks", arguments: Wire.allCases)
    func echo(wire: Wire) async throws {
        let server = try TestServer { .data($0.body) }
        let agent = Self.agent(wire, server)
        let megabyte = Data(repeating: 0x41, count: 1_000_000)
        for content in [Data("Hello World".utf8), Data(), megabyte] {
            for body in [
                RequestBody.data(content), .stream(length: Int64(content.count)) { HTTPBody(content) },
                .stream { HTTPBody(content) },
            ] {
                #expect(try await agent.send(Call<Data>(.post, "echo", body: body)).value == content)
            }
        }
        #expect(try await agent.send(Call<String>(.get, "echo")).value == "")
        #expect(try await agent.send(Call<String>(.post, "echo", body: .text("Hello World"))).value == "Hello World")
    }

    @Test("a hundred clients at once get their responses", arguments: Wire.allCases)
    func stress(wire: Wire) async throws {
        let server = try TestServer { .text($0.path) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                let agent = Self.agent(wire, server)
                group.addTask {
                    let response = try await Self.get("\(number)", agent)
                    #expect(try response.text() == "/\(number)")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "a call can be cancelled before its head and within its body, and a body needn't be read",
        arguments: Wire.allCases
    )
    func leaving(wire: Wire) async throws {
        let (server, gate) = (try TestServer(), Gate())
        server.on("/stall", TestResponse().waiting(for: gate))
        server.on("/stall_body", TestResponse.repeating(count: 1000).waiting(for: gate, afterBodyBytes: 500))
        server.on("/1mb", .repeating(Data("A".utf8), count: 1 << 20))
        let agent = Self.agent(wire, server)
        for (count, path) in ["stall", "stall_body"].enumerated() {
            let task = Task { try await agent.send(Call<Data>(.get, path)).value }
            try await gate.reached(by: count + 1)
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
        }
        var body = try await agent.send(Call<HTTPBody>(.get, "1mb")).value.makeAsyncIterator()
        #expect(try await body.next()?.first == UInt8(ascii: "A"))
        gate.open()
    }

    @Test("a cookie is kept and sent, and a response is validated", arguments: Wire.allCases)
    func kept(wire: Wire) async throws {
        let counter = Counter()
        let server = try TestServer { request in
            if request.path == "/cookie" { return TestResponse(headers: ["Set-Cookie": "foo=bar; Path=/"]) }
            if request.path == "/request" { return .text(request.headers["Cookie"] ?? "") }
            let tag = "\"\(counter.value)\""
            guard request.headers["If-None-Match"] == tag else {
                return .text("\(counter.value)").header("ETag", tag)
            }
            _ = counter.increment()
            return TestResponse(status: 304, headers: ["ETag": tag])
        }
        let agent = Self.agent(wire, server)
        _ = try await Self.get("cookie", agent)
        #expect(try await Self.get("request", agent).text() == "foo=bar")
        for number in 0..<3 {
            for _ in 0..<2 {
                let response = try await Self.get("etag", agent)
                #expect(try response.status == 200 && response.text() == "\(number)")
            }
        }
    }

    @Test(
        "a request and its response are transferred at the same time, whichever side begins",
        arguments: Wire.strict, [true, false])
    func interleaved(wire: Wire, clientBegins: Bool) async throws {
        let (server, rounds) = (try TestServer(), 1000)
        server.on(
            .post, "/talk",
            TestResponse.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").continuing { connection in
                let chunk = Data("1\r\nA\r\n".utf8)
                if !clientBegins { try connection.send(chunk) }
                var sent = clientBegins ? 0 : 1
                while sent < rounds, let bytes = try connection.receive() {
                    for _ in bytes.filter({ $0 == UInt8(ascii: "A") }) where sent < rounds {
                        try connection.send(chunk)
                        sent += 1
                    }
                }
                try connection.send(Data("0\r\n\r\n".utf8))
            }, reading: .untouched)
        let (turns, next) = AsyncStream<Data?>.makeStream()
        let body = RequestBody.stream {
            HTTPBody(next: {
                var iterator = turns.makeAsyncIterator()
                return await iterator.next().flatMap { $0 }
            })
        }
        let call = Call<HTTPBody>(.post, "talk", body: body)
        if clientBegins { next.yield(Data("A".utf8)) }
        var received = 0
        for try await chunk in try await Self.agent(wire, server).send(call).value {
            for byte in chunk {
                #expect(byte == UInt8(ascii: "A"))
                received += 1
                next.yield(received < rounds ? Data("A".utf8) : nil)
            }
        }
        #expect(received == rounds)
        next.finish()
    }
}
