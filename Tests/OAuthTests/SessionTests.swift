import Errand
import ErrandEssentials
import ErrandOAuth
import ErrandTesting
import Synchronization
import Testing

@Suite("The session of a user", .endsInTime, .leakChecked) struct SessionTests {
    private static func send(_ agent: NetworkAgent, _ count: Int) async -> [Result<String, any Error>] {
        await withTaskGroup(of: Result<String, any Error>.self) { group in
            for number in 0..<count {
                group.addTask {
                    do { return .success(try await agent.send(Call<String>(.get, "api/\(number)")).value) } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("100 calls at the end of a token cause one refresh, and each is answered", arguments: [true, false])
    func oneRefresh(isExpiredByClock: Bool) async throws {
        let server = try AuthorizationServer()
        let session = try await server.session()
        let agent = server.agent(session)
        _ = try await agent.send(Call<String>(.get, "api/first")).value
        server.expireAccessTokens()
        if isExpiredByClock { server.time.advance(by: .seconds(61)) }
        let results = await Self.send(agent, 100)
        #expect(Set(results.compactMap { try? $0.get() }) == Set((0..<100).map { "/api/\($0)" }))
        #expect(server.refreshes == 1)
        #expect(server.received("/token").count == 2)
        // The refresh token was rotated: the next refresh uses the new one.
        server.time.advance(by: .seconds(61))
        server.expireAccessTokens()
        #expect(await Self.send(agent, 100).allSatisfy { (try? $0.get()) != nil })
        #expect(server.refreshes == 2)
    }

    @Test("a lost response to a refresh doesn't sign the user out: the refresh is sent again") func lostResponse()
        async throws
    {
        let server = try AuthorizationServer()
        let session = try await server.session()
        let agent = server.agent(session)
        server.expireAccessTokens()
        server.behave { $0.loseRefreshResponses = 1 }
        #expect(try await agent.send(Call<String>(.get, "api")).value == "/api")
        #expect(server.refreshes == 2)
        // Twice in a row: the call fails, the user stays signed in, and the next call succeeds.
        server.expireAccessTokens()
        server.behave { $0.loseRefreshResponses = 2 }
        let error = await #expect(throws: AuthenticationError.self) { try await agent.send(Call<String>(.get, "api")) }
        #expect(error?.code == .refreshFailed && error?.isRetryable == true)
        #expect((error?.underlying as? OAuthError)?.code == .requestFailed)
        #expect(session.isSignedIn)
        #expect(try await agent.send(Call<String>(.get, "api")).value == "/api")
    }

    @Test("a server that's down doesn't sign the user out; invalid_grant does, here and in the store") func ends()
        async throws
    {
        let server = try AuthorizationServer()
        let store = MemoryTokenStore()
        let session = try await server.session(store: store)
        let agent = server.agent(session)
        for response in [TestResponse.status(503), .json(#"{"error":"invalid_client"}"#, status: 401), .text("<html>")]
        {
            server.expireAccessTokens()
            server.behave { $0.errorOfToken = response }
            let error = await #expect(throws: AuthenticationError.self) {
                try await agent.send(Call<String>(.get, "api"))
            }
            #expect(error?.code == .refreshFailed)
            #expect(session.isSignedIn && store.load() != nil)
        }
        server.behave { $0.errorOfToken = .json(#"{"error":"invalid_grant"}"#, status: 400) }
        let error = await #expect(throws: AuthenticationError.self) { try await agent.send(Call<String>(.get, "api")) }
        #expect(error?.code == .signedOut)
        #expect((error?.underlying as? OAuthError)?.code == .invalidGrant)
        #expect(!session.isSignedIn && store.load() == nil)
    }

    @Test("a refresh token that a thief used first ends the session of both") func reuse() async throws {
        let server = try AuthorizationServer()
        let session = try await server.session()
        let agent = server.agent(session)
        // The thief copies the token and renews it.
        let stolen = try #require(session.token)
        let theirs = try await server.client().refresh(stolen)
        #expect(server.edit { $0.accessTokens.contains(theirs.accessToken) })
        server.edit { _ = $0.accessTokens.remove(stolen.accessToken) }
        let error = await #expect(throws: AuthenticationError.self) { try await agent.send(Call<String>(.get, "api")) }
        #expect(error?.code == .signedOut)
        #expect(!server.edit { $0.accessTokens.contains(theirs.accessToken) })
        #expect(await failure { _ = try await server.client().refresh(theirs) }?.code == .invalidGrant)
    }

    @Test("the stored token is restored by the first request, or before; an expired one is renewed first")
    func restored()
        async throws
    {
        let server = try AuthorizationServer()
        let store = MemoryTokenStore()
        let first = try await server.session(store: store)
        let token = try #require(first.token)
        let second = OAuthSession(server.client(), store: store)
        #expect(!second.isSignedIn)
        #expect(try await server.agent(second).send(Call<String>(.get, "api")).value == "/api")
        #expect(second.token == token && server.received("/token").count == 1)
        let third = OAuthSession(server.client(), store: store)
        #expect(try await third.restore() && third.token == token)
        #expect(try await third.restore())
        server.time.advance(by: .seconds(61))
        server.expireAccessTokens()
        let fourth = OAuthSession(server.client(), store: store)
        #expect(try await server.agent(fourth).send(Call<String>(.get, "api")).value == "/api")
        // The expired token was never sent.
        #expect(server.received("/api").count == 2 && server.refreshes == 1)
        #expect(store.load() == fourth.token)
        #expect(!(try await OAuthSession(server.client()).restore()))
    }

    @Test("a token that another process has renewed is taken from the store, also after invalid_grant") func processes()
        async throws
    {
        let server = try AuthorizationServer()
        let store = MemoryTokenStore()
        let one = try await server.session(store: store)
        let two = OAuthSession(server.client(), store: store)
        try await two.restore()
        server.expireAccessTokens()
        #expect(try await server.agent(one).send(Call<String>(.get, "api")).value == "/api")
        #expect(try await server.agent(two).send(Call<String>(.get, "api")).value == "/api")
        #expect(server.refreshes == 1 && one.token == two.token)
        // Both renew at once: the loser finds the winner's token.
        let old = try #require(one.token)
        server.expireAccessTokens()
        server.behave { $0.errorOfToken = .computed { _ in .json(#"{"error":"invalid_grant"}"#, status: 400) } }
        let winner = OAuthToken("canary-winner", refreshToken: "canary-winners-refresh")
        server.edit { _ = $0.accessTokens.insert(winner.accessToken) }
        let racing = RacingStore(first: old, then: winner)
        let session = OAuthSession(server.client(), store: racing)
        #expect(try await session.restore())
        server.edit { _ = $0.accessTokens.remove(old.accessToken) }
        #expect(try await server.agent(session).send(Call<String>(.get, "api")).value == "/api")
        #expect(session.token == winner)
    }

    /// Another process stores its token between the first two reads and the third.
    private final class RacingStore: TokenStore {
        private let reads = Mutex(0)
        private let first, then: OAuthToken
        init(first: OAuthToken, then: OAuthToken) { (self.first, self.then) = (first, then) }
        func load() async throws -> OAuthToken? {
            reads.withLock { reads in
                reads += 1
                return reads <= 2 ? first : then
            }
        }
        func save(_ token: OAuthToken) async throws {}
        func remove() async throws {}
    }

    @Test("signing out ends the requests, empties the store and revokes the token") func signOut() async throws {
        let server = try AuthorizationServer()
        let store = MemoryTokenStore()
        let session = try await server.session(store: store)
        let token = try #require(session.token)
        try await session.signOut()
        #expect(!session.isSignedIn && store.load() == nil)
        #expect(server.edit { $0.revoked } == [token.refreshToken])
        #expect(server.received("/revoke").first?.text.contains("token_type_hint=refresh_token") == true)
        let error = await #expect(throws: AuthenticationError.self) {
            try await server.agent(session).send(Call<String>(.get, "api"))
        }
        #expect(error?.code == .signedOut)
        // A token in the store that nobody has read is revoked as well.
        store.save(token)
        let other = OAuthSession(server.client(), store: store)
        try await other.signOut()
        #expect(server.edit { $0.revoked }.count == 2 && store.load() == nil)
        // A server that can't revoke.
        server.behave { $0.metadata["revocation_endpoint"] = .flag(false) }
    }

    @Test("a refresh that's running while the user signs out doesn't bring the token back") func signOutDuringRefresh()
        async throws
    {
        let server = try AuthorizationServer()
        let store = MemoryTokenStore()
        let session = try await server.session(store: store)
        let agent = server.agent(session)
        server.expireAccessTokens()
        let gate = Gate()
        server.behave {
            $0.errorOfToken = TestResponse.json(#"{"access_token":"canary-late","refresh_token":"canary-later"}"#)
                .waiting(for: gate)
        }
        let call = Task { try await agent.send(Call<String>(.get, "api")).value }
        try await gate.reached()
        try await session.signOut()
        gate.open()
        await #expect(throws: AuthenticationError.self) { try await call.value }
        #expect(!session.isSignedIn && store.load() == nil)
    }

    @Test("a store that fails is reported; the token is used all the same, and stored later") func failingStore()
        async throws
    {
        let server = try AuthorizationServer()
        let store = FailingStore()
        let errors = Log<String>()
        let client = server.client()
        let session = OAuthSession(client, store: store, storeFailed: { errors.add("\($0)") })
        await session.signIn(try await client.signIn(browser: RobotBrowser()))
        let agent = server.agent(session)
        store.isFailing = true
        server.expireAccessTokens()
        #expect(try await agent.send(Call<String>(.get, "api")).value == "/api")
        #expect(errors.count == 1)
        // The stored refresh token is used up. The next refresh uses the one in memory.
        store.isFailing = false
        server.expireAccessTokens()
        #expect(try await agent.send(Call<String>(.get, "api")).value == "/api")
        #expect(server.refreshes == 2 && store.base.load() == session.token && errors.count == 1)
        // The user is signed out here even if the store can't be emptied.
        store.isFailing = true
        await #expect(throws: FailingStore.Failed.self) { try await session.signOut() }
        #expect(!session.isSignedIn)
    }

    @Test("the closure signs in once for all calls, again if a token can't be renewed, and may return nil")
    func signIn()
        async throws
    {
        let server = try AuthorizationServer()
        server.behave { $0.registration = .basic("canary-secret") }
        let store = MemoryTokenStore()
        let client = server.client(.basic(secret: "canary-secret"))
        let session = OAuthSession(client, store: store) { try await $0.clientToken(scope: "reports") }
        let agent = server.agent(session)
        #expect(await Self.send(agent, 100).allSatisfy { (try? $0.get()) != nil })
        #expect(server.received("/token").count == 1 && store.load() == session.token)
        server.expireAccessTokens()
        server.time.advance(by: .seconds(61))
        #expect(await Self.send(agent, 100).allSatisfy { (try? $0.get()) != nil })
        #expect(server.received("/token").count == 2)
        let nobody = OAuthSession(client) { _ in nil }
        let error = await #expect(throws: AuthenticationError.self) {
            try await server.agent(nobody).send(Call<String>(.get, "api"))
        }
        #expect(error?.code == .signedOut)
    }

    @Test("another user's token ends the calls of the first") func users() async throws {
        let server = try AuthorizationServer()
        let session = try await server.session(scope: "openid")
        #expect(session.token?.owner == "ada")
        let gate = Gate()
        let agent = NetworkAgent(
            baseURL: server.url, transport: StubTransport { _ in StubResponse.status(401).waiting(for: gate) },
            filters: [.authentication(session)], time: server.time)
        let call = Task { try await agent.send(Call<String>(.get, "api")).value }
        try await gate.reached()
        server.behave { $0.idTokenClaims = ["sub": .text("bo")] }
        await session.signIn(try await server.client().signIn(scope: "openid", browser: RobotBrowser()))
        gate.open()
        let error = await #expect(throws: AuthenticationError.self) { try await call.value }
        #expect(error?.code == .userChanged)
        #expect(session.token?.owner == "bo")
    }
}
