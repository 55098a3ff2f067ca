import Errand
import ErrandAuthentication
import ErrandCache
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Users who change, and users who stay", .endsInTime, .leakChecked) struct UserChangeTests {
    /// Changes the session, then refuses the first request.
    private func refusing(
        _ service: Service, _ change: @escaping @Sendable () -> Void
    ) -> StubTransport {
        let count = Counter()
        let inner = service.transport
        return StubTransport(maximumRecordedRequests: 0) { request in
            if count.up() == 1 { change() }
            let response = try await inner.send(request, options: TransportOptions())
            return StubResponse(status: response.status, headers: response.headers, body: response.data)
        }
    }

    @Test("a sign-in that replaces another user ends that user's calls with a typed error")
    func replaced() async throws {
        let service = Service()
        service.valid = "bob"
        let session = AuthenticationSession(BearerToken("ada")) { $0 }
        let agent = NetworkAgent(
            refusing(service) { session.signIn(BearerToken("bob")) }, .authentication(session))
        let error = try #require(await agent.failure() as? AuthenticationError)
        #expect(error.code == .userChanged && error.errorCode == 4 && error.response?.status == 401)
        #expect("\(error)" == "userChanged: another user has signed in since the request began")
        #expect(service.tokens == ["Bearer ada"])
        #expect(try await agent.text() == "/x")
    }

    @Test("a renewed credential of the same user continues that user's calls")
    func renewed() async throws {
        let service = Service()
        service.valid = "ada.2"
        let session = AuthenticationSession(BearerToken("ada.1")) { _ in throw Broken() }
        let agent = NetworkAgent(
            refusing(service) { session.renew(with: BearerToken("ada.2")) }, .authentication(session))
        #expect(try await agent.text() == "/x" && service.tokens == ["Bearer ada.1", "Bearer ada.2"])
        session.signOut()
        #expect(!session.renew(with: BearerToken("ada.3")) && session.credential == nil)
    }

    @Test("a sign-in with a credential of the same owner is a renewal")
    func sameOwner() async throws {
        let service = Service()
        service.valid = "ada.2"
        let session = AuthenticationSession(BearerToken("ada.1", owner: "ada")) { _ in throw Broken() }
        let agent = NetworkAgent(
            refusing(service) { session.signIn(BearerToken("ada.2", owner: "ada")) }, .authentication(session))
        #expect(try await agent.text() == "/x" && service.tokens == ["Bearer ada.1", "Bearer ada.2"])
    }

    @Test("a handler that returns another owner's credential ends the calls that wait for it")
    func otherOwner() async throws {
        let service = Service()
        service.valid = "bob"
        let session = AuthenticationSession(BearerToken("ada", owner: "ada")) { _ in BearerToken("bob", owner: "bob") }
        let agent = NetworkAgent(service.transport, .authentication(session))
        let error = try #require(await agent.failure() as? AuthenticationError)
        #expect(error.code == .userChanged && service.tokens == ["Bearer ada"])
        #expect(try await agent.text() == "/x" && service.tokens.last == "Bearer bob")
    }

    @Test("a call that begins without a user continues without the user who signs in meanwhile")
    func anonymous() async throws {
        let session = AuthenticationSession<BearerToken> { _ in nil }
        let stub = StubTransport(.text("x"))
        let between = ClosureFilter { exchange, next in
            if !session.isSignedIn { session.signIn(BearerToken("ada")) }
            return try await next(exchange)
        }
        let agent = NetworkAgent(stub, .authentication(session), between)
        _ = try await agent.text(options: .authentication(.ifSignedIn))
        #expect(stub.received.map { $0.headers[.authorization] } == [nil])
        _ = try await agent.text(options: .authentication(.ifSignedIn))
        #expect(stub.received.last?.headers[.authorization] == "Bearer ada")
    }

    @Test(
        "a stored response is found after a refresh or with a signing credential, if the credential names its owner"
    )
    func owners() async throws {
        struct Signing: Credential {
            let owner: String?
            let count = Counter()
            func authorize(_ request: inout HTTPRequest) throws { request.headers["X-Sign"] = "\(count.up())" }
        }
        struct Cached: CacheableRequest {
            typealias Output = String
            var cachePolicy: CachePolicy { .timed(.seconds(60)).waitingForWrite() }
        }
        let stub = StubTransport(.text("x"))
        let tokens = AuthenticationSession(BearerToken("1", owner: "ada")) { _ in nil }
        let bearer = NetworkAgent(stub, .authentication(tokens), .cache(.memory()))
        _ = try await bearer.send(Cached())
        tokens.renew(with: BearerToken("2", owner: "ada"))
        _ = try await bearer.send(Cached())
        #expect(stub.received.count == 1)
        tokens.signIn(BearerToken("2", owner: "bob"))
        _ = try await bearer.send(Cached())
        #expect(stub.received.count == 2)

        let signing = AuthenticationSession(Signing(owner: "ada"))
        let signed = NetworkAgent(stub, .authentication(signing), .cache(.memory()))
        for _ in 0..<2 { _ = try await signed.send(Cached()) }
        #expect(stub.received.count == 3)
    }
}
