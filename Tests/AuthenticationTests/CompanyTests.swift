import Errand
import ErrandAuthentication
import ErrandEssentials
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("Refusals that affect many requests or another user", .endsInTime, .leakChecked) struct CompanyTests {
    @Test(
        "if each token is refused, 100 calls are sent twice at most, and there is one refresh",
        arguments: [true, false])
    func alwaysRefused(isSameToken: Bool) async throws {
        let (early, late, refreshes, count) = (Gate(), Gate(), Counter(), Counter())
        let transport = StubTransport(maximumRecordedRequests: 0) { request in
            count.up()
            let refused = StubResponse.status(401)
            guard request.headers[.authorization] == "Bearer t0" else { return refused }
            return refused.waiting(for: request.url.path.hasPrefix("/late") ? late : early)
        }
        let session = AuthenticationSession(BearerToken("t0")) { _ in
            let number = refreshes.up()
            return BearerToken(isSameToken ? "same" : "t\(number)")
        }
        let agent = NetworkAgent(transport, .authentication(session))
        let calls = (0..<100).map { number in
            Task { await agent.failure(number < 50 ? "x\(number)" : "late\(number)") }
        }
        try await early.reached(by: 50)
        try await late.reached(by: 50)
        early.open()
        for call in calls[..<50] { #expect((await call.value as? ErrandError)?.response?.status == 401) }
        late.open()
        for call in calls[50...] { #expect((await call.value as? ErrandError)?.response?.status == 401) }
        #expect(count.value <= 200)
        #expect(refreshes.value == 1)
        // A later call may refresh again.
        let before = refreshes.value
        _ = await agent.failure()
        #expect(refreshes.value == before + 1)
    }

    @Test(
        "a request that waited for a refresh doesn't cause another if the new token is refused"
    )
    func refusedAfterWait() async throws {
        for (first, refreshes, requests) in [(BearerToken("t", expiry: .distantPast), 1, 1), (nil, 2, 2)] {
            let (sent, made) = (Counter(), Counter())
            let transport = StubTransport(maximumRecordedRequests: 0) { _ in
                sent.up()
                return .status(401)
            }
            let session = AuthenticationSession(first) { _ in BearerToken("t\(made.up())") }
            let agent = NetworkAgent(transport, .authentication(session))
            #expect((await agent.failure() as? ErrandError)?.response?.status == 401)
            #expect(sent.value == requests && made.value == refreshes)
        }
    }

    private struct DeviceKey: Credential {
        let key: String
        func authorize(_ request: inout HTTPRequest) { request.headers["X-Device-Key"] = key }
    }

    private struct Tokens: Credential {
        let access: String
        func authorize(_ request: inout HTTPRequest) { request.headers.authorize(.bearer(access)) }
    }

    /// A server that accepts only the token `user1` together with the device key `device1`.
    private func agent(
        _ isUserOuter: Bool, user: String, device: String, _ users: Counter, _ devices: Counter,
        renewsUser: Bool = true
    ) -> NetworkAgent {
        let transport = StubTransport(maximumRecordedRequests: 0) { request in
            let isFine =
                request.headers[.authorization] == "Bearer user1" && request.headers["X-Device-Key"] == "device1"
            return isFine ? .text("fine") : .status(401)
        }
        let keys = AuthenticationSession(DeviceKey(key: device)) { _ in
            devices.up()
            return DeviceKey(key: "device1")
        }
        let tokens =
            renewsUser
            ? AuthenticationSession(Tokens(access: user)) { _ in
                users.up()
                return Tokens(access: "user1")
            } : AuthenticationSession(Tokens(access: user))
        return isUserOuter
            ? NetworkAgent(transport, .authentication(tokens), .authentication(keys))
            : NetworkAgent(transport, .authentication(keys), .authentication(tokens))
    }

    @Test("if the user's token is refused, it is refreshed, and the device's key isn't", arguments: [true, false])
    func user(isUserOuter: Bool) async throws {
        let (users, devices) = (Counter(), Counter())
        let agent = agent(isUserOuter, user: "old", device: "device1", users, devices)
        #expect(try await agent.text() == "fine")
        #expect(users.value == 1 && devices.value == 0)
    }

    @Test(
        "if a new token doesn't help against a refusal, the device's key is refreshed as well",
        arguments: [true, false])
    func device(isUserOuter: Bool) async throws {
        for renewsUser in [true, false] {
            let (users, devices) = (Counter(), Counter())
            let agent = agent(isUserOuter, user: "user1", device: "old", users, devices, renewsUser: renewsUser)
            #expect(try await agent.text() == "fine")
            #expect(users.value <= 1 && devices.value == 1)
        }
    }

    @Test(
        "if no new credential is accepted, each session is refreshed once per call, in any order of the sessions",
        arguments: [true, false])
    func neither(isUserOuter: Bool) async throws {
        let (users, devices, count) = (Counter(), Counter(), Counter())
        let transport = StubTransport(maximumRecordedRequests: 0) { _ in
            count.up()
            return .status(401)
        }
        let keys = AuthenticationSession(DeviceKey(key: "0")) { _ in DeviceKey(key: "\(devices.up())") }
        let tokens = AuthenticationSession(Tokens(access: "0")) { _ in Tokens(access: "\(users.up())") }
        let filters: [any Filter] = [.authentication(tokens), .authentication(keys)]
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: transport,
            filters: isUserOuter ? filters : filters.reversed())
        for call in 1...3 {
            #expect((await agent.failure() as? ErrandError)?.response?.status == 401)
            #expect(users.value == call && devices.value == call && count.value == 3 * call)
        }
    }

    @Test(
        "after a refusal of the device's key, a refusal after a redirect refreshes the user's token again",
        arguments: [true, false])
    func redirected(isUserOuter: Bool) async throws {
        let (users, devices) = (Counter(), Counter())
        let transport = StubTransport(maximumRecordedRequests: 0) { request in
            let (user, device) = (request.headers[.authorization], request.headers["X-Device-Key"])
            if request.url.path != "/second" {
                return device == "device1" ? .status(307, headers: [.location: "/second"]) : .status(401)
            }
            return user == "Bearer user2" ? .text("fine") : .status(401)
        }
        let keys = AuthenticationSession(DeviceKey(key: "device0")) { _ in DeviceKey(key: "device\(devices.up())") }
        let tokens = AuthenticationSession(Tokens(access: "user0")) { _ in Tokens(access: "user\(users.up())") }
        let filters: [any Filter] = [.authentication(tokens), .authentication(keys)]
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: transport,
            filters: isUserOuter ? filters : filters.reversed())
        #expect(try await agent.text("first") == "fine")
        #expect(users.value == 2 && devices.value == 1)
    }

    @Test("50 calls whose user token is refused cause one refresh, even with two sessions", arguments: [true, false])
    func manyCalls(isUserOuter: Bool) async throws {
        let (users, devices) = (Counter(), Counter())
        let agent = agent(isUserOuter, user: "old", device: "device1", users, devices)
        let calls = (0..<50).map { number in Task { try await agent.text("x\(number)") } }
        for call in calls { #expect(try await call.value == "fine") }
        #expect(users.value == 1 && devices.value == 0)
    }

    @Test("a secret is found in a request in any encoding, but not as a part of a longer word")
    func carries() throws {
        let url = try #require(URL(string: "https://example.com/x?a=r%2f1%2Ba=%3d"))
        #expect(HTTPRequest(.get, url).carries("r/1+a=="))
        #expect(!HTTPRequest(.get, url).carries("r/1") && !HTTPRequest(.get, url).carries("exam"))
        #expect(!HTTPRequest(.get, url).carries(""))
        let body = RequestBody.data(Data(#"{"refresh_token":"a\/b"}"#.utf8), contentType: "application/json")
        var request = HTTPRequest(.post, url)
        request.body = body
        #expect(request.carries("a/b") && !request.carries("token"))
        request.headers["X-Refresh"] = "Token 17"
        #expect(request.carries("17") && !request.carries("7"))
    }

    enum Place: CaseIterable { case form, json, query, header }

    @Test(
        "a handler that refreshes on its own agent from a detached task or a thread does not wait for itself",
        arguments: Place.allCases, [true, false])
    func detached(place: Place, isDetached: Bool) async throws {
        let secret = "r/1+a=="
        let transport = StubTransport(maximumRecordedRequests: 0) { request in
            if request.url.path == "/refresh" { return .status(303, headers: [.location: "/refreshed"]) }
            if request.url.path == "/refreshed" { return .text("t1") }
            return request.headers[.authorization] == "Bearer t1" ? .text("fine") : .status(401)
        }
        let holder = Mutex<NetworkAgent?>(nil)
        let session = AuthenticationSession(BearerToken("t0", refreshToken: secret)) { _ in
            let agent = try #require(holder.withLock { $0 })
            let call = Call<String>(.post, "refresh") {
                switch place {
                case .form: $0.body = .form(["refresh_token": secret])
                case .json: $0.body = .json(["refresh_token": secret])
                case .query: $0.query = ["refresh_token": secret]
                case .header: $0.headers = ["X-Refresh": "token \(secret)"]
                }
            }
            if isDetached { return BearerToken(try await Task.detached { try await agent.send(call).value }.value) }
            let handle = await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: agent.start(call)) }
            }
            return BearerToken(try await handle.value.value)
        }
        // The test clock doesn't advance, so a handler that waited for itself would never finish.
        let agent = NetworkAgent(transport, .authentication(session))
        holder.withLock { $0 = agent }
        #expect(try await agent.text() == "fine")
        let old = holder.withLock { agent -> NetworkAgent? in
            defer { agent = nil }
            return agent
        }
        withExtendedLifetime(old) {}
    }
}
