import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("URLs", .leakChecked) struct URLTests {
    @Test(
        "a path is joined to the base as in RFC 3986, and an absolute URL replaces it",
        arguments: [
            ("http://e.com", "get", "http://e.com/get"),
            ("http://e.com/", "get", "http://e.com/get"),
            ("https://e.com/", "get/val", "https://e.com/get/val"),
            ("https://e.com", "get/val/", "https://e.com/get/val/"),
            ("http://e.com/v1", "foo", "http://e.com/v1/foo"),
            ("http://e.com/v1/", "foo", "http://e.com/v1/foo"),
            ("http://e.com/v1/", "/foo", "http://e.com/foo"),
            ("https://e.com", "httpEndpoint", "https://e.com/httpEndpoint"),
            ("", "https://e.com/get", "https://e.com/get"),
            ("https://other.com/v1", "http://e.com/get", "http://e.com/get"),
            ("https://e.com/v1", "", "https://e.com/v1/"),
            ("https://e.com", "https://e.com", "https://e.com/"),
            ("https://e.com/v1", "a/../b", "https://e.com/v1/b"),
            ("https://e.com/v1", "list?ids=1", "https://e.com/v1/list?ids=1"),
            ("https://[::1]:8443/v1", "a", "https://[::1]:8443/v1/a"),
            ("https://e.com/v1", "projects:search", "https://e.com/v1/projects:search"),
        ])
    func joining(base: String, path: String, expected: String) throws {
        #expect(try built(Plain { $0.path = path }, base: base).url.absoluteString == expected)
    }

    @Test(
        "a query is appended to the path's query, with question marks and ampersands anywhere",
        arguments: [
            ("a", "a?q=1"), ("a?", "a?q=1"), ("a?b", "a?b&q=1"), ("a?b&", "a?b&q=1"), ("a?b?", "a?b?&q=1"),
            ("a&", "a&?q=1"), ("a??", "a??&q=1"), ("a#f?", "a?q=1#f?"),
        ])
    func appending(path: String, expected: String) throws {
        let request = Plain {
            $0.path = path
            $0.query = ["q": 1]
        }
        #expect(try built(request, base: "https://e.com/v1").url.absoluteString == "https://e.com/v1/" + expected)
    }

    @Test(
        "a URL that cannot be requested is refused before anything is sent",
        arguments: [
            ("", "get"), ("api.example.com", "get"), ("/v1", "get"), ("ftp://e.com", "get"), ("https://", "get"),
            ("https:///v1", "get"), ("https://exa mple.com", "get"), ("https://例え.jp", "get"),
            ("https://e.com:99999", "a"),
            ("https://e.com:+80", "a"), ("https://user:secret@e.com", "get"), ("https://e\u{0}.com", "get"),
            ("https://e.com", "a b"), ("https://e.com", "日本"), ("https://e.com", "a\nb"), ("https://e.com", "a\u{0}b"),
            ("https://e.com", "a\tb"), ("https://e.com", "100%"), ("https://e.com", "%zz"),
            ("https://e.com", "//evil.com/a"),
            ("https://e.com", "ftp://e.com/a"), ("https://e.com", "https:///a"), ("https://e.com", "http://u:p@e.com/"),
            ("https://e.com/v1?x=1", "foo"), ("https://e.com/v1#f", "foo"), ("https://e.com/v1?", "/foo"),
            ("https://e.com", "a\"b"), ("https://e.com", "a\\b"), ("https://[::1", "a"),
        ])
    func refusing(base: String, path: String) async throws {
        let stub = StubTransport(.status(200))
        let agent = NetworkAgent(baseURL: base, transport: stub)
        #expect(await code { try await agent.send(Plain { $0.path = path }) } == .invalidURL)
        #expect(stub.received.isEmpty)
    }

    @Test("any byte in a path gives a URL or a typed error")
    func anyByte() async throws {
        for byte in UInt8.min...UInt8.max {
            let path = "a" + String(decoding: [byte], as: UTF8.self) + "b"
            do {
                let url = try built(Plain { $0.path = path }).url
                #expect(url.absoluteString.hasPrefix(base + "/a"), "\(byte)")
            } catch let error as ErrandError { #expect(error.code == .invalidURL, "\(byte)") }
        }
    }

    @Test("a segment is escaped where it is inserted, including dots and slashes")
    func segments() throws {
        let name = "a/b ü?#%&+日本"
        let url = try built(Plain { $0.path = "users/\(segment: name)/posts" }).url
        #expect(url.absoluteString == base + "/users/a%2Fb%20%C3%BC%3F%23%25%26%2B%E6%97%A5%E6%9C%AC/posts")
    }

    @Test("a request chooses the standard base URL, a named base URL or its own, and a missing name is an error")
    func bases() async throws {
        var configuration = AgentConfiguration(baseURL: base)
        configuration.namedBaseURLs["cdn"] = "https://cdn.example.com/static"
        let agent = NetworkAgent(configuration: configuration, transport: .stub)
        func url(_ choice: RequestBaseURL) throws -> String {
            try agent.httpRequest(for: Plain { $0.base = choice }).url.absoluteString
        }
        #expect(try url(.standard) == base + "/plain")
        #expect(try url(.named("cdn")) == "https://cdn.example.com/static/plain")
        #expect(try url(.url("https://own.example.com")) == "https://own.example.com/plain")
        agent.configure { $0.namedBaseURLs = [:] }
        #expect(await code { try url(.named("cdn")) } == .invalidURL)
    }

    @Test("an address with an unclosed bracket is reported as such, not as a wrong port")
    func openBracket() async throws {
        for text in ["http://[::1", "http://[::1/a", "http://[::1:80/a"] {
            let error = await #expect(throws: ErrandError.self) {
                try await NetworkAgent(baseURL: text, transport: .stub).send(Plain())
            }
            #expect(
                error?.message.contains("the host begins with [ but has no closing ]") == true,
                "\(error?.message ?? "")")
        }
    }

    @Test("an address may have a zone, as in RFC 6874, and the error of an invalid zone gives the reason")
    func zones() async throws {
        let url = try built(Plain { $0.path = "a" }, base: "http://[fe80::1%25eth0]:8080")
        #expect(url.urlText == "http://[fe80::1%25eth0]:8080/a" && url.url.absoluteString == url.urlText)
        try HTTPRequest(.get, try #require(URL(string: "http://[fe80::1%25en-0.1]/"))).validate()
        for (text, reason) in [
            ("http://[fe80::1%eth0]", "%25"), ("http://[fe80::1%25]", "%25"), ("http://[fe80::1%25a b]", "%25"),
            ("http://[fe80::1!]", "isn't an IPv6 address"), ("http://e%25eth0", "Punycode"),
        ] {
            let error = await #expect(throws: ErrandError.self) {
                try await NetworkAgent(baseURL: text, transport: .stub).send(Plain())
            }
            #expect(error?.code == .invalidURL && error?.message.contains(reason) == true, "\(error?.message ?? "")")
        }
    }

    @Test("a request can be inspected as it would be sent, without sending it")
    func looking() throws {
        let stub = StubTransport(.status(200))
        let request = try NetworkAgent(baseURL: base, transport: stub).httpRequest(for: GetUser())
        #expect(request.url.absoluteString == base + "/users/7")
        #expect(stub.received.isEmpty)
    }

    @Test("descriptions of requests and responses mask what logs mask: secret query values, credentials")
    func redaction() throws {
        let url = try #require(URL(string: "https://u:canary@e.com/a?token=canary&flag&b=2&%73ig=canary#canary"))
        for text in ["\(HTTPRequest(.get, url))", "\(HTTPResponse(url: url, status: 200))"] {
            #expect(!text.contains("canary"))
            #expect(text.contains("/a?token=•••&flag&b=2&%73ig=•••"))
        }
    }
}
