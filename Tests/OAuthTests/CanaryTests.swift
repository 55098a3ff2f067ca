import Errand
import ErrandCache
import ErrandEssentials
import ErrandInspector
import ErrandLoadingIndicatorLog
import ErrandOAuth
import ErrandRecording
import ErrandSystemTransport
import ErrandTestSupport
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("Secrets", .endsInTime, .leakChecked) struct CanaryTests {
    /// Collects everything that people could read.
    private final class Texts: Sendable {
        private let all = Mutex<[String]>([])
        func add(_ value: Any) {
            var dumped = ""
            dump(value, to: &dumped)
            let texts = ["\(value)", String(reflecting: value), dumped]
            all.withLock { $0 += texts }
        }
        var list: [String] { all.withLock { $0 } }
    }

    @Test(
        "tokens, codes, verifiers, secrets and proofs don't appear in logs, recordings, errors, descriptions or dumps",
        arguments: [
            false, true,
        ])
    func everywhere(isBound: Bool) async throws {
        let texts = Texts()
        let log = RequestLog(.bodies(upTo: 10_000), to: ClosureSink { record in texts.add(record) })
        let recorder = ExchangeRecorder(maximumBodyBytes: 10_000)
        let server = try AuthorizationServer()
        server.behave {
            $0.registration = .post("canary-client-secret")
            $0.metadata["pushed_authorization_request_endpoint"] = .text("/par")
            if isBound { ($0.nonce, $0.resourceNonce) = ("nonce-1", "nonce-2") }
        }
        let dpop = isBound ? try DPoP(key: .generate(.p256)) : nil
        let client = server.client(
            .post(secret: "canary-client-secret"), dpop: dpop, accessories: [log, recorder])
        let store = MemoryTokenStore()
        let session = try await server.session(client, store: store, scope: "openid")
        let agent = server.agent(session, accessories: [log, recorder])
        let token = try #require(session.token)
        for value in [client, store, session, token, session.authentication] as [Any] {
            texts.add(value)
        }
        if let dpop { texts.add(dpop) }
        texts.add(OAuthFilter.authentication(session))
        texts.add(agent.explain(Call<Void>(.get, "api")))
        _ = try await agent.send(Call<String>(.get, "api"))
        server.expireAccessTokens()
        _ = try await agent.send(Call<String>(.post, "api", body: .text("x")))
        _ = try await client.clientToken()
        texts.add(try await client.signInOnDevice { texts.add($0) })
        // Errors that echo secrets, cut in the middle of one.
        let secrets = server.edit { $0.secrets }
        let refresh = try #require(session.token?.refreshToken)
        for echo in [
            refresh, "canary-client-secret", String(repeating: "x", count: 195) + refresh,
            refresh.replacing("-", with: "%2D"),
        ] {
            // The log can't recognize the encoding of the last echo.
            let client = echo.contains("%") ? server.client(.post(secret: "canary-client-secret"), dpop: dpop) : client
            server.behave {
                $0.errorOfToken = .json(
                    #"{"error":"\#(echo.prefix(60))","error_description":"\#(echo)"}"#, status: 400)
            }
            let error = try #require(await failure { _ = try await client.refresh(session.token ?? token) })
            texts.add(error)
            texts.add(error.errorDescription ?? "")
        }
        server.behave { $0.errorOfToken = .json(#"{"access_token":"canary-x","expires_in":"soon"}"#) }
        texts.add(try #require(await failure { _ = try await client.clientToken() }))
        server.behave {
            $0.errorOfToken = TestResponse.json(#"{"access_token":"canary-z"}"#).closing(afterBodyBytes: 5)
        }
        texts.add(try #require(await failure { _ = try await client.refresh(session.token ?? token) }))
        server.expireAccessTokens()
        await texts.add(
            #expect(throws: AuthenticationError.self) { try await agent.send(Call<String>(.get, "api")) } as Any)
        server.behave { $0.errorOfToken = nil }
        server.behave { $0.redirectError = "access_denied" }
        texts.add(
            try #require(await client.failure(scope: "openid")))
        try await session.signOut()
        texts.add(String(decoding: try recorder.harFile().encoded(), as: UTF8.self))
        texts.add(recorder.waterfallPage(title: "t").html)
        await log.flush()
        let proofs = server.received.compactMap { $0.headers["DPoP"] }
        #expect(proofs.isEmpty == !isBound)
        let found = texts.list.filter { text in
            text.contains("canary") || secrets.contains(where: text.contains) || proofs.contains(where: text.contains)
        }
        #expect(found.isEmpty, "\(found.map { $0.prefix(300) })")
        #expect(texts.list.count > 50 && secrets.count > 10)
    }

    @Test("tokens, codes and proofs don't appear in the inspector or in a cache's files") func kept() async throws {
        let server = try AuthorizationServer()
        let folder = TemporaryDirectory()
        let inspector = TrafficInspector(time: server.time)
        let page = try inspector.start(inReleaseBuilds: true) { _ in }
        defer { inspector.stop() }
        let dpop = try DPoP(key: .generate(.p256))
        let client = server.client(dpop: dpop, accessories: [inspector])
        let session = try await server.session(client, scope: "openid")
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system,
            filters: [
                .authentication(session), .cache(DiskStore(at: folder.url), policy: .timed(.seconds(600))),
            ], accessories: [inspector], time: server.time)
        _ = try await agent.send(Call<String>(.get, "api/stored"))
        server.expireAccessTokens()
        _ = try await agent.send(Call<String>(.get, "api/again"))
        #expect(server.refreshes == 1)
        // The page exchanges its token for a cookie.
        let browser = NetworkAgent(baseURL: page.absoluteString, transport: .system)
        var visit = Call<HTTPResponse>(.get, page.absoluteString)
        (visit.redirects, visit.acceptableStatuses) = (.off, .any)
        let cookie = try #require(try await browser.send(visit).value.headers[.setCookie]?.prefix { $0 != ";" })
        var archive = Call<String>(.get, "http://127.0.0.1:\(try #require(page.port))/archive")
        archive.headers = [.cookie: String(cookie)]
        let shown = try await browser.send(archive).value
        #expect(shown.contains("/token") && shown.contains("/api/stored"))
        var texts = [shown]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path) {
            // Folders can't be read.
            guard let data = try? Data(contentsOf: folder.url.appending(path: path)) else { continue }
            texts.append(String(decoding: data, as: UTF8.self))
        }
        #expect(texts.contains { $0.contains("/api/stored") && !$0.contains("/token") })
        let secrets = server.edit { $0.secrets }.union(server.received.compactMap { $0.headers["DPoP"] })
        let found = texts.flatMap { text in secrets.filter(text.contains).map { "\($0) in \(text.prefix(200))" } }
        #expect(found.isEmpty && secrets.count > 10, "\(found)")
    }

    @Test("no type that holds a secret shows it") func types() async throws {
        let texts = Texts()
        let key = try PrivateKey.generate(.p256)
        let token = OAuthToken(
            "canary-access", expiry: Date(timeIntervalSince1970: 0), refreshToken: "canary-refresh", scope: "openid",
            idToken: "canary-id", owner: "ada")
        let client = OAuthClient(
            issuer: "https://id.example.com", id: "app", authentication: .basic(secret: "canary-secret"),
            transport: StubTransport(.json(#"{"access_token":"canary-reply","expires_in":"canary-number"}"#)))
        let session = OAuthSession(client, store: MemoryTokenStore(token))
        await session.signIn(token)
        for value in [
            token, [token], ["token": token], client, session, session.authentication, MemoryTokenStore(token),
            ClientAuthentication.basic(secret: "canary-secret"), ClientAuthentication.post(secret: "canary-secret"),
            try ClientAuthentication.privateKey(key), try DPoP(key: key), key, HMACKey("canary-of-a-key".utf8),
            OAuthFilter.authentication(session), FileTokenStore(URL(filePath: "/nowhere")),
            SignInPage { _ in URL(filePath: "/canary") }, LoopbackBrowser { _ in },
            OAuthError(.refused, "refused", underlying: OAuthError(.noToken, "missing")),
        ] as [Any] { texts.add(value) }
        let error = await failure { _ = try await client.clientToken() }
        texts.add(error as Any)
        let pem = key.pem.split(separator: "\n").dropFirst().dropLast().map(String.init)
        for text in texts.list {
            #expect(!text.contains("canary") && !pem.contains(where: text.contains), "\(text.prefix(300))")
        }
        #expect(texts.list.count == 57 && !pem.isEmpty)
    }

    @Test("a token is sent only to the agent's origin, and caches keep users apart") func origins() async throws {
        let server = try AuthorizationServer()
        let other = try TestServer { _ in .text("other") }
        let session = try await server.session(server.client(dpop: try DPoP(key: .generate(.p256))))
        let agent = server.agent(session)
        _ = try await agent.send(Call<String>(.get, other.url("x")))
        let seen = try #require(other.received.first)
        #expect(seen.headers[.authorization] == nil && seen.headers["DPoP"] == nil)
        let cached = NetworkAgent(
            baseURL: server.url, transport: .system,
            filters: [.authentication(session), .cache(MemoryStore(), policy: .timed(.seconds(60)))], time: server.time)
        #expect(cached.explain(Call<String>(.get, "api")).problems.isEmpty)
    }
}
