import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("How the test server responds", .endsInTime, .leakChecked)
struct ServerResponseTests {
    @Test("an added Content-Type replaces the response's, and other fields are added")
    func contentType() {
        let stub = StubResponse.text("<a/>").header("content-type", "text/xml").header("X-A", "1").header("X-A", "2")
        let scripted = TestResponse.text("<a/>").header("content-type", "text/xml").header("X-A", "1").header(
            "X-A", "2")
        for headers in [stub.headers, scripted.headers] {
            #expect(headers.values(of: .contentType) == ["text/xml"])
            #expect(headers.values(of: "X-A") == ["1", "2"])
        }
    }

    @Test("a route responds with a status line, its headers and its body")
    func route() async throws {
        let server = try TestServer()
        server.on(.get, "/users/7", .json(#"{"id":7}"#))
        let rest = try await exchange(server.port, get("/users/7?full=1"))
        #expect(
            rest.text
                == "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\nConnection: close\r\n\r\n"
                + #"{"id":7}"#)
        #expect(!rest.wasReset)
    }

    @Test("queued responses come first and in order, then the last matching route, then the handler")
    func order() async throws {
        let server = try TestServer { _ in .text("fallback") }
        server.on("/a*", .text("prefix"))
        server.on("/ab", .text("exact"))
        server.on(.post, "/ab", .text("post"))
        server.enqueue(.text("first"), .text("second", status: 503))
        var bodies: [String] = []
        for request in [get("/ab"), get("/ab"), get("/ab"), get("/ab", method: "POST"), get("/ax"), get("/b")] {
            let text = try await exchange(server.port, request).text
            bodies.append(String(text.suffix(from: try #require(text.firstRange(of: "\r\n\r\n")).upperBound)))
        }
        #expect(bodies == ["first", "second", "exact", "post", "prefix", "fallback"])
    }

    @Test("without a script the response is a 404 that describes the request")
    func nothingScripted() async throws {
        let server = try TestServer()
        let text = try await exchange(server.port, get("/nowhere")).text
        #expect(text.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        #expect(text.hasSuffix("GET /nowhere"))
    }

    @Test("a handler that throws causes a 500")
    func throwingHandler() async throws {
        let server = try TestServer { request in .text("\(try request.json(Int.self))") }
        #expect(
            try await exchange(server.port, get("/", "Content-Length: 1\r\n") + "x").text.hasPrefix("HTTP/1.1 500 "))
        #expect(try await exchange(server.port, get("/", "Content-Length: 1\r\n") + "7").text.hasSuffix("\r\n\r\n7"))
    }

    @Test(
        "a response is framed as scripted",
        arguments: [
            (TestResponse.text("hello"), "Content-Length: 5\r\nConnection: close\r\n\r\nhello"),
            (
                TestResponse.text("hello").chunked(),
                "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            ),
            (
                TestResponse.text("hello").chunked(sizes: [1, 3]),
                "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\nh\r\n3\r\nell\r\n1\r\no\r\n0\r\n\r\n"
            ),
            (
                TestResponse.text("hello").trailers(["X-Sum": "9"]),
                "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 9\r\n\r\n"
            ),
            (TestResponse.text("hello").untilClose(), "Connection: close\r\n\r\nhello"),
            (TestResponse.text("hello").contentLength(9), "Content-Length: 9\r\nConnection: close\r\n\r\nhello"),
        ])
    func framing(_ response: TestResponse, _ expected: String) async throws {
        let server = try TestServer()
        server.on("/", response)
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
        let rest = try await exchange(server.port, get("/"))
        #expect(rest.text == head + expected)
    }

    @Test("HEAD, 204 and 304 have no body; HEAD announces its length", arguments: [204, 304])
    func noBody(_ status: Int) async throws {
        let server = try TestServer()
        server.on("/", .text("hello"))
        server.on("/none", .text("hello").status(status))
        let head = try await exchange(server.port, get("/", method: "HEAD")).text
        #expect(head.contains("Content-Length: 5\r\n") && head.hasSuffix("\r\n\r\n"))
        let none = try await exchange(server.port, get("/none")).text
        #expect(!none.contains("Content-Length") && none.hasSuffix("\r\n\r\n"))
    }

    @Test("1xx responses come before the final response, in order")
    func informational() async throws {
        let server = try TestServer()
        server.on("/", .status(200).informational(103, ["Link": "</a>"]).informational(102).keepAlive(false))
        let rest = try await exchange(server.port, get("/"))
        #expect(
            rest.text == "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 \r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    }

    @Test("raw bytes are sent unchanged")
    func raw() async throws {
        let server = try TestServer()
        let garbage = Data((0...255).map(UInt8.init))
        server.on("/", .raw(garbage))
        #expect(try await exchange(server.port, get("/", close: false)).bytes == garbage)
    }

    @Test("a body of many megabytes doesn't need memory and arrives completely, even chunked")
    func big() async throws {
        let server = try TestServer()
        server.on("/fixed", .repeating(Data("0123456789".utf8), count: 3_000_005))
        server.on("/chunked", .repeating(Data("0123456789".utf8), count: 3_000_005).chunked(sizes: [7]))
        let fixed = try await exchange(server.port, get("/fixed")).bytes
        let head = try #require(fixed.firstRange(of: Data("\r\n\r\n".utf8)))
        #expect(fixed.count - head.upperBound == 3_000_005 && fixed.suffix(6) == Data("901234".utf8))
        let chunked = try await exchange(server.port, get("/chunked")).bytes
        #expect(chunked.firstRange(of: Data("\r\n\r\n7\r\n0123456\r\n2dc6be\r\n789".utf8)) != nil)
        #expect(chunked.suffix(13) == Data("901234\r\n0\r\n\r\n".utf8))
    }

    @Test("wireBytes are the bytes on the wire")
    func wireBytes() async throws {
        let server = try TestServer()
        let response = TestResponse.text("hello").trailers(["A": "b"]).informational(103).closingSilently()
        server.on("/", response)
        #expect(try await exchange(server.port, get("/", close: false)).bytes == response.wireBytes())
    }

    @Test("echo returns the request")
    func echo() async throws {
        let server = try TestServer()
        server.on("/echo", .echo)
        server.on("/body", .echoBody)
        let text = try await exchange(
            server.port, get("/echo?a=1", "X-A: 1\r\nx-a: 2\r\nContent-Length: 2\r\n", method: "PUT") + "hi"
        ).text
        let body = Data(text.suffix(from: try #require(text.firstRange(of: "\r\n\r\n")).upperBound).utf8)
        let echoed = try JSONDecoder().decode(EchoedRequest.self, from: body)
        #expect(echoed.method == "PUT" && echoed.target == "/echo?a=1" && echoed.text == "hi")
        #expect(echoed.headers["x-a"] == "1, 2" && echoed.data == Data("hi".utf8))
        let raw = try await exchange(
            server.port, get("/body", "Content-Type: a/b\r\nContent-Length: 2\r\n", method: "POST") + "hi"
        ).text
        #expect(
            raw.hasSuffix("\r\n\r\nhi") && raw.contains("Content-Type: a/b\r\n") && raw.contains("X-Method: POST\r\n"))
    }

    @Test("basicAuth accepts the right password, and challenges all other requests")
    func basicAuth() async throws {
        let server = try TestServer()
        server.on("/", .basicAuth(user: "ada", password: "p:w", then: .text("welcome")))
        let right = Data("ada:p:w".utf8).base64EncodedString()
        let wrong = Data("ada:x".utf8).base64EncodedString()
        #expect(
            try await exchange(server.port, get("/", "Authorization: Basic \(right)\r\n")).text.hasSuffix("welcome"))
        for fields in ["", "Authorization: Basic \(wrong)\r\n"] {
            let text = try await exchange(server.port, get("/", fields)).text
            #expect(text.hasPrefix("HTTP/1.1 401 ") && text.contains("WWW-Authenticate: Basic realm="))
        }
    }

    @Test(
        "ranges are served as RFC 9110 specifies",
        arguments: [
            ("", 200, "0123456789"), ("Range: bytes=2-4\r\n", 206, "234"), ("Range: bytes=7-\r\n", 206, "789"),
            ("Range: bytes=-3\r\n", 206, "789"), ("Range: bytes=-99\r\n", 206, "0123456789"),
            ("Range: bytes=8-99\r\n", 206, "89"), ("Range: bytes=10-\r\n", 416, ""), ("Range: bytes=-0\r\n", 416, ""),
            ("Range: bytes=4-2\r\n", 200, "0123456789"), ("Range: bytes=0-1,3-4\r\n", 200, "0123456789"),
            ("Range: bytes=a-b\r\n", 200, "0123456789"), ("Range: lines=1-2\r\n", 200, "0123456789"),
            ("Range: bytes=2-4\r\nIf-Range: \"v1\"\r\n", 206, "234"),
            ("Range: bytes=2-4\r\nIf-Range: \"v0\"\r\n", 200, "0123456789"),
            ("Range: bytes=2-4\r\nIf-Range: Sun, 09 Sep 2001 01:46:40 GMT\r\n", 206, "234"),
            ("If-None-Match: \"v1\"\r\n", 304, ""), ("If-None-Match: \"v0\", W/\"v1\"\r\n", 304, ""),
            ("If-None-Match: \"v0\"\r\n", 200, "0123456789"), ("If-Match: \"v0\"\r\n", 412, ""),
            ("If-Match: \"v1\"\r\n", 200, "0123456789"),
            ("If-Modified-Since: Sun, 09 Sep 2001 01:46:40 GMT\r\n", 304, ""),
            ("Range: bytes=99999999999999999999-\r\n", 200, "0123456789"),
        ])
    func ranges(_ fields: String, _ status: Int, _ body: String) async throws {
        let server = try TestServer()
        let date = "Sun, 09 Sep 2001 01:46:40 GMT"
        server.on("/", .ranges(Data("0123456789".utf8), etag: #""v1""#, lastModified: date))
        let text = try await exchange(server.port, get("/", fields)).text
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        #expect(text.hasSuffix("\r\n\r\n" + body))
        #expect(text.contains("ETag: \"v1\"\r\n"))
        if status == 416 { #expect(text.contains("Content-Range: bytes */10\r\n")) }
        if status == 206, body == "234" { #expect(text.contains("Content-Range: bytes 2-4/10\r\n")) }
    }

    @Test("modifiers change a response that depends on the request")
    func computed() async throws {
        let server = try TestServer()
        server.on(
            "/", TestResponse.ranges(Data("0123456789".utf8)).header("X-More", "1").chunked(sizes: [1]).keepAlive(false)
        )
        let text = try await exchange(server.port, get("/", "Range: bytes=2-4\r\n", close: false)).text
        #expect(
            text.hasPrefix("HTTP/1.1 206 ") && text.contains("X-More: 1\r\n")
                && text.contains("\r\n\r\n1\r\n2\r\n2\r\n34\r\n0"))
    }

    @Test("a response has one length: its own, for HEAD and with other fields, or its body's")
    func ownLength() async throws {
        let server = try TestServer()
        server.on("/file", TestResponse(status: 200, headers: ["Content-Length": "1024"]))
        server.on("/fields", TestResponse.text("hello").header("Content-Type", "a/b").header("X-A", "1"))
        server.on("/chunks", TestResponse.text("hello").header("X-A", "1").chunked())
        let head = try await exchange(server.port, get("/file", method: "HEAD")).text
        #expect(head.components(separatedBy: "Content-Length").count == 2 && head.contains("Content-Length: 1024\r\n"))
        #expect(head.hasSuffix("\r\n\r\n"))
        let fields = try await exchange(server.port, get("/fields")).text
        #expect(fields.contains("Content-Length: 5\r\n") && fields.hasSuffix("\r\n\r\nhello"))
        let chunks = try await exchange(server.port, get("/chunks")).text
        #expect(chunks.contains("Transfer-Encoding: chunked\r\n") && !chunks.contains("Content-Length"))
    }
}
