import Errand
import ErrandDigests
import ErrandEssentials
import ErrandOAuth
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOAuth

/// Behavior that users of other clients missed; the reports are in Tests/Lessons.md.
@Suite("Sign-ins in daily use", .endsInTime, .leakChecked) struct OAuthLessonsTests {
    private static let issuer = "https://id.example.com"

    private static func metadata(_ more: String = "") -> String {
        #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"\#(more)}"#
    }

    @Test(
        "the metadata's second location is used after any invalid response of the first location",
        arguments: [
            ("<!doctype html><title>App</title>", 200), ("{}", 200), ("[]", 200), ("", 200), ("", 302), ("", 400),
            ("", 401), ("", 403), ("{}", 404), (#"{"issuer":"https://id.example.com/other"}"#, 200),
        ])
    func locations(body: String, status: Int) async throws {
        let stub = StubTransport()
        stub.on("/.well-known/oauth-authorization-server", response: .json(body).status(status))
        stub.on("/.well-known/openid-configuration", response: .json(Self.metadata()))
        let client = OAuthClient(issuer: Self.issuer, id: "app", transport: stub)
        #expect(try await client.server().tokenEndpoint?.absoluteString == "\(Self.issuer)/token")
    }

    @Test("if no location has metadata, the error describes the most specific failure")
    func noMetadata() async {
        for (first, second, code) in [
            (("<html>", 200), ("", 404), OAuthError.Code.invalidServer), (("", 404), ("[]", 200), .invalidServer),
            ((#"{"issuer":"https://evil.example.com"}"#, 200), ("", 404), .issuerMismatch),
            (("", 404), (#"{"issuer":"https://evil.example.com"}"#, 200), .issuerMismatch),
        ] {
            let stub = StubTransport()
            stub.on("/.well-known/oauth-authorization-server", response: .json(first.0).status(first.1))
            stub.on("/.well-known/openid-configuration", response: .json(second.0).status(second.1))
            let client = OAuthClient(issuer: Self.issuer, id: "app", transport: stub)
            #expect(await failure { _ = try await client.server() }?.code == code)
        }
    }

    @Test(
        "missing or blank endpoints don't affect the server's other endpoints",
        arguments: [
            "", #","revocation_endpoint":"""#, #","revocation_endpoint":null,"device_authorization_endpoint":" ""#,
        ])
    func missingEndpoints(more: String) throws {
        let server = try OAuthServer(metadata: Data(Self.metadata(more).utf8), issuer: Self.issuer)
        #expect(server.tokenEndpoint != nil && server.revocationEndpoint == nil)
        #expect(server.deviceAuthorizationEndpoint == nil)
    }

    @Test(
        "a redirect counts although a browser has normalized its scheme, its host or its empty path",
        arguments: [
            ("MyApp://callback", "myapp://callback", true), ("COMPANY://audits", "company://audits", true),
            ("com.example.App:/in", "com.example.app:/in", true), ("myapp://callback", "MyApp://callback", true),
            ("https://App.Example.com/in", "https://app.example.com/in", true),
            ("https://app.example.com", "https://app.example.com/", true),
            ("https://app.example.com:443/in", "https://app.example.com/in", true),
            ("myapp://callback", "myapp://callback/", false), ("myapp:/In", "myapp:/in", false),
            ("https://app.example.com/in", "https://app.example.com/in/", false),
            ("https://app.example.com/in", "http://app.example.com/in", false),
            ("https://app.example.com/in", "https://app.example.com:8443/in", false),
            ("myapp:/in", "myapq:/in", false), ("myapp:/in", "/in", false),
        ])
    func normalized(uri: String, redirect: String, counts: Bool) throws {
        let server = OAuthServer(issuer: Self.issuer)
        func code() throws(OAuthError) -> String {
            try AuthorizationRedirect.code(
                in: redirect + "?code=a&state=s", to: uri, state: "s", server: server, hiding: [])
        }
        if counts { #expect(try code() == "a") } else { #expect(throws: OAuthError.self) { try code() } }
    }

    @Test("an empty error in a redirect is ignored")
    func emptyError() throws {
        for error in ["", "+", "%20"] {
            let code = try AuthorizationRedirect.code(
                in: "app:/in?error=\(error)&code=a&state=s", to: "app:/in", state: "s",
                server: OAuthServer(issuer: Self.issuer), hiding: [])
            #expect(code == "a")
        }
    }

    @Test(
        "a busy server doesn't end a device's sign-in, with any name of its error",
        arguments: [
            ("too_many_requests", 429, 10), ("rate_limited", 429, 10), ("server_error", 503, 10), (nil, 429, 10),
            (nil, 502, 10), ("slow_down", 400, 10), ("slow_down", 429, 10), ("authorization_pending", 429, 5),
            ("access_denied", 400, nil), ("expired_token", 400, nil), ("unauthorized_client", 401, nil),
            (nil, 400, nil),
        ] as [(String?, Int, Int64?)])
    func busyServer(code: String?, status: Int, interval: Int64?) {
        let fault = code.map { ServerFault(error: $0, description: nil) }
        let error = ServerFault.error(fault, status: status, hiding: [])
        #expect(DevicePolling.interval(after: error, 5) == interval)
    }

    @Test("optional members of a device's codes may be missing or blank")
    func deviceReply() throws {
        for more in ["", #","interval":null"#, #","interval":"""#, #","interval":" ","verification_uri_complete":" ""#]
        {
            let text =
                #"{"device_code":"d","user_code":"u","verification_uri":"https://a.example/","expires_in":9\#(more)}"#
            let reply = try DeviceReply(Data(text.utf8))
            #expect(reply.interval == 5 && reply.lifetime == 9)
        }
        let other =
            #"{"device_code":"d","user_code":"u","verification_uri":"","verification_url":"https://a.example/","expires_in":9}"#
        #expect(try DeviceReply(Data(other.utf8)).lifetime == 9)
    }

    @Test("a blank lifetime counts as missing, and a lifetime in quotes is read")
    func lifetimes() async throws {
        var server = OAuthServer(issuer: Self.issuer)
        server.tokenEndpoint = URL(string: "\(Self.issuer)/token")
        for (text, seconds) in [(#""""#, nil), (#"" ""#, nil), ("null", nil), (#""2700""#, 2700.0), ("3599", 3599)] {
            let time = ManualTimeSource()
            let stub = StubTransport(.json(#"{"access_token":"t","expires_in":\#(text)}"#))
            let client = OAuthClient(server: server, id: "app", transport: stub, time: time)
            #expect(try await client.clientToken().expiry == seconds.map { time.date + $0 }, "\(text)")
        }
    }

    @Test(
        "an ID token may have several audiences in any order, any character of base64url and any times, but no other client",
        arguments: [
            (#"{"iss":"i","sub":"s","aud":"app"}"#, true), (#"{"iss":"i","sub":"s","aud":["app"]}"#, true),
            (#"{"iss":"i","sub":"s","aud":["https://api.example.com","app"]}"#, true),
            (#"{"iss":"i","sub":"s","aud":"app","pic":"https://x.example/aa?v=1>>>???~~~"}"#, true),
            (#"{"iss":"i","sub":"s","aud":["app","api"],"azp":"app"}"#, true),
            (#"{"iss":"i","sub":"s","aud":"app","azp":"app"}"#, true),
            (#"{"iss":"i","sub":"s","aud":"app","azp":null}"#, true),
            (#"{"iss":"i","sub":"s","aud":["app","other"],"azp":"other"}"#, false),
            (#"{"iss":"i","sub":"s","aud":"app","iat":99999999999,"nbf":99999999999,"exp":1}"#, true),
            (#"{"iss":"i","sub":"s","aud":["other"]}"#, false), (#"{"iss":"i","sub":"s","aud":[]}"#, false),
        ])
    func idTokens(claims: String, isForClient: Bool) throws {
        let parts = [#"{"alg":"none"}"#, claims, "x"].map { Base64URL.text($0.utf8) }
        let token = try IDTokenClaims(parts.joined(separator: "."))
        func check() throws(OAuthError) { try token.check(issuer: "i", client: "app", nonce: nil) }
        if isForClient { try check() } else { #expect(throws: OAuthError.self) { try check() } }
    }

    @Test("a slash at the end of an issuer belongs to it, and isn't doubled in the URL of the metadata")
    func slashes() async throws {
        let issuer = "\(Self.issuer)/application/o/app/"
        let stub = StubTransport(.status(404))
        stub.on(
            "/application/o/app/.well-known/openid-configuration",
            response: .json(#"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)token"}"#))
        #expect(try await OAuthClient(issuer: issuer, id: "app", transport: stub).server().issuer == issuer)
        #expect(
            stub.received.map(\.url.path) == [
                "/.well-known/oauth-authorization-server/application/o/app",
                "/application/o/app/.well-known/openid-configuration",
            ])
        let other = OAuthClient(issuer: String(issuer.dropLast()), id: "app", transport: stub)
        #expect(await failure { _ = try await other.server() }?.code == .issuerMismatch)
    }

    @Test("a refresh asks for the scope that was granted, and keeps it if the response leaves it out")
    func scopes() async throws {
        var server = OAuthServer(issuer: Self.issuer)
        server.tokenEndpoint = URL(string: "\(Self.issuer)/token")
        let granted = OAuthToken("old", refreshToken: "r", scope: "a b")
        for (scope, expected) in [
            ("", "a b"), (#","scope":null"#, "a b"), (#","scope":"""#, "a b"), (#","scope":[]"#, "a b"),
            (#","scope":"a""#, "a"), (#","scope":["a","c"]"#, "a c"), (#","scope":["a c"]"#, "a c"),
        ] {
            let stub = StubTransport(.json(#"{"access_token":"t","token_type":"bearer"\#(scope)}"#))
            let client = OAuthClient(server: server, id: "app", transport: stub)
            let new = try await client.refresh(granted)
            #expect(new.scope == expected && new.refreshToken == "r", "\(scope)")
            let form = stub.received.first.map { String(decoding: $0.body.data ?? Data(), as: UTF8.self) } ?? ""
            // A server refuses a scope that the user has not granted.
            #expect(form.contains("refresh_token=r") && !form.contains("scope="))
        }
    }

    #if os(Linux)
    @Test("if the disk has no room for a token, the stored token stays, and no other file is left")
    func fullDisk() async {
        // In a separate process, whose file size limit simulates a full disk.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let folder = try Folder()
            let store = FileTokenStore(folder.file("token.json"))
            let old = OAuthToken("old", refreshToken: "canary-refresh")
            try await store.save(old)
            let names = folder.names
            var limit = rlimit()
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            getrlimit(resource, &limit)
            let before = limit.rlim_cur
            limit.rlim_cur = 10
            setrlimit(resource, &limit)
            await #expect(throws: OAuthError.self) { try await store.save(OAuthToken("new", refreshToken: "r")) }
            limit.rlim_cur = before
            setrlimit(resource, &limit)
            #expect(try await store.load() == old && folder.names == names)
        }
    }
    #endif
}
