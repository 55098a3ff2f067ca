import Errand
import ErrandEssentials
import ErrandOAuth
import ErrandTesting
import Testing

@testable import ErrandOAuth

@Suite("Clients and servers", .endsInTime, .leakChecked) struct ClientTests {
    @Test("a client authenticates in each way, and a wrong secret is refused") func identities() async throws {
        let secret = "canary: s+e=c/r&e%t ü"
        let key = try PrivateKey.generate(.p256)
        let cases: [(AuthorizationServer.Registration, ClientAuthentication)] = [
            (.open, .none), (.basic(secret), .basic(secret: secret)), (.post(secret), .post(secret: secret)),
            (.key(key.publicKey), try .privateKey(key, keyID: "k \"1\"")),
        ]
        let server = try AuthorizationServer()
        for (registration, authentication) in cases {
            server.behave { $0.registration = registration }
            let client = server.client(authentication)
            let token = try await client.clientToken(scope: "a b")
            #expect(token.refreshToken == nil && token.scope == "a b")
            _ = try await client.clientToken()
            try await client.revoke(token)
            _ = try await client.signIn(browser: RobotBrowser())
        }
        server.behave { $0.registration = .basic(secret) }
        let error = try #require(
            await failure { _ = try await server.client(.basic(secret: "canary-wrong")).clientToken() })
        #expect(error.code == .refused && error.serverCode == "invalid_client" && error.status == 401)
        #expect(throws: KeyError.self) { try ClientAuthentication.privateKey(key, algorithm: .ed25519) }
    }

    @Test("an empty error is ignored, and an error's code counts with any description") func oddErrors()
        async throws
    {
        var server = OAuthServer(issuer: "https://id.example.com")
        server.tokenEndpoint = URL(string: "https://id.example.com/token")
        for (body, code) in [
            (#"{"access_token":"t","error":""}"#, nil), (#"{"access_token":"t","error":null}"#, nil),
            (#"{"access_token":"t","error":" ","error_description":""}"#, nil),
            (#"{"error":"invalid_grant","error_description":["a","b"]}"#, OAuthError.Code.invalidGrant),
            (#"{"error":"invalid_grant","error_description":{"en":"a"}}"#, .invalidGrant),
            (#"{"error":"access_denied","error_description":7}"#, .accessDenied),
            (#"{"error":"invalid_grant","error_description":null}"#, .invalidGrant),
        ] {
            let response = StubResponse.json(body).status(code == nil ? 200 : 400)
            let client = OAuthClient(server: server, id: "app", transport: StubTransport(response))
            let error = await failure {
                let token = try await client.clientToken()
                #expect(token.accessToken == "t")
            }
            #expect(error?.code == code, "\(body)")
        }
    }

    @Test("the ID and the secret are encoded as in a form before they're joined (RFC 6749, section 2.3.1)") func basic()
    {
        #expect(FormEncoding.encode("a b:c%+~*-._ü") == "a+b%3Ac%25%2B%7E*-._%C3%BC")
        #expect(FormEncoding.decode("a=1+2&b=%2B&c") == ["a": "1 2", "b": "+", "c": ""])
        #expect(FormEncoding.decode("a=1&a=2") == nil && FormEncoding.decode("a=%") == nil)
    }

    @Test("the metadata is found at both locations, fetched once, and must match the issuer exactly") func discovery()
        async throws
    {
        let server = try AuthorizationServer()
        let client = server.client()
        #expect(try await client.server().tokenEndpoint?.absoluteString == server.url + "/token")
        _ = try await client.clientToken()
        _ = try await client.clientToken()
        #expect(server.received("/.well-known/oauth-authorization-server").count == 1)
        server.behave { $0.hasOnlyOpenIDMetadata = true }
        _ = try await server.client().clientToken()
        #expect(server.received("/.well-known/openid-configuration").count == 1)
        for issuer in [server.url + "/", "https://evil.example.com", server.url.uppercased()] {
            server.behave { $0.issuer = issuer }
            let error = await failure { _ = try await server.client().server() }
            #expect(error?.code == .issuerMismatch)
        }
    }

    @Test("RFC 8414 puts its path before the issuer's path, OpenID Connect after it") func wellKnown() throws {
        func addresses(_ issuer: String) throws -> [String] {
            try ServerAddress.metadata(of: issuer).map(\.absoluteString)
        }
        #expect(
            try addresses("https://example.com/issuer1") == [
                "https://example.com/.well-known/oauth-authorization-server/issuer1",
                "https://example.com/issuer1/.well-known/openid-configuration",
            ])
        for issuer in ["https://example.com:8443", "https://example.com:8443/"] {
            #expect(
                try addresses(issuer) == [
                    "https://example.com:8443/.well-known/oauth-authorization-server",
                    "https://example.com:8443/.well-known/openid-configuration",
                ])
        }
        for issuer in [
            "http://example.com", "https://example.com?a", "https://example.com/#a", "ftp://example.com", "", "example",
            "https://ada:x@example.com", "http://127.0.0.1.example.com",
        ] { #expect(throws: OAuthError.self, "\(issuer)") { try addresses(issuer) } }
        #expect(try addresses("http://localhost:1").count == 2 && addresses("http://[::1]:1").count == 2)
    }

    @Test(
        "metadata with an endpoint that isn't an https URL, or that isn't JSON, is refused",
        arguments: [
            #"{"issuer":"https://a.example","token_endpoint":"http://a.example/token"}"#,
            #"{"issuer":"https://a.example","token_endpoint":"/token"}"#,
            #"{"issuer":"https://a.example","token_endpoint":"https://a.example/token#x"}"#,
            #"{"issuer":"https://a.example","token_endpoint":"javascript:alert(1)"}"#,
            #"{"issuer":"https://a.example","token_endpoint":1}"#, #"{"token_endpoint":"https://a.example/"}"#, "[]",
            "",
        ])
    func metadata(text: String) {
        let error = #expect(throws: OAuthError.self) {
            try OAuthServer(metadata: Data(text.utf8), issuer: "https://a.example")
        }
        #expect(error?.code == .invalidServer)
    }

    @Test("an operation that a server doesn't support throws an error with a code") func unsupported() async throws {
        let server = OAuthServer(issuer: "https://a.example")
        let client = OAuthClient(server: server, id: "app", transport: StubTransport(.status(500)))
        #expect(await failure { _ = try await client.clientToken() }?.code == .unsupported)
        #expect(await failure { _ = try await client.signInOnDevice { _ in } }?.code == .unsupported)
        #expect(await failure { try await client.revoke(OAuthToken("a")) }?.code == .unsupported)
        #expect(await client.failure()?.code == .unsupported)
        #expect(await failure { _ = try await client.refresh(OAuthToken("a")) }?.code == .noToken)
        let old = try AuthorizationServer()
        old.behave { $0.metadata["code_challenge_methods_supported"] = .list(["plain"]) }
        #expect(await old.client().failure()?.code == .unsupported)
        var insecure = OAuthServer(issuer: "https://a.example")
        insecure.tokenEndpoint = URL(string: "http://a.example/token")
        let other = OAuthClient(server: insecure, id: "app", transport: StubTransport(.status(500)))
        #expect(await failure { _ = try await other.clientToken() }?.code == .invalidServer)
        let missing = OAuthClient(issuer: "https://a.example", id: "app", transport: StubTransport(.status(404)))
        let error = await failure { _ = try await missing.server() }
        #expect(error?.code == .invalidServer && error?.status == 404)
    }

    @Test(
        "revoking a token that the server doesn't know succeeds, and without a refresh token the access token is revoked"
    )
    func revoke()
        async throws
    {
        let server = try AuthorizationServer()
        try await server.client().revoke(OAuthToken("canary-unknown"))
        #expect(server.received("/revoke").first?.text.contains("token_type_hint=access_token") == true)
    }

    @Test("each error code has a number and a sentence for people") func codes() {
        let codes: [OAuthError.Code] = [
            .invalidServer, .issuerMismatch, .unsupported, .invalidParameter, .stateMismatch, .invalidRedirect,
            .browserFailed, .signInCancelled, .signInTimedOut, .accessDenied, .invalidGrant, .deviceCodeExpired,
            .refused, .invalidResponse, .tokenTypeMismatch, .userMismatch, .noToken, .storeFailed, .keyFailed,
            .requestFailed,
        ]
        #expect(codes.map(\.number) == Array(1...20))
        for code in codes {
            let error = OAuthError(code, "a reason")
            #expect(error.description == "\(code): a reason" && error.errorDescription?.isEmpty == false)
        }
    }
}
