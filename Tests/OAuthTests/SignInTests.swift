import Errand
import ErrandEssentials
import ErrandOAuth
import ErrandTesting
import Testing

@testable import ErrandOAuth

@Suite("Signing in with a browser", .endsInTime, .leakChecked) struct SignInTests {
    @Test("the example of RFC 7636, appendix B, is correct") func pkce() {
        #expect(
            PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk").challenge
                == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        let verifiers = Set((0..<100).map { _ in PKCE().verifier })
        #expect(verifiers.count == 100)
        #expect(verifiers.allSatisfy { $0.utf8.count == 43 })
    }

    @Test("a code is redeemed with its verifier, and the token has all parts of the response") func token() async throws
    {
        let server = try AuthorizationServer()
        let token = try await server.client().signIn(scope: "openid profile", browser: RobotBrowser())
        #expect(token.kind == .bearer && token.owner == "ada" && token.scope == "openid profile")
        #expect(token.expiry == server.time.date + 60)
        #expect(token.refreshToken != nil && token.idToken != nil)
        let page = try #require(server.received("/authorize").first)
        #expect(page.query("code_challenge_method") == "S256" && page.query("code_verifier") == nil)
        #expect(page.query("redirect_uri") == "com.example.app:/signed-in" && page.query("scope") == "openid profile")
        #expect(page.query("nonce") != nil)
        #expect(server.received("/token").first?.headers[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test("without OpenID there is no nonce or owner, and more parameters reach the page") func plain()
        async throws
    {
        let server = try AuthorizationServer()
        let token = try await server.client().signIn(
            browser: RobotBrowser(), parameters: ["prompt": "login", "login_hint": "ada & bo"])
        #expect(token.owner == nil && token.idToken == nil && token.scope == nil)
        let page = try #require(server.received("/authorize").first)
        #expect(page.query("prompt") == "login" && page.query("login_hint") == "ada & bo")
        #expect(page.query("nonce") == nil && page.query("scope") == nil)
        let error = await failure {
            _ = try await server.client().signIn(browser: RobotBrowser(), parameters: ["state": "mine"])
        }
        #expect(error?.code == .invalidParameter)
    }

    @Test("a redirect of another sign-in is refused, and its code isn't redeemed") func mixedUpState() async throws {
        let server = try AuthorizationServer()
        server.behave { $0.redirectState = "another" }
        let error = await server.client().failure()
        #expect(error?.code == .stateMismatch)
        #expect(server.received("/token").isEmpty)
        // An error of another sign-in doesn't end this one with its code either.
        server.behave { $0.redirectError = "access_denied" }
        #expect(await server.client().failure()?.code == .stateMismatch)
    }

    @Test("a redirect is rejected if it names another issuer, or omits an issuer that the server promised to send")
    func wrongIssuer()
        async throws
    {
        let server = try AuthorizationServer()
        let client = server.client()
        for issuer in ["https://evil.example.com", nil] {
            server.behave { $0.redirectIssuer = issuer }
            #expect(await client.failure()?.code == .issuerMismatch)
        }
        #expect(server.received("/token").isEmpty)
        // If the server doesn't promise to name the issuer, the name may be missing, but not wrong.
        server.behave { $0.metadata["authorization_response_iss_parameter_supported"] = .flag(false) }
        let other = server.client()
        _ = try await other.signIn(browser: RobotBrowser())
        server.behave { $0.redirectIssuer = "https://evil.example.com" }
        #expect(await other.failure()?.code == .issuerMismatch)
    }

    @Test(
        "a redirect to another address, with a repeated parameter or without a code is refused",
        arguments: [
            "com.example.app:/signed-in/", "com.example.app:/other", "com.example.evil:/signed-in",
            "com.example.app:/Signed-in",
        ])
    func redirectURI(address: String) async throws {
        let server = try AuthorizationServer()
        server.behave { $0.redirectURI = address }
        let client = server.client()
        #expect(await client.failure()?.code == .invalidRedirect)
        server.behave { ($0.redirectURI, $0.extraRedirectItems) = (nil, "&code=other") }
        #expect(await client.failure()?.code == .invalidRedirect)
        server.behave { $0.extraRedirectItems = "" }
        var robot = RobotBrowser()
        robot.change = { $0.replacing("code=", with: "kode=") }
        #expect(await client.failure(robot)?.code == .invalidRedirect)
        robot.change = { $0 + "&x=%GG" }
        #expect(await client.failure(robot)?.code == .invalidRedirect)
        robot.change = { $0 + "&x=" + String(repeating: "x", count: 1 << 17) }
        #expect(await client.failure(robot)?.code == .invalidRedirect)
        #expect(server.received("/token").isEmpty)
    }

    @Test("a redirect URI with a query keeps it") func queryOfRedirectURI() throws {
        let server = OAuthServer(issuer: "https://id.example.com")
        func code(_ redirect: String) throws(OAuthError) -> String {
            try AuthorizationRedirect.code(
                in: redirect, to: "https://app.example.com/in?from=id", state: "s", server: server, hiding: [])
        }
        #expect(try code("https://app.example.com/in?from=id&code=a+b&state=s#frag") == "a b")
        #expect(throws: OAuthError.self) { try code("https://app.example.com/in?code=a&state=s") }
        #expect(throws: OAuthError.self) { try code("https://app.example.com/in?from=other&code=a&state=s") }
    }

    @Test("a stolen code is useless without its verifier, and a code works once") func stolenCode() async throws {
        let server = try AuthorizationServer()
        let stolen = Log<String>()
        var robot = RobotBrowser()
        robot.change = { redirect in
            stolen.add(redirect)
            return redirect
        }
        let token = try await server.client().signIn(browser: robot)
        let code = try #require(stolen.all.first?.split(separator: "code=").last?.prefix { $0 != "&" })
        // The thief puts the code into their own sign-in, with the right state.
        var thief = RobotBrowser()
        thief.change = { redirect in
            let own = redirect.split(separator: "code=")[1].prefix { $0 != "&" }
            return redirect.replacing(own, with: code)
        }
        let client = server.client()
        let error = await client.failure(thief)
        #expect(error?.code == .invalidGrant && error?.serverCode == "invalid_grant" && error?.status == 400)
        // The server has ended the tokens of the first use.
        #expect(!server.edit { $0.accessTokens.contains(token.accessToken) })
    }

    @Test("refusals by the user and the server have their own codes, with a one-line, bounded description")
    func refusals() async throws {
        let server = try AuthorizationServer()
        server.behave { $0.redirectError = "access_denied" }
        let client = server.client()
        let denied = await client.failure()
        #expect(denied?.code == .accessDenied && denied?.serverCode == "access_denied")
        #expect(denied?.failureSentence == .notAllowed)
        server.behave { $0.redirectError = "temporarily_unavailable" }
        let busy = await client.failure()
        #expect(busy?.code == .refused && busy?.isRetryable == true)
        server.behave {
            $0.redirectError = nil
            let text = "line\\nfeed \\u001b[2J" + String(repeating: "x", count: 5000)
            $0.errorOfToken = .json(
                #"{"error":"invalid_request","error_description":"\#(text)"}"#, status: 400)
        }
        let long = try #require(await client.failure())
        #expect(long.code == .refused && long.serverCode == "invalid_request" && !long.isRetryable)
        #expect(long.message.utf8.count < 400 && !long.message.contains("\n") && !long.message.contains("\u{1B}"))
        #expect(long.message.contains(#"line\u{A}feed \u{1B}[2J"#))
    }

    @Test(
        "an unusable response is refused",
        arguments: [
            ("[]", 200), ("", 200), (#"{"access_token":""}"#, 200), (#"{"access_token":"a","token_type":"mac"}"#, 200),
            (#"{"access_token":"a\r\nX: y"}"#, 200), (#"{"access_token":"a","expires_in":"soon"}"#, 200),
            (#"{"access_token":"ä"}"#, 200), (#"{"access_token":1}"#, 200), (#"{"token_type":"Bearer"}"#, 200),
        ])
    func unusable(body: String, status: Int) async throws {
        let server = try AuthorizationServer()
        server.behave { $0.errorOfToken = .json(body, status: status) }
        #expect(
            await server.client().failure()?.code == .invalidResponse)
    }

    @Test(
        "errors without a body, redirects, and errors with status 200 count as refusals",
        arguments: [
            (TestResponse.status(500), OAuthError.Code.refused, true), (.status(400), .refused, false),
            (.redirect(to: "https://evil.example.com/token", status: 307), .refused, false),
            (.json(#"{"error":"bad_verification_code"}"#), .refused, false),
            (.json(#"{"error":"invalid_grant"}"#), .invalidGrant, false),
            (TestResponse.status(200).closing(afterBytes: 0), .requestFailed, true),
        ])
    func errors(response: TestResponse, code: OAuthError.Code, isRetryable: Bool) async throws {
        let server = try AuthorizationServer()
        server.behave { $0.errorOfToken = response }
        let error = await server.client().failure()
        #expect(error?.code == code && error?.isRetryable == isRetryable, "\(String(describing: error))")
    }

    @Test("an ID token of another issuer, client, sign-in or user is refused") func idTokens() async throws {
        let server = try AuthorizationServer()
        let client = server.client()
        let cases: [([String: JSON], OAuthError.Code)] = [
            (["iss": .text("https://evil.example.com")], .issuerMismatch), (["aud": .text("other")], .invalidResponse),
            (["nonce": .text("other")], .stateMismatch), (["sub": .text("")], .invalidResponse),
        ]
        for (claims, code) in cases {
            server.behave { $0.idTokenClaims = claims }
            #expect(
                await client.failure(scope: "openid")?.code == code)
        }
        server.behave { $0.idTokenClaims = ["aud": .text("app")] }
        let token = try await client.signIn(scope: "openid", browser: RobotBrowser())
        server.behave { $0.idTokenClaims = ["sub": .text("bo")] }
        #expect(await failure { _ = try await client.refresh(token) }?.code == .userMismatch)
    }

    @Test("if the server accepts pushed requests, it gets the parameters there, and the page only a reference")
    func pushed() async throws {
        let server = try AuthorizationServer()
        server.behave {
            $0.metadata["pushed_authorization_request_endpoint"] = .text("/par")
            $0.registration = .post("canary-secret")
        }
        let client = server.client(.post(secret: "canary-secret"))
        let token = try await client.signIn(scope: "profile", browser: RobotBrowser())
        #expect(token.scope == "profile")
        let page = try #require(server.received("/authorize").first)
        #expect(Set(page.queryItems.map(\.name)) == ["client_id", "request_uri"])
        #expect(server.received("/par").count == 1)
    }

    @Test("the browser requests the page once") func browsers() async throws {
        struct Eager: OAuthBrowser {
            func redirect(from page: SignInPage) async throws -> String {
                _ = try await page.url(for: "app:/a")
                return try await page.url(for: "app:/b").absoluteString
            }
        }
        struct Lazy: OAuthBrowser {
            func redirect(from page: SignInPage) async throws -> String { "app:/a?code=x" }
        }
        let server = try AuthorizationServer()
        #expect(await server.client().failure(Eager())?.code == .browserFailed)
        #expect(await server.client().failure(Lazy())?.code == .browserFailed)
    }
}
