#if os(Linux) || os(macOS)
import Errand
import ErrandOAuth
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

/// A server in Python: oidc-provider-mock, or one made of authlib's parts. `python3` needs both and Flask.
private final class PythonServer: Sendable {
    static func has(_ modules: String) async -> Bool {
        let output = try? await Program("env")?.run(["python3", "-W", "ignore", "-c", "import \(modules)"])
        return output?.status == 0
    }

    private let folder: Folder
    private let process: RunningProgram
    let url: String

    init(_ script: String, _ arguments: [String] = [], files: [String: String] = [:]) async throws {
        let folder = try Folder(files.merging(["server.py": script]) { $1 })
        let python = try #require(Program("env"))
        let process = try python.start(
            ["python3", "-W", "ignore", folder.path("server.py"), folder.url.path] + arguments, isKept: true)
        try await eventually {
            try #require(!process.hasEnded, "the server has ended")
            return FileManager.default.fileExists(atPath: folder.path("port"))
        }
        url = "http://127.0.0.1:\(String(decoding: try folder.data("port"), as: UTF8.self))"
        (self.folder, self.process) = (folder, process)
    }

    /// Writes the port when the server listens.
    static let serving = #"""

        def serve(app):
            server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True)
            with open(folder + "/port.new", "w") as file:
                file.write(str(server.server_port))
            os.rename(folder + "/port.new", folder + "/port")
            server.serve_forever()
        """#
}

/// Agrees on the sign-in page for a user.
private struct AgreeingBrowser: OAuthBrowser {
    var redirectURI = "http://127.0.0.1/callback"
    var action = "agree"

    func redirect(from page: SignInPage) async throws -> String {
        let url = try await page.url(for: redirectURI)
        var call = Call<HTTPResponse>(
            .post, url.absoluteString, body: .form(["sub": "ada", "action": action]))
        (call.redirects, call.acceptableStatuses) = (.off, .any)
        let response = try await NetworkAgent(baseURL: "", transport: .system).send(call).value
        return try #require(
            response.headers[.location], "\(response) \(String(decoding: response.data, as: UTF8.self))")
    }
}

private func code(_ body: () async throws -> Void) async -> OAuthError.Code? {
    do { try await body() } catch { return (error as? OAuthError)?.code }
    return nil
}

@Suite(
    "OAuth with oidc-provider-mock",
    .enabled("python3 with oidc-provider-mock is needed") { await PythonServer.has("oidc_provider_mock, werkzeug") },
    .endsInTime)
struct ProviderMockTests {
    private static let script =
        #"""
        import os, sys
        os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
        import oidc_provider_mock, werkzeug.serving
        folder = sys.argv[1]
        """# + PythonServer.serving + """

            serve(oidc_provider_mock.app(require_nonce=True))
            """

    @Test("a user signs in with OpenID Connect, requests carry the token, and it's renewed")
    func signIn() async throws {
        let server = try await PythonServer(Self.script)
        // This server accepts any secret, but for a refresh only with `basic`.
        let client = OAuthClient(
            issuer: server.url, id: "app", authentication: .basic(secret: "secret"), transport: .system)
        let session = OAuthSession(client) { client in
            try await client.signIn(scope: "openid email", browser: AgreeingBrowser())
        }
        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [.authentication(session)])
        #expect(try await agent.send(Call<[String: String]>(.get, "userinfo")).value["sub"] == "ada")
        let token = try #require(session.token)
        #expect(token.owner == "ada" && token.refreshToken != nil && token.idToken != nil && token.expiry != nil)
        session.authentication.expire()
        #expect(try await agent.send(Call<[String: String]>(.get, "userinfo")).value["sub"] == "ada")
        #expect(session.token != token && session.token?.owner == "ada")
    }

    @Test("the loopback listener receives the redirect of a third-party server") func loopback() async throws {
        let server = try await PythonServer(Self.script)
        let client = OAuthClient(
            issuer: server.url, id: "app", authentication: .post(secret: "secret"), transport: .system)
        let browser = LoopbackBrowser { page in
            let agree = AgreeingBrowser()
            let redirect = try await agree.redirect(from: SignInPage { _ in page })
            #expect(
                try await NetworkAgent(baseURL: "", transport: .system).send(Call<String>(.get, redirect)).value
                    .contains("return to the app"))
        }
        #expect(try await client.signIn(scope: "openid", browser: browser).owner == "ada")
    }

    @Test("a server's refusal has its error code") func refusals() async throws {
        let server = try await PythonServer(Self.script)
        let client = OAuthClient(
            issuer: server.url, id: "app", authentication: .basic(secret: "secret"), transport: .system)
        // This server's refusal lacks the state, so it isn't accepted as an answer to this sign-in.
        let denied = await code {
            _ = try await client.signIn(scope: "openid", browser: AgreeingBrowser(action: "deny"))
        }
        #expect(denied == .stateMismatch)
        #expect(await code { _ = try await client.refresh(OAuthToken("a", refreshToken: "unknown")) } == .invalidGrant)
        #expect(await code { _ = try await client.clientToken() } == .refused)
        #expect(await code { try await client.revoke(OAuthToken("a")) } == .unsupported)
        let other = OAuthClient(issuer: server.url + "/", id: "app", transport: .system)
        #expect(await code { _ = try await other.server() } == .issuerMismatch)
    }
}

@Suite(
    "OAuth with authlib",
    .enabled("python3 with authlib 1.6 or later and Flask is needed") {
        await PythonServer.has("flask, authlib.integrations.flask_oauth2, authlib.oauth2.rfc9207, joserfc")
    },
    .endsInTime)
struct AuthlibTests {
    @Test("a code with PKCE is redeemed once, by each kind of client, and its refresh token is rotated") func signIn()
        async throws
    {
        let key = try PrivateKey.generate(.p256)
        let server = try await PythonServer(Self.script, files: ["key.pem": key.publicKey.pem])
        let clients: [(String, ClientAuthentication)] = [
            ("public", .none), ("basic", .basic(secret: "secret")), ("post", .post(secret: "secret")),
            ("key", try .privateKey(key)),
        ]
        for (id, authentication) in clients {
            let client = OAuthClient(issuer: server.url, id: id, authentication: authentication, transport: .system)
            let token = try await client.signIn(scope: "profile", browser: AgreeingBrowser())
            #expect(token.scope == "profile" && token.refreshToken != nil, "\(id)")
            let new = try await client.refresh(token)
            #expect(new.accessToken != token.accessToken && new.refreshToken != token.refreshToken)
            // The old refresh token was rotated.
            #expect(await code { _ = try await client.refresh(token) } == .invalidGrant)
            try await client.revoke(new)
            #expect(await code { _ = try await client.refresh(new) } == .invalidGrant)
        }
        let denied = await code {
            let client = OAuthClient(issuer: server.url, id: "public", transport: .system)
            _ = try await client.signIn(browser: AgreeingBrowser(action: "deny"))
        }
        #expect(denied == .accessDenied)
    }

    @Test("another verifier, another redirect URI and another secret are refused") func refusals() async throws {
        let server = try await PythonServer(Self.script, files: ["key.pem": ""])
        // Returns a code that was requested with another challenge.
        struct Thief: OAuthBrowser {
            func redirect(from page: SignInPage) async throws -> String {
                try await AgreeingBrowser().redirect(
                    from: SignInPage { uri in
                        let url = try await page.url(for: uri).absoluteString
                        let challenge = try #require(url.split(separator: "code_challenge=").last?.prefix(43))
                        return try #require(
                            URL(string: url.replacing(challenge, with: String(repeating: "A", count: 43))))
                    })
            }
        }
        let client = OAuthClient(issuer: server.url, id: "public", transport: .system)
        #expect(await code { _ = try await client.signIn(browser: Thief()) } == .invalidGrant)
        let wrong = OAuthClient(
            issuer: server.url, id: "basic", authentication: .basic(secret: "wrong"), transport: .system)
        #expect(await code { _ = try await wrong.clientToken() } == .refused)
    }

    @Test("client credentials work with a secret and with a key") func clientCredentials() async throws {
        let key = try PrivateKey.generate(.p256)
        let server = try await PythonServer(Self.script, files: ["key.pem": key.publicKey.pem])
        for (id, authentication) in [
            ("basic", ClientAuthentication.basic(secret: "secret")), ("post", .post(secret: "secret")),
            ("key", try .privateKey(key)), ("key", try .privateKey(key, audience: server.url + "/token")),
        ] {
            let client = OAuthClient(issuer: server.url, id: id, authentication: authentication, transport: .system)
            #expect(try await client.clientToken(scope: "profile").scope == "profile", "\(id)")
        }
        let other = OAuthClient(
            issuer: server.url, id: "key", authentication: try .privateKey(PrivateKey.generate(.p256)),
            transport: .system)
        #expect(await code { _ = try await other.clientToken() } == .refused)
    }

    @Test("a device waits for its user") func device() async throws {
        let server = try await PythonServer(Self.script, files: ["key.pem": ""])
        let client = OAuthClient(issuer: server.url, id: "public", transport: .system)
        let agree = NetworkAgent(baseURL: server.url, transport: .system)
        let token = try await client.signInOnDevice(scope: "profile") { device in
            let code = Call<Void>(.post, "enter", body: .form(["code": device.userCode, "action": "agree"]))
            try await agree.send(code)
        }
        #expect(token.scope == "profile" && token.refreshToken != nil)
        let denied = await code {
            _ = try await client.signInOnDevice { device in
                let code = Call<Void>(.post, "enter", body: .form(["code": device.userCode, "action": "deny"]))
                try await agree.send(code)
            }
        }
        #expect(denied == .accessDenied)
    }

    /// A server of authlib's parts. Its devices poll every second.
    private static let script =
        #"""
        import os, sys, time
        os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
        import werkzeug.serving
        from flask import Flask, jsonify, request
        from authlib.integrations.flask_oauth2 import AuthorizationServer
        from authlib.oauth2 import OAuth2Error
        from authlib.oauth2.rfc6749 import grants, ClientMixin, AccessDeniedError
        from authlib.oauth2.rfc7009 import RevocationEndpoint
        from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
        from authlib.oauth2.rfc7636 import CodeChallenge
        from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
        from authlib.oauth2.rfc9207 import IssuerParameter
        from joserfc import jwk
        folder = sys.argv[1]
        issuer = lambda: request.host_url.rstrip("/")
        methods = ["none", "client_secret_basic", "client_secret_post", "client_assertion_jwt"]
        kinds = dict(zip(["public", "basic", "post", "key"], methods))
        codes, tokens, devices, entered, seen = {}, [], {}, {}, set()

        class Client(ClientMixin):
            def __init__(self, name): self.name = name
            def get_client_id(self): return self.name
            def get_default_redirect_uri(self): return None
            def get_allowed_scope(self, scope): return scope or ""
            def check_redirect_uri(self, uri): return uri.endswith("/callback")
            def check_client_secret(self, secret): return secret == "secret"
            def check_endpoint_auth_method(self, method, endpoint): return kinds[self.name] == method
            def check_response_type(self, kind): return kind == "code"
            def check_grant_type(self, kind): return True

        class Code:
            def __init__(self, **values): self.__dict__.update(values)
            def get_redirect_uri(self): return self.redirect_uri
            def get_scope(self): return self.scope

        class Token(Code):
            ended = False
            def check_client(self, client): return self.client_id == client.get_client_id()
            def get_expires_in(self): return 60
            def is_expired(self): return False
            def is_revoked(self): return self.ended
            def get_user(self): return self.user
            def get_client(self): return Client(self.client_id)

        class CodeGrant(grants.AuthorizationCodeGrant):
            TOKEN_ENDPOINT_AUTH_METHODS = methods
            def save_authorization_code(self, code, request):
                data = request.payload.data
                codes[code] = Code(
                    code=code, client_id=request.client.get_client_id(), redirect_uri=request.payload.redirect_uri,
                    scope=request.payload.scope, user=request.user, code_challenge=data.get("code_challenge"),
                    code_challenge_method=data.get("code_challenge_method"))
            def query_authorization_code(self, code, client):
                found = codes.get(code)
                return found if found and found.client_id == client.get_client_id() else None
            def delete_authorization_code(self, code): codes.pop(code.code)
            def authenticate_user(self, code): return code.user

        class RefreshGrant(grants.RefreshTokenGrant):
            TOKEN_ENDPOINT_AUTH_METHODS = methods
            INCLUDE_NEW_REFRESH_TOKEN = True
            def authenticate_refresh_token(self, text):
                return next((token for token in tokens if token.refresh_token == text and not token.ended), None)
            def authenticate_user(self, token): return token.user
            def revoke_old_credential(self, token): token.ended = True

        class ClientGrant(grants.ClientCredentialsGrant):
            TOKEN_ENDPOINT_AUTH_METHODS = methods[1:]

        class DeviceEndpoint(DeviceAuthorizationEndpoint):
            INTERVAL = 1
            def get_verification_uri(self): return issuer() + "/enter"
            def save_device_credential(self, client_id, scope, data):
                devices[data["device_code"]] = DeviceCredentialDict(
                    client_id=client_id, scope=scope, expires_at=time.time() + 60, **data)

        class DeviceGrant(DeviceCodeGrant):
            def query_device_credential(self, code): return devices.get(code)
            def query_user_grant(self, code): return ("ada", entered[code]) if code in entered else None
            def should_slow_down(self, credential): return False

        class Revocation(RevocationEndpoint):
            CLIENT_AUTH_METHODS = methods
            def query_token(self, text, hint):
                return next((token for token in tokens if text in (token.access_token, token.refresh_token)), None)
            def revoke_token(self, token, request): token.ended = True

        class Assertion(JWTBearerClientAssertion):
            def get_audiences(self): return [issuer(), issuer() + "/token"]
            def resolve_client_public_key(self, client):
                text = open(folder + "/key.pem").read()
                return jwk.import_key(text, "EC")
            def validate_jti(self, claims, jti):
                if jti in seen: return False
                seen.add(jti)
                return True

        class Issuer(IssuerParameter):
            def get_issuer(self): return issuer()

        def save(token, request):
            tokens.append(Token(
                access_token=token["access_token"], refresh_token=token.get("refresh_token"),
                scope=token.get("scope", ""), client_id=request.client.get_client_id(), user=request.user))

        app = Flask(__name__)
        app.secret_key = "x"
        app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
        app.config["OAUTH2_JWT_ALG"] = "ES256"
        server = AuthorizationServer(
            app, query_client=lambda name: Client(name) if name in kinds else None, save_token=save)
        server.register_client_auth_method("client_assertion_jwt", Assertion())
        server.register_grant(CodeGrant, [CodeChallenge(required=True)])
        for grant in (RefreshGrant, ClientGrant, DeviceGrant): server.register_grant(grant)
        for endpoint in (Revocation, DeviceEndpoint): server.register_endpoint(endpoint)
        server.register_extension(Issuer())

        @app.get("/.well-known/oauth-authorization-server")
        def metadata():
            return jsonify({
                "issuer": issuer(), "authorization_endpoint": issuer() + "/authorize",
                "token_endpoint": issuer() + "/token", "revocation_endpoint": issuer() + "/revoke",
                "device_authorization_endpoint": issuer() + "/device",
                "authorization_response_iss_parameter_supported": True, "code_challenge_methods_supported": ["S256"]})

        @app.post("/authorize")
        def authorize():
            user = "ada" if request.form.get("action") == "agree" else None
            try: grant = server.get_consent_grant(end_user="ada")
            except OAuth2Error as error: return {"error": error.error, "description": error.description}, 400
            return server.create_authorization_response(grant_user=user, grant=grant)

        @app.post("/token")
        def token(): return server.create_token_response()

        @app.post("/revoke")
        def revoke(): return server.create_endpoint_response("revocation")

        @app.post("/device")
        def device(): return server.create_endpoint_response("device_authorization")

        @app.post("/enter")
        def enter():
            entered[request.form["code"]] = request.form["action"] == "agree"
            return {}
        """# + PythonServer.serving + """

            serve(app)
            """
}

@Suite(
    "Proofs and thumbprints of joserfc",
    .enabled("python3 with joserfc is needed") { await PythonServer.has("joserfc") }, .endsInTime)
struct ProofPeerTests {
    private struct Proof: Codable {
        var proof: String
        var method: String
        var target: String
        var token: String
        var thumbprint: String
        var result = ""
    }

    @Test("joserfc accepts 1,000 proofs for random requests: signature, claims and thumbprint") func proofs()
        async throws
    {
        var random = SeededGenerator(seed: 9449)
        var proofs: [Proof] = []
        let proofMakers = try [KeyType.p256, .ed25519].map { try DPoP(key: .generate($0)) }
        for number in 0..<1000 {
            let dpop = random.pick(proofMakers)
            let target =
                "https://\(random.pick(["a.example", "b.example:8443"]))/"
                + (0..<random.below(4)).map { _ in random.pick(["a", "%20b", "%C3%BC", "c+d", "~e", "f;g=h"]) }
                .joined(separator: "/")
            let url = try #require(URL(string: target + random.pick(["", "?x=1", "?x=%3F/#y", "#y"])))
            let method = random.pick(["GET", "POST", "DELETE", "PROPFIND"])
            let token = Data(random.bytes(1 + random.below(60))).base64EncodedString()
            let proof = try await dpop.proof(
                for: HTTPRequest(HTTPMethod(rawValue: method), url), token: token,
                at: Date(timeIntervalSince1970: Double(1_700_000_000 + number)))
            proofs.append(
                Proof(proof: proof, method: method, target: target, token: token, thumbprint: try dpop.thumbprint()))
        }
        let folder = try Folder(["program.py": Self.program])
        try JSONEncoder().encode(proofs).write(to: folder.file("proofs.json"))
        let python = try #require(Program("env"))
        let output = try await python.run(
            ["python3", "-W", "ignore", folder.path("program.py"), folder.url.path])
        try #require(output.status == 0, "\(output)")
        let checked = try JSONDecoder().decode([Proof].self, from: folder.data("checked.json"))
        #expect(checked.count == 1000)
        for proof in checked { #expect(proof.result == "", "\(proof.result): \(proof.target)") }
    }

    private static let program = #"""
        import base64, hashlib, json, sys
        from joserfc import jwk, jws
        folder = sys.argv[1]
        proofs = json.load(open(folder + "/proofs.json"))
        known = set()
        for number, proof in enumerate(proofs):
            try:
                header = json.loads(base64.urlsafe_b64decode(proof["proof"].split(".")[0] + "=="))
                assert header["typ"] == "dpop+jwt" and set(header) == {"typ", "alg", "jwk"}, header
                key = jwk.import_key(header["jwk"])
                assert not key.is_private and key.thumbprint() == proof["thumbprint"], "thumbprint"
                token = jws.deserialize_compact(proof["proof"], key, algorithms=["ES256", "EdDSA"])
                claims = json.loads(token.payload)
                digest = base64.urlsafe_b64encode(hashlib.sha256(proof["token"].encode()).digest())
                assert claims["htm"] == proof["method"] and claims["htu"] == proof["target"], claims
                assert claims["ath"] == digest.rstrip(b"=").decode(), "ath"
                assert claims["iat"] == 1700000000 + number and claims["jti"] not in known, claims
                known.add(claims["jti"])
            except Exception as error:
                proof["result"] = repr(error)
        json.dump(proofs, open(folder + "/checked.json", "w"))
        """#
}
#endif
