import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Secrets and origins", .leakChecked) struct SecretTests {
    private static let secrets: [HTTPHeaderName] = ["Authorization", "X-Api-Key", "Cookie"]

    private func agent(
        _ stub: StubTransport, base: String = "https://api.example.com/v1",
        _ change: (inout AgentConfiguration) -> Void = { _ in }
    ) -> NetworkAgent {
        var configuration = AgentConfiguration(baseURL: base)
        configuration.namedBaseURLs["cdn"] = "https://cdn.example.com"
        configuration.authorization = .bearer("canary")
        configuration.headers["X-Open"] = "open"
        configuration.headers["Cookie"] = "canary"
        configuration.headers["Host"] = "virtual.example.com"
        configuration.headers.set("X-Api-Key", "canary", sensitive: true)
        change(&configuration)
        return NetworkAgent(configuration: configuration, transport: stub)
    }

    @Test(
        "a path that is an absolute URL at another origin is sent without the agent's secrets",
        arguments: [
            ("next", true), ("/next", true), ("https://api.example.com/next", true),
            ("https://API.example.com:443/next", true), ("https://cdn.example.com/next", true),
            ("https://evil.example/next", false), ("http://api.example.com/next", false),
            ("https://api.example.com:8443/next", false), ("https://api.example.com.evil.example/next", false),
            ("https://api.example.com./next", false), ("https://sub.api.example.com/next", false),
        ])
    func absolutePaths(path: String, isKept: Bool) async throws {
        let stub = StubTransport(.text("ok"))
        _ = try await agent(stub).send(Plain { $0.path = path })
        let sent = try #require(stub.received.first)
        for name in Self.secrets { #expect(sent.headers.contains(name) == isKept, "\(name)") }
        #expect(sent.headers["X-Open"] == "open" && sent.headers.contains(.host) == isKept)
    }

    @Test("a request's own base URL at another origin doesn't get the agent's secrets, but the CDN does")
    func ownBases() async throws {
        let stub = StubTransport(.text("ok"))
        for (base, isKept) in [
            (RequestBaseURL.url("https://evil.example"), false), (.url("https://api.example.com/v2"), true),
            (.named("cdn"), true),
        ] {
            _ = try await agent(stub).send(Plain { $0.base = base })
            let sent = try #require(stub.received.last)
            for name in Self.secrets { #expect(sent.headers.contains(name) == isKept, "\(base) \(name)") }
        }
    }

    @Test("a request's own credentials are sent wherever the request is sent, and keep the agent's mark")
    func ownCredentials() async throws {
        let stub = StubTransport(.text("ok"))
        _ = try await agent(stub).send(
            Plain {
                $0.path = "https://other.example/x"
                $0.authorization = .bearer("own")
                $0.headers = ["x-api-key": "own"]
            })
        let headers = try #require(stub.received.first).headers
        #expect(headers[.authorization] == "Bearer own" && headers["X-Api-Key"] == "own")
        #expect(!headers.contains(.cookie) && !headers.description.contains("own"))
    }

    @Test("a request declares that it is sent without the agent's authorization")
    func omitted() throws {
        let agent = agent(StubTransport(.text("ok")))
        let request = try agent.httpRequest(for: Plain { $0.authorization = .omitted })
        #expect(!request.headers.contains(.authorization) && request.headers["X-Api-Key"] == "canary")
        let own = Plain {
            $0.authorization = .omitted
            $0.headers = ["Authorization": "Own"]
        }
        #expect(try agent.httpRequest(for: own).headers[.authorization] == "Own")
        #expect(try agent.httpRequest(for: Plain()).headers[.authorization] == "Bearer canary")
        let none: Authorization? = nil
        #expect(Authorization.omitted != none && "\(Authorization.omitted)" == "omitted")
    }

    @Test("an agent without a base URL has no origin: its secrets go to trusted origins only")
    func withoutBase() throws {
        let url = "https://files.example.com/a"
        for (trusted, isKept) in [
            ([] as TrustedOrigins, false), (["https://files.example.com:443/whatever"], true), (.any, true),
            (["files.example.com", "https://other.example.com"], false),
        ] {
            let agent = agent(StubTransport(.text("ok")), base: "") { $0.trustedOrigins = trusted }
            let request = try agent.httpRequest(for: Plain { $0.path = url })
            for name in Self.secrets { #expect(request.headers.contains(name) == isKept, "\(trusted) \(name)") }
        }
    }

    @Test("a filter learns whether the origin may see secrets, also after a redirect, and may vouch for the origin")
    func filters() async throws {
        let stub = StubTransport(.text("ok"))
        stub.on("/plain", response: .redirect(to: "https://evil.example/there"))
        let seen = Log<Bool>()
        let looking = ClosureFilter(.hop) { exchange, next in
            seen.add(exchange.isTrusted)
            return try await next(exchange)
        }
        let agent = agent(stub) { $0.filters = [looking] }
        _ = try await agent.send(Plain { $0.path = "/plain" })
        _ = try await agent.send(Plain { $0.path = "https://evil.example/x" })
        #expect(seen.all == [true, false, false])
        let vouching = ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.trustOrigin()
            #expect(exchange.isTrusted)
            return try await next(exchange)
        }
        _ = try await self.agent(stub) { $0.filters = [vouching] }.send(Plain { $0.path = "https://own.example/x" })
        let sent = try #require(stub.received.last)
        for name in Self.secrets { #expect(sent.headers.contains(name), "\(name)") }
    }

    @Test("a sensitive header stays marked when it is set, added, merged or replaced, in either direction")
    func marks() {
        func isMasked(_ headers: HTTPHeaders) -> Bool {
            !headers.description.contains("canary") && headers.allSatisfy(\.isSensitive)
        }
        var secret = HTTPHeaders()
        secret.set("X-Key", "canary", sensitive: true)
        let open: HTTPHeaders = ["x-key": "canary"]
        var headers = secret
        headers.merge(open)
        #expect(isMasked(headers) && headers.count == 1)
        headers = open
        headers.merge(secret)
        #expect(isMasked(headers))
        headers = secret
        headers.set("X-KEY", "canary2")
        #expect(isMasked(headers))
        headers["x-key"] = "canary3"
        #expect(isMasked(headers))
        headers.add("x-key", "canary4")
        #expect(isMasked(headers) && headers.count == 2)
        headers = open
        headers.add("X-Key", "canary5", sensitive: true)
        #expect(isMasked(headers) && headers.count == 2)
        #expect(isMasked(HTTPHeaders(Array(open) + Array(secret))))
        var field = HTTPHeaders.Field("X-Any", "canary")
        field.name = .cookie
        field.isSensitive = false
        #expect(field.isSensitive)
        headers["X-Key"] = nil
        headers["X-Key"] = "open"
        #expect(headers.description == "X-Key: open")
    }

    @Test("a request's own header in place of the agent's sensitive header isn't sent to another origin")
    func redirects() async throws {
        let stub = StubTransport(.text("ok"))
        stub.on("/v1/plain", response: .redirect(to: "https://evil.example/there"))
        _ = try await agent(stub).send(Plain { $0.headers = ["X-Api-Key": "canary"] })
        #expect(stub.received.count == 2 && stub.received.first?.headers["X-Api-Key"] == "canary")
        #expect(stub.received.last?.headers.contains("X-Api-Key") == false)
    }
}
