import Errand
import ErrandAuthentication
import ErrandCache
import ErrandCookies
import ErrandEssentials
import ErrandTesting
import ErrandURLFilters
import Synchronization
import Testing

@Suite("A stored response of one user isn't served to another", .endsInTime, .leakChecked)
struct StoredTests {
    private static let policies: [CachePolicy] = [.timed(.seconds(600)), .http, .timed(.seconds(600)).and(.http)]

    /// Sends the request as Ada, as Bob, and again as Ada, whose response is stored by then.
    private func check(_ agent: NetworkAgent, _ service: Service, _ policy: CachePolicy, become: (String) -> Void)
        async throws
    {
        let request = Get(policy.waitingForWrite())
        become("ada")
        #expect(try await agent.text(request) == "data of ada")
        become("bob")
        #expect(try await agent.text(request) == "data of bob")
        become("ada")
        #expect(try await agent.text(request) == "data of ada")
        #expect(service.count == 2)
    }

    @Test("with your own credential that sets fields other than Authorization", arguments: policies)
    func ownFields(policy: CachePolicy) async throws {
        let service = Service()
        let session = AuthenticationSession(DeviceKey(key: "none"))
        let agent = NetworkAgent(
            service.transport(caching: "private, max-age=600"), .authentication(session), .cache(.memory()))
        try await check(agent, service, policy) { session.signIn(DeviceKey(key: $0)) }
        #expect(agent.explain(Get(policy)).problems.isEmpty)
    }

    @Test("with a credential in the query, even if the cache key excludes the item", arguments: policies)
    func ownItems(policy: CachePolicy) async throws {
        let service = Service()
        let session = AuthenticationSession(QueryKey(key: "none"))
        let agent = NetworkAgent(
            service.transport(caching: "private, max-age=600"), .urls(.query(["t": "1"], inCacheKey: false)),
            .authentication(session), .cache(.memory()))
        try await check(agent, service, policy) { session.signIn(QueryKey(key: $0)) }
    }

    @Test("with a token in the query that is kept out of the cache key", arguments: policies)
    func hiddenItems(policy: CachePolicy) async throws {
        let service = Service()
        let user = Mutex("")
        let token = QueryFilter(inCacheKey: false, name: "token") { _ in ["api_key": .string(user.withLock { $0 })] }
        let agent = NetworkAgent(service.transport(caching: "private, max-age=600"), .urls(token), .cache(.memory()))
        try await check(agent, service, policy) { name in user.withLock { $0 = name } }
    }

    @Test("with cookies, for a private response without Vary")
    func cookies() async throws {
        let (service, jar) = (Service(), CookieJar())
        let agent = NetworkAgent(service.transport(caching: "private, max-age=600"), .cookies(jar), .cache(.memory()))
        try await check(agent, service, .http) { jar.hold($0) }
        #expect(agent.explain(Get(.http)).problems.isEmpty)
    }

    @Test("with cookies and a timed cache, which doesn't see them: the response isn't stored")
    func timedCookies() async throws {
        let (service, jar) = (Service(), CookieJar())
        let agent = NetworkAgent(service.transport(), .cookies(jar), .cache(.memory()))
        for user in ["ada", "bob", "ada"] {
            jar.hold(user)
            #expect(try await agent.text(Get(.timed(.seconds(600)).waitingForWrite())) == "data of \(user)")
        }
    }

    @Test("with a sensitive field of your own filter or of the request itself", arguments: policies)
    func sensitive(policy: CachePolicy) async throws {
        let service = Service()
        let user = Mutex("")
        let own = HeaderFilter { _ in HTTPHeaders([.init("X-Device-Key", user.withLock { $0 }, sensitive: true)]) }
        let agent = NetworkAgent(service.transport(caching: "private, max-age=600"), own, .cache(.memory()))
        try await check(agent, service, policy) { name in user.withLock { $0 = name } }
    }

    @Test("with a name as the key, which doesn't depend on the user")
    func named() async throws {
        struct Home: CacheableRequest {
            typealias Output = String
            var cachePolicy: CachePolicy { .timed(.seconds(600)).waitingForWrite() }
            var cacheKey: CacheKeyPolicy { .named("home") }
        }
        let session = AuthenticationSession(BearerToken("ada"))
        let agent = NetworkAgent(Service().transport(), .authentication(session), .cache(.memory()))
        #expect(try await agent.send(Home()).value == "data of ada")
        session.signIn(BearerToken("bob"))
        #expect(try await agent.send(Home()).value == "data of bob")
    }

    @Test("a signature changes with its time and doesn't split the cache: the next request is a hit")
    func signed() async throws {
        let (service, time) = (Service(), ManualTimeSource())
        let agent = NetworkAgent(
            service.transport(caching: "max-age=600"), time: time,
            .headers(signedBy: Signer(key: "secret", signature: "X-Signature", timestamp: "X-Timestamp")),
            .cache(.memory()))
        for policy in Self.policies {
            for _ in 0..<2 {
                _ = try await agent.text(Get(policy.waitingForWrite(), "\(policy.hashValue)"))
                time.advance(by: .seconds(5))
            }
        }
        #expect(service.count == 3)
    }

    // MARK: Under the sent credential

    @Test("after a sign-in during a request, the other user's response isn't stored as the first user's")
    func signInMeanwhile() async throws {
        let service = Service()
        let user = Mutex("ada")
        // A custom filter in both stages, and a sign-in between them.
        let own = ClosureFilter([.call, .hop]) { exchange, next in
            var exchange = exchange
            exchange.http.headers.set(.authorization, "Bearer \(user.withLock { $0 })", sensitive: true)
            return try await next(exchange)
        }
        let between = ClosureFilter { exchange, next in
            user.withLock { $0 = "bob" }
            return try await next(exchange)
        }
        let agent = NetworkAgent(service.transport(), own, .cache(.memory()), between)
        let request = Get(.timed(.seconds(600)).waitingForWrite())
        #expect(try await agent.text(request) == "data of bob")
        agent.configure { $0.filters.removeLast() }
        user.withLock { $0 = "ada" }
        #expect(try await agent.text(request) == "data of ada")
        // It was stored for the right user.
        user.withLock { $0 = "bob" }
        #expect(try await agent.text(request) == "data of bob" && service.count == 2)
    }

    @Test("after a refresh during a request, the response is stored for the next request with the new credential")
    func refreshMeanwhile() async throws {
        let service = Service()
        let session = AuthenticationSession(BearerToken("ada.1")) { _ in BearerToken("ada.2") }
        let transport = service.transport { request, _ in
            request.headers[.authorization] == "Bearer ada.1" ? .status(401) : nil
        }
        let agent = NetworkAgent(transport, .authentication(session), .cache(.memory()))
        let request = Get(.timed(.seconds(600)).waitingForWrite())
        #expect(try await agent.text(request) == "data of ada")
        #expect(try await agent.text(request) == "data of ada" && service.count == 2)
    }

    @Test("a link at another origin that redirects back isn't stored for everybody")
    func redirectedHome() async throws {
        let service = Service()
        let session = AuthenticationSession(BearerToken("ada"))
        let transport = service.transport { request, _ in
            request.url.host() == "links.example" ? .redirect(to: Service.home + "/data") : nil
        }
        let agent = NetworkAgent(transport, .authentication(session), .cache(.memory()))
        let link = Get(.timed(.seconds(600)).waitingForWrite(), "https://links.example/next")
        #expect(try await agent.text(link) == "data of ada")
        session.signIn(BearerToken("bob"))
        #expect(try await agent.text(link) == "data of bob")
        #expect(try await agent.text(link, options: .authentication(.off)) == "data of nobody")
    }
}

extension CookieJar {
    /// Replaces all cookies with this user's cookie.
    func hold(_ user: String) {
        remove()
        try? insert(Cookie("user", user, domain: "api.example.com"))
    }
}
