import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Redirects", .leakChecked) struct RedirectTests {
    private func agent(_ stub: StubTransport, _ change: (inout AgentConfiguration) -> Void = { _ in })
        -> NetworkAgent
    {
        var configuration = AgentConfiguration(baseURL: "https://a.example.com")
        change(&configuration)
        return NetworkAgent(configuration: configuration, transport: stub)
    }

    private func stub(_ location: String, _ status: Int = 302) -> StubTransport {
        let stub = StubTransport(.text("there"))
        stub.on("/plain", response: .redirect(to: location, status: status))
        return stub
    }

    @Test("a POST that becomes a GET loses its Expect field with its body", arguments: [301, 302, 303])
    func expectation(status: Int) async throws {
        let stub = stub("/there", status)
        _ = try await agent(stub).send(
            Plain {
                $0.method = .post
                $0.headers = ["Expect": "100-continue", "X-Kept": "yes"]
                $0.body = .text("body")
            })
        let last = try #require(stub.received.last)
        #expect(last.method == .get && last.headers["Expect"] == nil && last.headers["X-Kept"] == "yes")
    }

    @Test(
        "methods change as RFC 9110 section 15.4 specifies",
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
            (308, "POST", "POST"),
            (301, "GET", "GET"), (302, "HEAD", "HEAD"), (303, "HEAD", "HEAD"), (303, "PUT", "GET"), (301, "PUT", "PUT"),
            (302, "DELETE", "DELETE"), (303, "DELETE", "GET"), (307, "PATCH", "PATCH"),
        ])
    func methods(status: Int, from: String, to: String) async throws {
        let stub = stub("/there", status)
        let hasBody = from != "GET" && from != "HEAD"
        _ = try await agent(stub).send(
            Plain {
                $0.method = HTTPMethod(rawValue: from)
                $0.headers = ["X-Kept": "yes", "Content-Language": "de", "Content-Range": "bytes 0-3/9"]
                if hasBody { $0.body = .text("body") }
            })
        let last = try #require(stub.received.last)
        #expect(stub.received.count == 2 && last.method.rawValue == to && last.headers["X-Kept"] == "yes")
        #expect(last.body.data == (hasBody && to == from ? Data("body".utf8) : Data()))
        #expect(last.headers.contains(.contentType) == (hasBody && to == from))
        #expect(last.headers.contains("Content-Language") == (to == from))
        #expect(last.headers.contains("Content-Range") == (to == from))
    }

    @Test(
        "a Location is resolved against the URL that responded",
        arguments: [
            ("there", "https://a.example.com/there"), ("../there?x=1", "https://a.example.com/there?x=1"),
            ("//b.example.com/there", "https://b.example.com/there"), ("?q=1", "https://a.example.com/plain?q=1"),
            ("https://b.example.com", "https://b.example.com"),
            ("/日本 x", "https://a.example.com/%E6%97%A5%E6%9C%AC%20x"),
            ("https://u:p@a.example.com/there", "https://a.example.com/there"),
            ("/a%20b/x[1]", "https://a.example.com/a%20b/x%5B1%5D"),
            ("/100%|%2F", "https://a.example.com/100%25%7C%2F"),
            ("?page[number]=2&c=YQ%3D%3D", "https://a.example.com/plain?page%5Bnumber%5D=2&c=YQ%3D%3D"),
            ("\\\\b.example.com\\there", "https://b.example.com/there"), ("https:there", "https://a.example.com/there"),
            ("https://[0:0::1]:443/", "https://[::1]/"), ("https://xn--r8jz45g.jp/", "https://xn--r8jz45g.jp/"),
        ])
    func locations(location: String, expected: String) async throws {
        let stub = StubTransport(.text("there"))
        stub.on("/plain", response: .redirect(to: location), .text("there"))
        let response = try await agent(stub).send(Plain())
        let url = try #require(stub.received.last).url.absoluteString
        #expect(url == expected || url == expected + "/")
        #expect(response.http.url.absoluteString == url)
    }

    @Test("a redirect to a host in another script is followed to its Punycode, or the error names the missing library")
    func otherScript() async throws {
        let stub = StubTransport(.text("there"))
        stub.on("/plain", response: .redirect(to: "https://b\u{FC}cher.example/there"))
        do {
            let response = try await agent(stub).send(Plain())
            #expect(response.http.url.absoluteString == "https://xn--bcher-kva.example/there")
        } catch let error as ErrandError {
            #expect(error.code == .redirectFailed && error.message.contains("libidn2"))
        }
    }

    @Test("a redirect to a URL that isn't UTF-8 is followed with the URL's bytes")
    func latin1() async throws {
        var field = HTTPHeaders.Field(.location, "/caf\u{E9}?x=%20[")
        field.isLatin1 = true
        let stub = StubTransport(.text("there"))
        stub.on("/plain", response: StubResponse(status: 302, headers: HTTPHeaders([field])))
        _ = try await agent(stub).send(Plain())
        #expect(stub.received.last?.urlText == "https://a.example.com/caf%E9?x=%20%5B")
    }

    @Test("the fragment is kept unless the Location has its own fragment (RFC 9110, 10.2.2)")
    func fragments() async throws {
        for (location, expected) in [("/there", "top"), ("/there#new", "new")] {
            let response = try await agent(stub(location)).send(Plain { $0.path = "plain#top" })
            #expect(response.http.url.fragment == expected)
        }
    }

    @Test(
        "a redirect to a URL that cannot be requested is refused",
        arguments: [
            "ftp://a.example.com/", "http:///", "mailto:x@y", "https://", "", "//a b/", "https://[fe80::1%25eth0]/",
        ])
    func nowhere(location: String) async throws {
        #expect(await code { try await agent(stub(location)).send(Plain()) } == .redirectFailed)
    }

    @Test(
        "credentials and marked headers stay with their origin: scheme, host and port",
        arguments: [
            ("https://a.example.com/there", true), ("https://a.example.com:443/there", true),
            ("https://A.EXAMPLE.com/there", true), ("https://b.example.com/there", false),
            ("https://a.example.com:8443/there", false), ("https://sub.a.example.com/there", false),
        ])
    func secrets(location: String, isKept: Bool) async throws {
        let stub = stub(location)
        var headers: HTTPHeaders = ["Cookie": "canary", "Proxy-Authorization": "canary", "X-Open": "open"]
        headers.add("X-Api-Key", "canary", sensitive: true)
        let sent = headers
        _ = try await agent(stub).send(
            Plain {
                $0.authorization = .bearer("canary")
                $0.headers = sent
            })
        let last = try #require(stub.received.last)
        #expect(stub.received.count == 2 && last.headers["X-Open"] == "open")
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"] {
            #expect(last.headers.contains(HTTPHeaderName(name)) == isKept, "\(name)")
        }
    }

    @Test(
        "all spellings of an address are the same origin",
        arguments: [
            ("http://[0:0:0:0:0:0:0:1]:81", "http://[::1]:81/there", true),
            ("http://[2001:DB8::0:a]", "http://[2001:db8::A]/there", true),
            ("http://[::ffff:192.0.2.1]", "http://[::FFFF:c000:201]/there", true),
            ("http://127.1", "http://127.0.0.1/there", true), ("http://[0:0::1]", "http://[::2]/there", false),
            ("http://[0:0::1]:81", "http://[::1]:82/there", false), ("http://127.1", "http://127.0.0.2/there", false),
            ("http://example.com", "http://example.com./there", false),
        ])
    func addresses(base: String, location: String, isKept: Bool) async throws {
        let stub = stub(location)
        let agent = NetworkAgent(baseURL: base, transport: stub)
        _ = try await agent.send(Plain { $0.authorization = .bearer("canary") })
        #expect(stub.received.count == 2)
        #expect((stub.received.last?.headers[.authorization] == "Bearer canary") == isKept)
    }

    @Test("https isn't redirected to http unless that's allowed, and then without secrets")
    func downgrade() async throws {
        let refused = stub("http://a.example.com/there")
        #expect(await code { try await agent(refused).send(Plain()) } == .redirectFailed)
        #expect(refused.received.count == 1)
        let allowed = stub("http://a.example.com/there")
        _ = try await agent(allowed).send(
            Plain {
                $0.redirects = RedirectPolicy(allowsInsecure: true)
                $0.authorization = .bearer("canary")
            })
        #expect(allowed.received.count == 2 && allowed.received.last?.headers[.authorization] == nil)
    }

    @Test("20 redirects are followed, and another is an error; a request can allow fewer, or disable redirects")
    func limits() async throws {
        func ring(_ hops: Int) -> StubTransport {
            StubTransport { request in
                let hop = Int(request.url.lastPathComponent) ?? 0
                return hop == hops ? .text("end") : .redirect(to: "/hop/\(hop + 1)")
            }
        }
        #expect(try await agent(ring(20)).send(Plain()).value == Data("end".utf8))
        let endless = ring(.max)
        #expect(await code { try await agent(endless).send(Plain()) } == .redirectFailed)
        #expect(endless.received.count == 21)
        let two = Plain { $0.redirects = RedirectPolicy(maximumHops: 2) }
        #expect(await code { try await agent(ring(3)).send(two) } == .redirectFailed)
        let none = Plain {
            $0.redirects = RedirectPolicy.off
            $0.acceptableStatuses = [302]
        }
        #expect(try await agent(ring(3)).send(none).http.status == 302)
        let by = ring(3)
        #expect(await code { try await agent(by) { $0.redirects = .off }.send(Plain()) } == .unacceptableStatus)
    }

    @Test("redirects end even if the policy has no limit")
    func bound() async throws {
        let endless = StubTransport(.redirect(to: "/again"), maximumRecordedRequests: 0)
        let unlimited = Plain { $0.redirects = RedirectPolicy(maximumHops: .max) }
        #expect(await code { try await agent(endless).send(unlimited) } == .redirectFailed)
    }

    @Test("a 307 fails if the body can't be sent again, and never sends it empty; a 303 doesn't need the body")
    func oneShot() async throws {
        for (status, expected) in [(307, ErrandError.Code.bodyNotReplayable), (303, nil)] {
            let stub = stub("/there", status)
            let body = RequestBody.stream(HTTPBody(source: Chunks(["once"])))
            #expect(
                await code {
                    try await agent(stub).send(
                        Plain {
                            $0.method = .post; $0.body = body
                        })
                } == expected)
            #expect(stub.received.count == (expected == nil ? 2 : 1))
        }
    }

    @Test("hop filters and accessories see every redirect, and call filters see one call")
    func hops() async throws {
        let log = Log<String>()
        let recorder = RecordingAccessory()
        let stub = StubTransport(.text("there"))
        stub.on("/plain", response: .redirect(to: "/two"))
        stub.on("/two", response: .redirect(to: "/three"))
        let hop = ClosureFilter(.hop) { exchange, next in
            log.add("hop \(exchange.attempt).\(exchange.hop) \(exchange.http.url.path)")
            return try await next(exchange)
        }
        let agent = agent(stub) {
            $0.filters = [Signpost(name: "call", log: log), hop]
            $0.accessories = [recorder]
        }
        _ = try await agent.send(Plain())
        #expect(log.all == ["call>", "hop 1.1 /plain", "hop 1.2 /two", "hop 1.3 /three", "<call"])
        #expect(
            recorder.names() == [
                "willStart", "built", "sending", "received", "redirected", "sending", "received", "redirected",
                "sending",
                "received", "willStop", "didStop",
            ])
    }

    @Test("300 and 304 and a 302 without a Location are responses")
    func noRedirects() async throws {
        for status in [300, 304, 302] {
            let response = status == 302 ? StubResponse.status(302) : .redirect(to: "/there", status: status)
            let plain = Plain { $0.acceptableStatuses = .any }
            #expect(try await agent(StubTransport(response)).send(plain).http.status == status)
        }
    }
}

final class Chunks: HTTPBodySource {
    private let chunks: Log<String>
    private let read = Log<Void>()
    init(_ chunks: [String]) {
        self.chunks = Log()
        chunks.forEach(self.chunks.add)
    }
    func nextChunk() async throws -> Data? {
        read.add(())
        return read.count <= chunks.count ? Data(chunks.all[read.count - 1].utf8) : nil
    }
    func cancel() {}
}
