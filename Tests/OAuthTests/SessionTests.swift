import Errand
import ErrandEssentials
import ErrandOAuth
import ErrandSupport
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

    @Test("100 calls with an expiring token cause one refresh, and each gets a response", arguments: [true, false])
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
        // The response is lost twice in a row: the call fails, the user stays signed in, and the next call succeeds.
        server.expireAccessTokens()
        server.behave { $0.loseRefreshResponses = 2 }
        let error = await #expect(throws: AuthenticationError.self) { try await agent.send(Call<String>(.get, "api")) }
        #expect(error?.code == .refreshFailed && error?.isRetryable == true)
        #expect((error?.underlying as? OAuthError)?.code == .requestFailed)
        #expect(session.isSignedIn)
        #expect(try await agent.send(Call<String>(.get, "api")).value == "/api")
    }

    @Test("an unavailable server doesn't sign the user out; invalid_grant does, in the session and the store")
    func ends()
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

    @Test("a refresh token that a thief used first ends both sessions") func reuse() async throws {
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

    @Test("the stored token is restored by the first request or earlier, and refreshed first if it has expired")
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

    @Test("a token that another process has refreshed is read from the store, even after invalid_grant")
    func processes()
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

    private enum Place: CaseIterable { case file, memory }

    @Test(
        "sessions that share a store refresh once for all of their calls, also if the server ends a sign-in whose refresh token is used twice",
        arguments: Place.allCases, [true, false])
    private func sharedStore(place: Place, isExpiredByClock: Bool) async throws {
        let server = try AuthorizationServer()
        let folder = TemporaryDirectory()
        let memory = MemoryTokenStore()
        func store() -> any TokenStore {
            place == .memory ? memory : FileTokenStore(folder.url.appending(path: "token.json"))
        }
        let first = try await server.session(store: store())
        var sessions = [first]
        for _ in 0..<3 { sessions.append(OAuthSession(server.client(), store: store())) }
        for session in sessions { try await session.restore() }
        for round in 1...2 {
            server.expireAccessTokens()
            if isExpiredByClock { server.time.advance(by: .seconds(61)) }
            let results = await withTaskGroup(of: [Result<String, any Error>].self) { group in
                for session in sessions { group.addTask { await Self.send(server.agent(session), 25) } }
                return await group.reduce(into: []) { $0 += $1 }
            }
            #expect(results.count == 100 && results.allSatisfy { (try? $0.get()) != nil })
            #expect(server.refreshes == round && Set(sessions.map(\.token)).count == 1)
        }
    }

    #if os(Linux)
    @Test("while another process renews the token, calls wait for its token, and a sign-out for its end")
    func otherProcess() async throws {
        let server = try AuthorizationServer()
        let (folder, time) = (TemporaryDirectory(), ManualTimeSource())
        let url = folder.url.appending(path: "token.json")
        let session = try await server.session(store: FileTokenStore(url, time: time))
        let agent = server.agent(session)
        server.expireAccessTokens()
        let other = try LockHolder(url.path + ".lock")
        let call = Task { try await agent.send(Call<String>(.get, "api")).value }
        try await time.waitForSleepers()
        let token = OAuthToken("canary-other", refreshToken: "canary-others-refresh")
        server.edit { _ = $0.accessTokens.insert(token.accessToken) }
        try await FileTokenStore(url).save(token)
        try other.release()
        time.advance(by: .milliseconds(100))
        #expect(try await call.value == "/api")
        #expect(session.token == token && server.refreshes == 0)
        let next = try LockHolder(url.path + ".lock")
        let signOut = Task { try await session.signOut() }
        try await time.waitForSleepers()
        #expect(!session.isSignedIn)
        try await FileTokenStore(url).save(OAuthToken("canary-late", refreshToken: "canary-late-refresh"))
        try next.release()
        time.advance(by: .milliseconds(100))
        try await signOut.value
        #expect(try await FileTokenStore(url).load() == nil)
    }

    @Test(
        "a process that never ends its renewal delays calls and a sign-out by two minutes, and doesn't prevent either")
    func stuckProcess() async throws {
        let server = try AuthorizationServer()
        let (folder, time) = (TemporaryDirectory(), ManualTimeSource())
        let url = folder.url.appending(path: "token.json")
        let session = try await server.session(store: FileTokenStore(url, time: time))
        let agent = server.agent(session)
        server.expireAccessTokens()
        let other = try LockHolder(url.path + ".lock")
        let call = Task { try await agent.send(Call<String>(.get, "api")).value }
        try await time.waitForSleepers()
        time.advance(by: .seconds(121))
        let error = await #expect(throws: AuthenticationError.self) { try await call.value }
        #expect(error?.code == .refreshFailed && session.isSignedIn)
        let signOut = Task { try await session.signOut() }
        try await time.waitForSleepers()
        time.advance(by: .seconds(121))
        try await signOut.value
        #expect(try await FileTokenStore(url).load() == nil)
        try other.release()
    }
    #endif

    /// Another process that doesn't use the lock stores its token during the refresh.
    private final class RacingStore: TokenStore {
        private let reads = Mutex(0)
        private let first, then: OAuthToken
        init(first: OAuthToken, then: OAuthToken) { (self.first, self.then) = (first, then) }
        func load() async throws -> OAuthToken? {
            reads.withLock { reads in
                reads += 1
                return reads <= 3 ? first : then
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

    @Test("a refresh that runs while the user signs out doesn't restore the token") func signOutDuringRefresh()
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

    @Test("a failing store is reported, and the token is used anyway and stored later") func failingStore()
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
        // The user is signed out here and at the server, even if the store can't be emptied.
        store.isFailing = true
        let refreshToken = session.token?.refreshToken
        await #expect(throws: FailingStore.Failed.self) { try await session.signOut() }
        #expect(!session.isSignedIn && server.edit { $0.revoked } == [refreshToken])
    }

    @Test("the closure signs in once for all calls, again if a token can't be refreshed, and can return nil")
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

    @Test("another user's token ends the calls of the first user") func users() async throws {
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
