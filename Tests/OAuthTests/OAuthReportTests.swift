import Errand
import ErrandDigests
import ErrandEssentials
import ErrandKeys
import ErrandMessageSyntax
import ErrandTesting
import Testing

@testable import ErrandOAuth

/// Requests for tokens that users of other clients have reported; the reports are in Tests/Lessons.md.
@Suite("Tokens in daily use", .endsInTime, .leakChecked) struct OAuthReportTests {
    private static let issuer = "https://id.example.com"

    private static func server(_ change: (inout OAuthServer) -> Void = { _ in }) -> OAuthServer {
        var server = OAuthServer(issuer: issuer)
        server.authorizationEndpoint = URL(string: "\(issuer)/authorize")
        server.tokenEndpoint = URL(string: "\(issuer)/token")
        change(&server)
        return server
    }

    @Test(
        "the ID and the secret are encoded as in a form before they become Basic credentials",
        arguments: [
            (
                "1PpG/Q 1", "z/tZ9VwFZqApmIQ+ZH1I5pLk/uB4ud:X2/8bL+wfFTt1rFw=",
                "1PpG%2FQ+1:z%2FtZ9VwFZqApmIQ%2BZH1I5pLk%2FuB4ud%3AX2%2F8bL%2BwfFTt1rFw%3D"
            ), ("app", "a+b", "app:a%2Bb"), ("app-1", "V2g$899h?-Mt0y?_sB", "app-1:V2g%24899h%3F-Mt0y%3F_sB"),
        ])
    func basic(id: String, secret: String, plain: String) async throws {
        let stub = StubTransport(.json(#"{"access_token":"t","expires_in":60}"#))
        let client = OAuthClient(server: Self.server(), id: id, authentication: .basic(secret: secret), transport: stub)
        _ = try await client.clientToken()
        let expected = "Basic " + Data(plain.utf8).base64EncodedString()
        #expect(stub.received.first?.headers[.authorization] == expected)
    }

    @Test(
        "a page's or an endpoint's own query is kept",
        arguments: [
            ("?prompt=select_account", "prompt=select_account&client_id=app&"),
            ("?tenant=acme", "tenant=acme&client_id=app&"),
            ("", "client_id=app&"),
            ("?resource=https://api.example.com", "resource=https://api.example.com&client_id=app&"),
        ])
    func queries(own: String, begin: String) async throws {
        let stub = StubTransport(.json(#"{"access_token":"t"}"#))
        let server = Self.server {
            $0.authorizationEndpoint = URL(string: "\(Self.issuer)/authorize\(own)")
            $0.tokenEndpoint = URL(string: "\(Self.issuer)/token\(own)")
        }
        let client = OAuthClient(server: server, id: "app", transport: stub)
        let page = Log<URL>()
        let browser = PageBrowser(page: page)
        _ = await failure { _ = try await client.signIn(browser: browser) }
        let text = try #require(page.all.first?.absoluteString)
        #expect(text.hasPrefix("\(Self.issuer)/authorize?\(begin)response_type=code&"), "\(text)")
        _ = try await client.clientToken()
        #expect(stub.received.last?.urlText == "\(Self.issuer)/token\(own)")
    }

    @Test(
        "a token is a bearer token whatever the server calls that, or if it doesn't",
        arguments: [
            #"{"access_token":"t","scope":"a","expires_in":86399}"#,
            #"{"access_token":"t","token_type":"BearerToken"}"#,
            #"{"access_token":"t","token_type":"bearertoken"}"#, #"{"access_token":"t","token_type":"bearer"}"#,
        ])
    func bearer(reply: String) async throws {
        let client = OAuthClient(server: Self.server(), id: "app", transport: .stub(.json(reply)))
        #expect(try await client.clientToken().kind == .bearer)
    }

    @Test("a token of another type isn't used", arguments: ["mac", "N_A", "bearer token", "token"])
    func otherTypes(type: String) async {
        let reply = #"{"access_token":"t","token_type":"\#(type)"}"#
        let client = OAuthClient(server: Self.server(), id: "app", transport: .stub(.json(reply)))
        #expect(await failure { _ = try await client.clientToken() }?.code == .invalidResponse)
    }

    @Test("an error with status 200 is that error, and not a response that can't be read")
    func errorWith200() async {
        let reply = #"{"error":"invalid_grant","error_description":"The refresh token has expired"}"#
        let client = OAuthClient(server: Self.server(), id: "app", transport: .stub(.json(reply)))
        let error = await failure { _ = try await client.refresh(OAuthToken("a", refreshToken: "r")) }
        #expect(error?.code == .invalidGrant && error?.serverCode == "invalid_grant")
    }

    @Test(
        "an assertion whose date is in the server's future, even by a second, is signed again with the server's date, once",
        arguments: [-3.0, -1.2, 0, 1.2])
    func assertionDates(offset: Double) async throws {
        let time = ManualTimeSource()
        time.advance(by: .milliseconds(300))
        let stub = StubTransport { request in
            let form = FormEncoding.decode(String(decoding: request.body.data ?? Data(), as: UTF8.self)) ?? [:]
            let now = time.date.addingTimeInterval(offset)
            let refusal = StubResponse.json(#"{"error":"invalid_client"}"#).status(401)
                .header(.date, HTTPDate.format(now))
            guard let claims = try? Self.claims(form["client_assertion"]), claims.aud == Self.issuer,
                Double(claims.iat) <= now.timeIntervalSince1970
            else { return refusal }
            return .json(#"{"access_token":"t"}"#)
        }
        let client = OAuthClient(
            server: Self.server(), id: "app", authentication: try .privateKey(PrivateKey.generate(.p256)),
            transport: stub, time: time)
        _ = try await client.clientToken()
        let isAhead = offset < -1
        #expect(stub.received.count == (isAhead ? 2 : 1))
        time.advance(by: .seconds(10))
        _ = try await client.clientToken()
        #expect(stub.received.count == (isAhead ? 3 : 2))
    }

    @Test("a slow response isn't a difference of clocks")
    func slowRefusals() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport { _ in
            let date = HTTPDate.format(time.date)
            time.advance(by: .seconds(4))
            return .json(#"{"error":"invalid_client"}"#).status(401).header(.date, date)
        }
        let client = OAuthClient(
            server: Self.server(), id: "app", authentication: try .privateKey(PrivateKey.generate(.p256)),
            transport: stub, time: time)
        #expect(await failure { _ = try await client.clientToken() }?.serverCode == "invalid_client")
        #expect(stub.received.count == 1)
    }

    @Test(
        "a refreshed token keeps the refresh token and the scope that the response leaves out",
        arguments: [
            #"{"access_token":"n"}"#, #"{"access_token":"n","refresh_token":"","scope":""}"#,
            #"{"access_token":"n","refresh_token":null,"scope":null}"#,
        ])
    func kept(reply: String) async throws {
        let client = OAuthClient(server: Self.server(), id: "app", transport: .stub(.json(reply)))
        let token = try await client.refresh(OAuthToken("o", refreshToken: "r", scope: "a b"))
        #expect(token.accessToken == "n" && token.refreshToken == "r" && token.scope == "a b")
    }

    @Test("an error in a redirect that lacks the state doesn't end the sign-in, because anybody could send it")
    func errorWithoutState() {
        let redirect = "com.example.app:/in?error=access_denied"
        let error = #expect(throws: OAuthError.self) {
            try AuthorizationRedirect.code(
                in: redirect, to: "com.example.app:/in", state: "s", server: Self.server(), hiding: [])
        }
        #expect(error?.code == .stateMismatch)
    }

    // MARK: DPoP

    private struct Claims: Decodable {
        let jti: String
        let iat: Int64
        let aud, htu, htm, nonce: String?
    }

    private static func claims(_ proof: String?) throws -> Claims {
        let parts = try #require(proof).split(separator: ".")
        return try JSONDecoder().decode(Claims.self, from: Data(try #require(Base64URL.bytes(String(parts[1])))))
    }

    @Test("a proof covers an endpoint's URL without its query")
    func proofTarget() async throws {
        let stub = StubTransport(.json(#"{"access_token":"t","token_type":"DPoP"}"#))
        let server = Self.server { $0.tokenEndpoint = URL(string: "\(Self.issuer)/token?a=b") }
        let client = OAuthClient(server: server, id: "app", dpop: try DPoP(key: .generate(.p256)), transport: stub)
        _ = try await client.clientToken()
        let claims = try Self.claims(stub.received.first?.headers["DPoP"])
        #expect(claims.htu == "\(Self.issuer)/token" && claims.htm == "POST")
    }

    @Test("a request is repeated with a nonce only if the server asks for one, once, with a new proof")
    func nonces() async throws {
        for (error, count) in [("use_dpop_nonce", 2), ("invalid_request", 1), ("invalid_dpop_proof", 1)] {
            let stub = StubTransport(
                .json(#"{"error":"\#(error)"}"#).status(400).header("DPoP-Nonce", "eyJ7S_zG.eyJH0-Z.HX4w-7v"))
            let client = OAuthClient(
                server: Self.server(), id: "app", dpop: try DPoP(key: .generate(.p256)), transport: stub)
            _ = await failure { _ = try await client.clientToken() }
            #expect(stub.received.count == count, "\(error)")
            let first = try Self.claims(stub.received.first?.headers["DPoP"])
            #expect(first.nonce == nil)
            guard count == 2 else { continue }
            let second = try Self.claims(stub.received.last?.headers["DPoP"])
            #expect(second.nonce == "eyJ7S_zG.eyJH0-Z.HX4w-7v")
            #expect(second.jti != first.jti)
        }
    }

    @Test("a pushed request binds the code to the key, and nonces belong to one origin")
    func pushedRequests() async throws {
        let stub = StubTransport()
        stub.on("/par", response: .json(#"{"request_uri":"urn:1","expires_in":60}"#).status(201))
        let server = Self.server { $0.pushedAuthorizationRequestEndpoint = URL(string: "\(Self.issuer)/par") }
        let dpop = try DPoP(key: .generate(.p256))
        let client = OAuthClient(server: server, id: "app", dpop: dpop, transport: stub)
        _ = await failure { _ = try await client.signIn(browser: PageBrowser(page: Log<URL>())) }
        let form = stub.received.first.map { String(decoding: $0.body.data ?? Data(), as: UTF8.self) } ?? ""
        #expect(form.contains("dpop_jkt=\(try dpop.thumbprint())"))
        let other = try #require(URL(string: "https://other.example.com/"))
        let request = HTTPRequest(.get, try #require(URL(string: "\(Self.issuer)/a")))
        dpop.learn(
            from: HTTPResponse(to: request, status: 401, headers: ["DPoP-Nonce": "n"]), at: .resource)
        for (url, nonce) in [(request.url, "n"), (other, nil)] {
            let proof = try await dpop.proof(for: HTTPRequest(.get, url), token: "t", at: Date())
            #expect(try Self.claims(proof).nonce == nonce)
        }
    }

    @Test(
        "the redirect names the address on which the listener listens",
        arguments: [LoopbackBrowser.Address.ipv4, .ipv6])
    func loopback(address: LoopbackBrowser.Address) async throws {
        let listener = try LoopbackListener(on: [address, .ipv4])
        #expect(["127.0.0.1", "[::1]"].contains { listener.authority.hasPrefix("\($0):") })
        if address == .ipv4 { #expect(listener.authority.hasPrefix("127.0.0.1:")) }
    }

    @Test(
        "a resource asks for a nonce in any of its challenges; the text of another one costs one more request",
        arguments: [
            (#"DPoP error="use_dpop_nonce""#, true), (#"DPoP error=use_dpop_nonce, algs="ES256""#, true),
            (#"Basic realm="a", DPoP algs="ES256", error="use_dpop_nonce""#, true),
            (#"dpop ,error = "use_dpop_nonce""#, true),
            (#"Newauth title="Login to \"apps\", x", DPoP error="use_dpop_nonce""#, true),
            (#"Negotiate, DPoP error="use_dpop_nonce", Bearer"#, true),
            (#"Bearer realm="DPoP error=\"use_dpop_nonce\"""#, true), (#"Bearer realm="see use_dpop_nonce""#, true),
            (#"DPoP error="invalid_token""#, false), ("DPoP", false), ("Bearer", false),
        ])
    func challenges(challenge: String, asks: Bool) async throws {
        let stub = StubTransport { request in
            .status(401).header(.wwwAuthenticate, challenge).header("DPoP-Nonce", "n-\(request.urlText.count)")
        }
        let dpop = try DPoP(key: .generate(.p256))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub,
            filters: [.authentication(.custom(scheme: "DPoP", credentials: "token")), DPoPFilter(dpop: dpop)])
        _ = await failure { try await agent.send(Call<Void>(.get, "a")) }
        #expect(stub.received.count == (asks ? 2 : 1), "\(challenge)")
    }

    @Test(
        "the time that a token request takes counts toward the lifetime, and a clock that is set meanwhile doesn't",
        arguments: [0.0, 3_600, -3_600])
    func slowTokens(change: Double) async throws {
        let time = ManualTimeSource()
        let stub = StubTransport { _ in
            time.advance(by: .seconds(25))
            time.date += change
            return .json(#"{"access_token":"t","expires_in":60}"#)
        }
        let client = OAuthClient(server: Self.server(), id: "app", transport: stub, time: time)
        let token = try await client.clientToken()
        #expect(token.expiry == time.date.addingTimeInterval(35))
    }

    @Test("the time that a nonce costs doesn't count, because the lifetime begins with the request that is granted")
    func lifetimeAfterNonce() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport { request in
            time.advance(by: .seconds(10))
            let isFirst = (try? Self.claims(request.headers["DPoP"]).nonce) == nil
            return isFirst
                ? .json(#"{"error":"use_dpop_nonce"}"#).status(400).header("DPoP-Nonce", "n")
                : .json(#"{"access_token":"t","token_type":"DPoP","expires_in":60}"#)
        }
        let client = OAuthClient(
            server: Self.server(), id: "app", dpop: try DPoP(key: .generate(.p256)), transport: stub, time: time)
        let token = try await client.clientToken()
        #expect(stub.received.count == 2 && token.expiry == time.date.addingTimeInterval(50))
    }

    @Test("the time that a device's codes take to arrive counts toward their lifetime")
    func slowCodes() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport { _ in
            time.advance(by: .seconds(20))
            return .json(
                #"{"device_code":"d","user_code":"u","verification_uri":"https://a.example/","expires_in":24}"#)
        }
        let server = Self.server { $0.deviceAuthorizationEndpoint = URL(string: "\(Self.issuer)/device") }
        let client = OAuthClient(server: server, id: "app", transport: stub, time: time)
        let shown = Log<Date>()
        // The code ends before the first poll after five seconds.
        let error = await failure { _ = try await client.signInOnDevice { shown.add($0.expiry) } }
        #expect(error?.code == .deviceCodeExpired && stub.received.count == 1)
        #expect(shown.all == [time.date.addingTimeInterval(4)])
    }

    @Test(
        "a server that asks a device to slow down may give the new interval, which is never shorter than the standard's",
        arguments: [
            ("25", 25), ("\"25\"", 25), ("5", 10), ("0", 10), ("-7", 10), ("1e300", 600), ("null", 10),
            ("\"soon\"", 10), ("[9]", 10),
        ])
    func slowDown(interval: String, expected: Int) async throws {
        let base = ManualTimeSource()
        let clock = JumpingClock(base: base)
        let count = Counter()
        let stub = StubTransport { request in
            if request.url.path == "/device" {
                return .json(
                    #"{"device_code":"d","user_code":"u","verification_uri":"https://a.example/","expires_in":9000}"#)
            }
            switch count.increment() {
            case 1: return .json(#"{"error":"slow_down","interval":\#(interval)}"#).status(400)
            case 2: return .json(#"{"error":"authorization_pending"}"#).status(400)
            default: return .json(#"{"access_token":"t"}"#)
            }
        }
        let server = Self.server { $0.deviceAuthorizationEndpoint = URL(string: "\(Self.issuer)/device") }
        let client = OAuthClient(server: server, id: "app", transport: stub, time: clock)
        if expected > 25 {
            // The clock doesn't jump over waits this long.
            let task = Task { try await client.signInOnDevice { _ in } }
            for _ in 0..<2 {
                try await eventually { base.nextWake == base.now.advanced(by: .seconds(expected)) }
                base.advance(by: .seconds(expected))
            }
            _ = try await task.value
        } else {
            _ = try await client.signInOnDevice { _ in }
            #expect(clock.waits.all == [5, expected, expected])
        }
    }

    @Test("a response in the fragment of a redirect isn't used, because the client asks for one in the query")
    func fragments() throws {
        let server = OAuthServer(issuer: Self.issuer)
        let items = "code=a&state=s&iss=https%3A%2F%2Fid.example.com"
        func code(_ redirect: String) throws(OAuthError) -> String {
            try AuthorizationRedirect.code(in: redirect, to: "app:/in", state: "s", server: server, hiding: [])
        }
        #expect(try code("app:/in?\(items)") == "a")
        for redirect in ["app:/in#\(items)", "app:/in?#\(items)"] {
            #expect(throws: OAuthError.self) { try code(redirect) }
        }
    }
}

private struct Closed: Error {}

/// A browser that keeps the page's URL and is closed.
private struct PageBrowser: OAuthBrowser {
    let page: Log<URL>

    func redirect(from page: SignInPage) async throws -> String {
        self.page.add(try await page.url(for: "com.example.app:/in"))
        throw Closed()
    }
}
