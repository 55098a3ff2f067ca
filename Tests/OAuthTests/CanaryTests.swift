import Errand
import ErrandCache
import ErrandEssentials
import ErrandLoadingIndicatorLog
import ErrandOAuth
import ErrandRecording
import ErrandSystemTransport
import ErrandTesting
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
        "tokens, codes, verifiers, secrets and proofs are in no log, recording, error, description or dump",
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
            // The log can't know the last one's encoding.
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

    @Test("a token goes to the agent's origin only, and caches keep users apart") func origins() async throws {
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
