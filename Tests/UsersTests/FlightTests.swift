import Errand
import ErrandAuthentication
import ErrandCache
import ErrandCoalescing
import ErrandCookies
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import ErrandURLFilters
import Synchronization
import Testing

@Suite("Requests in flight while users and credentials change", .endsInTime, .leakChecked)
struct FlightTests {
    // MARK: Users

    @Test("a rejected POST of one user isn't processed as another user who has signed in meanwhile")
    func refused() async throws {
        let service = Service()
        let session = AuthenticationSession(BearerToken("ada")) { $0 }
        let transport = service.transport { _, number in
            guard number == 1 else { return nil }
            session.signOut()
            session.signIn(BearerToken("bob"))
            return .status(401)
        }
        let agent = NetworkAgent(transport, .authentication(session))
        let error = try #require(await agent.failure() as? AuthenticationError)
        #expect(error.response?.status == 401)
        #expect(service.requests.map(Service.user) == ["ada"])
        // The next request is Bob's.
        #expect(await agent.failure() == nil && service.requests.map(Service.user) == ["ada", "bob"])
    }

    @Test("a repeated POST, or a POST that waits for a refresh, isn't processed as another user")
    func repeated() async throws {
        let (service, time) = (Service(), ManualTimeSource())
        let session = AuthenticationSession(BearerToken("ada")) { $0 }
        let transport = service.transport { _, number in
            if number > 1 { return nil }
            session.signIn(BearerToken("bob"))
            return .status(503)
        }
        let again = ClosureFilter { exchange, next in
            _ = try await next(exchange)
            return try await next(exchange)
        }
        let agent = NetworkAgent(transport, time: time, again, .authentication(session))
        #expect(await agent.failure() is AuthenticationError)
        #expect(service.requests.map(Service.user) == ["ada"])

        let (reached, never) = (Gate(), Gate())
        let expired = AuthenticationSession(BearerToken("ada", expiry: time.date)) { _ in
            reached.open()
            try await never.wait()
            return nil
        }
        let waiting = NetworkAgent(service.transport(), time: time, .authentication(expired))
        let post = Task { await waiting.failure() }
        try await reached.wait()
        expired.signIn(BearerToken("bob"))
        #expect(await post.value is AuthenticationError)
        #expect(service.requests.map(Service.user) == ["ada"])
    }

    @Test("a filter that shares calls doesn't compare cookies, and the explanation reports that")
    func sharedCookies() {
        for filters in [
            [.cookies, CoalescingFilter(in: .call)], [CoalescingFilter(in: .call), .cookies], [.coalescing, .cookies],
        ]
            as [[any Filter]]
        {
            let agent = NetworkAgent(baseURL: Service.home, transport: .stub, filters: filters)
            #expect(agent.explain(Get(.off)).problems.count == 1)
        }
        let fine = NetworkAgent(.stub, .cookies, .coalescing)
        #expect(fine.explain(Get(.off)).problems.isEmpty)
    }

    @Test("requests of different partitions are never shared, in any position of the sharing filter")
    func partitions() async throws {
        for stage in [FilterStages.call, .hop] {
            let (gate, count) = (Gate(), Counter())
            let transport = StubTransport(maximumRecordedRequests: 0) { _ in
                .text("\(count.increment())").waiting(for: gate)
            }
            let agent = NetworkAgent(transport, .coalescing(in: stage), .cache(.memory()))
            let tasks = ["ada", "bob"].map { name in
                Task { try await agent.text(Get(.timed(.seconds(600), partition: name))) }
            }
            let second = Task { try await gate.reached(by: 2) }
            // Both are on the wire before either has a response.
            try await second.value
            gate.open()
            #expect(try await Set([tasks[0].value, tasks[1].value]) == ["1", "2"])
        }
    }

    // MARK: Credentials

    @Test(
        "a credential in the query is sent once, and after a refresh only the new credential", arguments: [false, true])
    func queryOnce(hasFilters: Bool) async throws {
        let service = Service()
        let session = AuthenticationSession(QueryKey(key: "ada.1")) { _ in QueryKey(key: "ada.2") }
        let transport = service.transport { request, _ in
            Service.items(of: request, "api_key") == ["ada.1"] ? .status(401) : nil
        }
        let agent = NetworkAgent(transport, .authentication(session))
        if hasFilters {
            agent.configure { $0.filters += [.urls(.prefix("/v2"), .query(["v": "3"])), .headers(["X-A": "1"])] }
        }
        #expect(try await agent.text(Get(.off, "data?q=1")) == "data of ada")
        #expect(service.requests.map { Service.items(of: $0, "api_key") } == [["ada.1"], ["ada.2"]])
        #expect(service.requests.allSatisfy { Service.items(of: $0, "q") == ["1"] })
        #expect(!hasFilters || service.requests.allSatisfy { Service.items(of: $0, "v") == ["3"] })
    }

    @Test("a credential in the body is sent once, even if filters have added to the form", arguments: [false, true])
    func bodyOnce(hasFilters: Bool) async throws {
        let service = Service()
        let session = AuthenticationSession(FormKey(key: "ada.1")) { _ in FormKey(key: "ada.2") }
        let transport = service.transport { request, _ in
            Service.formItems(of: request, "api_key") == ["ada.1"] ? .status(401) : nil
        }
        let agent = NetworkAgent(transport, .authentication(session))
        if hasFilters { agent.configure { $0.filters.append(.body(["app": "shop"])) } }
        #expect(await agent.failure(body: form) == nil)
        #expect(service.requests.map { Service.formItems(of: $0, "api_key") } == [["ada.1"], ["ada.2"]])
        #expect(service.requests.allSatisfy { Service.formItems(of: $0, "item") == ["book"] })
        #expect(!hasFilters || service.requests.allSatisfy { Service.formItems(of: $0, "app") == ["shop"] })
    }

    @Test("a signing credential is called once for each request on the wire, after any earlier requests")
    func signedOnce() async throws {
        struct Signing: Credential {
            let count = Counter()
            func authorize(_ request: inout HTTPRequest) throws {
                request.headers.add("X-Sign", "ada.\(count.increment())")
            }
        }
        let (service, credential) = (Service(), Signing())
        let session = AuthenticationSession(credential) { $0 }
        let transport = service.transport { request, number in
            number == 2 ? .redirect(to: "/elsewhere", status: 307) : number == 4 ? .status(401) : nil
        }
        let agent = NetworkAgent(transport, .authentication(session))
        for _ in 0..<3 { #expect(await agent.failure() == nil) }
        #expect(service.count == 5 && credential.count.value == 5)
        #expect(service.requests.map { $0.headers.values(of: "X-Sign") } == (1...5).map { ["ada.\($0)"] })
    }

    @Test("a redirect to another origin carries no credential, not even in the body")
    func stranger() async throws {
        let service = Service()
        let session = AuthenticationSession(FormKey(key: "ada"))
        let transport = service.transport { request, _ in
            request.url.host() == "api.example.com" ? .redirect(to: "https://evil.example/", status: 307) : nil
        }
        let agent = NetworkAgent(transport, .authentication(session))
        #expect(await agent.failure(body: form) == nil)
        #expect(service.requests.map { Service.formItems(of: $0, "api_key") } == [["ada"], []])
        #expect(service.requests.last.map { Service.formItems(of: $0, "item") } == ["book"])
    }

    @Test(
        "after a refresh the signature is computed again if it follows the credential; otherwise that's a problem"
    )
    func signature() async throws {
        let (service, time) = (Service(), ManualTimeSource())
        let session = AuthenticationSession(BearerToken("ada.1")) { _ in
            time.advance(by: .seconds(7))
            return BearerToken("ada.2")
        }
        let transport = service.transport { request, _ in
            request.headers[.authorization] == "Bearer ada.1" ? .status(401) : nil
        }
        let signer = Signer(key: "secret", signature: "X-Signature", timestamp: "X-Timestamp")
        let agent = NetworkAgent(
            transport, time: time, .retry, .authentication(session), .headers(signedBy: signer))
        #expect(await agent.failure() == nil && service.count == 2)
        let times = service.requests.compactMap { $0.headers["X-Timestamp"].flatMap(Int.init) }
        #expect(times.count == 2 && times[1] == times[0] + 7)
        #expect(agent.explain(Get(.off)).problems.isEmpty)
        agent.configure { $0.filters = [.retry, .headers(signedBy: signer), .authentication(session)] }
        #expect(agent.explain(Get(.off)).problems.count == 1)
        let fixed = AuthenticationSession(BearerToken("ada"))
        agent.configure { $0.filters = [.headers(signedBy: signer), .authentication(fixed)] }
        #expect(agent.explain(Get(.off)).problems.isEmpty)
    }

    @Test("a server that rejects everything gets two requests, with or without a signature")
    func alwaysRefused() async throws {
        let service = Service()
        let session = AuthenticationSession(BearerToken("ada")) { _ in BearerToken("ada") }
        let signer = Signer(key: "secret", signature: "X-Signature", timestamp: "X-Timestamp")
        let agent = NetworkAgent(
            service.transport { _, _ in .status(401) }, .authentication(session), .headers(signedBy: signer))
        #expect(await agent.failure() is ErrandError && service.count == 2)
    }

    @Test("a repeated PUT is sent to the environment in which it began")
    func environment() async throws {
        let shop = try ServiceEnvironments(
            [
                .develop: ServiceConfiguration(baseURL: "https://dev.example.com"),
                .release: ServiceConfiguration(baseURL: "https://api.example.com"),
            ], selected: .develop)
        let service = Service()
        let transport = service.transport { _, number in
            if number > 1 { return nil }
            try shop.select(.release)
            return .status(503)
        }
        let again = ClosureFilter { exchange, next in
            _ = try await next(exchange)
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: shop.baseURL, transport: transport, filters: [again, .environment(shop)])
        try await agent.send(Call<Void>(.put, "item", body: form))
        try await agent.send(Call<Void>(.put, "item", body: form))
        let hosts = service.requests.map { $0.url.host() ?? "" }
        #expect(hosts.prefix(2) == ["dev.example.com", "dev.example.com"] && hosts.last == "api.example.com")
    }

    // MARK: Hits

    @Test("a fresh HTTP cache hit doesn't wait for a refresh or fail with it")
    func hit() async throws {
        struct Broken: Error {}
        let (service, time, refreshes) = (Service(), ManualTimeSource(), Counter())
        let session = AuthenticationSession(BearerToken("ada", expiry: time.date.addingTimeInterval(60))) { _ in
            refreshes.increment()
            throw Broken()
        }
        let agent = NetworkAgent(
            service.transport(caching: "private, max-age=600"), time: time, .authentication(session), .cache(.memory()))
        let request = Get(.http.waitingForWrite())
        #expect(try await agent.text(request) == "data of ada")
        time.advance(by: .seconds(61))
        let hit = try await agent.send(request)
        #expect(hit.value == "data of ada" && hit.http.source.isCache && refreshes.value == 0 && service.count == 1)
        // A response that isn't stored needs the credential.
        await #expect(throws: AuthenticationError.self) { try await agent.text(Get(.http, "other")) }
        // So does a stale response.
        time.advance(by: .seconds(600))
        await #expect(throws: AuthenticationError.self) { try await agent.text(request) }
        #expect(refreshes.value == 2 && service.count == 1)
    }

    // MARK: Filters that catch errors

    /// Filters of apps that turn every error into something else.
    private enum Catching: String, CaseIterable, CustomTestStringConvertible {
        case mapsErrors, respondsInstead, sendsAgain

        struct Mapped: Error {}
        var testDescription: String { rawValue }

        func filter(_ stages: FilterStages) -> ClosureFilter {
            ClosureFilter(stages) { exchange, next in
                do { return try await next(exchange) } catch {
                    switch self {
                    case .mapsErrors: throw Mapped()
                    case .respondsInstead:
                        return HTTPResponse(url: exchange.http.url, status: 200, body: HTTPBody(Data("sorry".utf8)))
                    case .sendsAgain: return try await next(exchange)
                    }
                }
            }
        }
    }

    @Test(
        "an expired token is renewed before a miss although another filter catches errors", arguments: Catching.allCases
    )
    private func missWithCatchingFilter(_ catching: Catching) async throws {
        let (service, time) = (Service(), ManualTimeSource())
        let session = AuthenticationSession(BearerToken("ada.1", expiry: time.date.addingTimeInterval(60))) { _ in
            BearerToken("ada.2")
        }
        let agent = NetworkAgent(
            service.transport(caching: "private, max-age=600"), time: time, .authentication(session),
            catching.filter(.hop), .cache(.memory()))
        time.advance(by: .seconds(61))
        #expect(try await agent.text(Get(.http)) == "data of ada")
        #expect(service.requests.map { $0.headers[.authorization] } == ["Bearer ada.2"])
    }

    @Test(
        "a rejected signed request is signed again although another filter catches errors", arguments: Catching.allCases
    )
    private func signedWithCatchingFilter(_ catching: Catching) async throws {
        let (service, time) = (Service(), ManualTimeSource())
        let session = AuthenticationSession(BearerToken("ada.1")) { _ in
            time.advance(by: .seconds(7))
            return BearerToken("ada.2")
        }
        let transport = service.transport { _, number in number == 1 ? .status(401) : nil }
        let signer = Signer(key: "secret", signature: "X-Signature", timestamp: "X-Timestamp")
        let agent = NetworkAgent(
            transport, time: time, .authentication(session), catching.filter(.call), .headers(signedBy: signer))
        #expect(try await agent.text(Get(.off)) == "data of ada")
        #expect(service.requests.map { $0.headers[.authorization] } == ["Bearer ada.1", "Bearer ada.2"])
        let times = service.requests.compactMap { $0.headers["X-Timestamp"].flatMap(Int.init) }
        #expect(times.count == 2 && times[1] == times[0] + 7)
    }

    @Test("a background validation after a cache hit waits until the expired token is renewed")
    func backgroundValidation() async throws {
        let (service, time) = (Service(), ManualTimeSource())
        let session = AuthenticationSession(BearerToken("ada.1", expiry: time.date.addingTimeInterval(60))) { _ in
            BearerToken("ada.2")
        }
        let cache = ResponseCache(.memory())
        let agent = NetworkAgent(
            service.transport(caching: "max-age=10, stale-while-revalidate=600"), time: time, .authentication(session),
            cache)
        let request = Get(.http.waitingForWrite())
        _ = try await agent.text(request)
        time.advance(by: .seconds(61))
        #expect(try await agent.send(request).http.source.isCache)
        try await eventually { service.count == 2 }
        #expect(service.requests.last?.headers[.authorization] == "Bearer ada.2")
    }
}
