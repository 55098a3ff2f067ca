import Errand
import ErrandAuthentication
import ErrandCache
import ErrandCookies
import ErrandEssentials
import ErrandTesting
import ErrandURLFilters
import Testing

@Suite("Operations of several calls while users change", .endsInTime, .leakChecked)
struct PinnedTests {
    private func code(
        _ agent: NetworkAgent, _ pin: UserPin, _ mode: AuthenticationMode = .required, _ path: String = "data"
    ) async -> String? {
        let options = CallOptions().pinned(to: pin).authentication(mode)
        do { _ = try await agent.text(Get(.off, path), options: options) } catch {
            return (error as? AuthenticationError)?.code.description ?? (error as? ErrandError)?.code.description
        }
        return nil
    }

    @Test(
        "after a sign-out, a call of the first user's operation isn't sent, and no handler signs another user in for it"
    )
    func signedOut() async throws {
        let (service, handled) = (Service(), Counter())
        let session = AuthenticationSession(BearerToken("ada")) { (_: BearerToken?) in
            handled.increment()
            return BearerToken("bob")
        }
        let (agent, pin) = (NetworkAgent(service.transport(), .authentication(session)), UserPin())
        #expect(await code(agent, pin) == nil)
        try pin.check()
        session.signOut()
        #expect(throws: AuthenticationError.self) { try pin.check() }
        #expect(await code(agent, pin) == "signedOut")
        #expect(await code(agent, pin, .ifSignedIn) == "signedOut")
        session.signIn(BearerToken("bob"))
        #expect(await code(agent, pin) == "signedOut")
        #expect(service.requests.map(Service.user) == ["ada"] && handled.value == 0)
        #expect(await code(agent, UserPin()) == nil)
    }

    @Test("after another user has signed in, it isn't sent, with any kind of credential")
    func userChanged() async throws {
        func check<C: Credential>(_ ada: C, _ bob: C) async {
            let service = Service()
            let session = AuthenticationSession(ada) { (_: C?) in nil }
            let (agent, pin) = (NetworkAgent(service.transport(), .authentication(session)), UserPin())
            #expect(await code(agent, pin) == nil)
            session.signIn(bob)
            #expect(await code(agent, pin) == "userChanged")
            #expect(throws: AuthenticationError.self) { try pin.check() }
            #expect(service.count == 1)
        }
        await check(BearerToken("ada"), BearerToken("bob"))
        await check(DeviceKey(key: "ada"), DeviceKey(key: "bob"))
        await check(QueryKey(key: "ada"), QueryKey(key: "bob"))
        await check(Authorization.basic(user: "ada", password: "p"), .basic(user: "bob", password: "p"))
    }

    @Test(
        "a refreshed token of the same user continues, even if the app refreshed it, and with rotating cookies")
    func refreshed() async throws {
        func check<C: Credential>(_ first: C, _ second: C, _ third: C) async {
            let service = Service()
            let session = AuthenticationSession(first) { (_: C?) in second }
            let transport = service.transport { request, number in
                number == 2 ? .status(401) : .text("x").header("Set-Cookie", "lb=\(number)")
            }
            let agent = NetworkAgent(transport, .authentication(session), .cookies)
            let (pin, other) = (UserPin(), UserPin())
            for _ in 0..<3 {
                #expect(await code(agent, pin) == nil)
                #expect(await code(agent, other) == nil)
            }
            session.renew(with: third)
            #expect(await code(agent, pin) == nil)
            #expect(service.count == 8)
        }
        await check(BearerToken("ada.1"), BearerToken("ada.2"), BearerToken("ada.3"))
        await check(DeviceKey(key: "ada.1"), DeviceKey(key: "ada.2"), DeviceKey(key: "ada.3"))
        await check(QueryKey(key: "ada.1"), QueryKey(key: "ada.2"), QueryKey(key: "ada.3"))
    }

    @Test("an operation that began without a user continues without a user")
    func anonymous() async throws {
        let service = Service()
        let session = AuthenticationSession { (_: BearerToken?) in nil }
        let (agent, pin) = (NetworkAgent(service.transport(), .authentication(session)), UserPin())
        #expect(await code(agent, pin, .ifSignedIn) == nil)
        session.signIn(BearerToken("bob"))
        #expect(await code(agent, pin, .ifSignedIn) == nil)
        try pin.check()
        #expect(service.requests.map(Service.user) == ["nobody", "nobody"])
    }

    @Test("credentials of an outer session, and of filters without a session, are compared")
    func filters() async throws {
        let (service, key) = (Service(), Log<String>())
        key.add("ada")
        let headers = HeaderFilter { _ in
            var headers = HTTPHeaders()
            headers.set("X-Device-Key", key.all.last ?? "", sensitive: true)
            return headers
        }
        let app = AuthenticationSession(QueryKey(key: "app"))
        let (agent, pin) = (NetworkAgent(service.transport(), .authentication(app), headers), UserPin())
        #expect(await code(agent, pin) == nil)
        #expect(await code(agent, pin) == nil)
        key.add("bob")
        #expect(await code(agent, pin) == "userChanged")
        #expect(service.count == 2)
    }

    @Test("a jar's cookies identify a user: another login ends the operation, a new cookie doesn't")
    func jar() async throws {
        let service = Service()
        let jar = CookieJar()
        let url = try #require(URL(string: Service.home))
        try jar.store("sid=ada", from: url)
        let (agent, pin) = (NetworkAgent(service.transport(), .cookies(jar)), UserPin())
        #expect(await code(agent, pin) == nil)
        try jar.store("theme=dark", from: url)
        #expect(await code(agent, pin) == nil)
        try jar.store("sid=bob", from: url)
        #expect(await code(agent, pin) == "userChanged")
        jar.remove()
        #expect(await code(agent, pin) == "userChanged")
        #expect(service.count == 2)
    }
}
