import Errand
import ErrandAuthentication
import ErrandCache
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("Sessions", .endsInTime, .leakChecked) struct SessionTests {
    private static let epoch = Date(timeIntervalSince1970: 1_000_000_000)

    @Test("the first request signs in before it is sent, once for all requests that wait")
    func signsInFirst() async throws {
        let service = Service()
        let session = AuthenticationSession<BearerToken> { old in
            #expect(old == nil)
            return BearerToken(service.refresh())
        }
        let agent = NetworkAgent(service.transport, .authentication(session))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await agent.text() } }
            try await group.waitForAll()
        }
        #expect(service.refreshes == 1 && Set(service.tokens) == ["Bearer t2"] && service.calls.count == 50)
        #expect(session.isSignedIn && session.description == "signed in")
    }

    @Test("a sign-in without credentials fails the request before it is sent")
    func noSignIn() async throws {
        let service = Service()
        let session = AuthenticationSession<BearerToken> { _ in nil }
        let agent = NetworkAgent(service.transport, .authentication(session))
        let error = try #require(await agent.failure() as? AuthenticationError)
        #expect(error.code == .signedOut && error.response == nil && service.calls.isEmpty)
        #expect(session.description == "signed out")
    }

    @Test("a handler that returns nil ends the session: waiting requests fail, and the credential is gone")
    func ends() async throws {
        let service = Service()
        let session = AuthenticationSession(BearerToken("old")) { _ in nil }
        let agent = NetworkAgent(service.transport, .authentication(session))
        let error = try #require(await agent.failure() as? AuthenticationError)
        #expect(error.code == .signedOut && error.response?.status == 401 && session.credential == nil)
    }

    @Test("requests wait while a user signs in, and continue with the new credential")
    func parks() async throws {
        let (reached, never) = (Gate(), Gate())
        let service = Service()
        let session = AuthenticationSession<BearerToken> { _ in
            reached.open()
            try await never.wait()
            return nil
        }
        let agent = NetworkAgent(service.transport, .authentication(session))
        let parked = Task { try await agent.text("parked") }
        try await reached.wait()
        session.signIn(BearerToken("t1"))
        #expect(try await parked.value == "/parked")
        #expect(service.tokens == ["Bearer t1"])
    }

    @Test("signing out while a refresh runs drops its result")
    func signsOutDuringRefresh() async throws {
        let (reached, proceed, ended) = (Gate(), Gate(), Gate())
        let service = Service()
        let session = AuthenticationSession(BearerToken("old")) { _ in
            defer { ended.open() }
            reached.open()
            // Ignores cancellation, as a handler may.
            await Task { try? await proceed.wait() }.value
            return BearerToken(service.refresh())
        }
        let agent = NetworkAgent(service.transport, .authentication(session))
        let waiting = Task { await agent.failure() }
        try await reached.wait()
        session.signOut()
        let error = try #require(await waiting.value as? AuthenticationError)
        #expect(error.code == .signedOut)
        proceed.open()
        try await ended.wait()
        #expect(session.credential == nil)
    }

    @Test("a token that is known to have expired is refreshed before the request is sent")
    func expiry() async throws {
        let time = ManualTimeSource(date: Self.epoch)
        let service = Service()
        let session = AuthenticationSession(BearerToken("t1", expiry: Self.epoch.addingTimeInterval(60))) { _ in
            BearerToken(service.refresh(), expiry: Self.epoch.addingTimeInterval(600))
        }
        let agent = NetworkAgent(service.transport, time: time, .authentication(session))
        _ = try await agent.text()
        time.advance(by: .seconds(60))
        _ = try await agent.text()
        session.expire()
        _ = try await agent.text()
        _ = try await agent.text()
        #expect(service.tokens == ["t1", "t2", "t3", "t3"].map { "Bearer \($0)" })
    }

    @Test("a clock that is wrong does not refresh every request")
    func wrongClock() async throws {
        let service = Service()
        let session = AuthenticationSession<BearerToken> { _ in
            BearerToken(service.refresh(), expiry: Self.epoch.addingTimeInterval(-3600))
        }
        let agent = NetworkAgent(
            service.transport, time: ManualTimeSource(date: Self.epoch), .authentication(session))
        for _ in 0..<5 { _ = try await agent.text() }
        #expect(service.refreshes == 1)
    }

    @Test("a request declares that it is sent without a credential, or with its own")
    func modes() async throws {
        let sent = Mutex<[String]>([])
        let transport = StubTransport { request in
            sent.withLock { $0.append(request.headers[.authorization] ?? "none") }
            return .text("ok")
        }
        let session = AuthenticationSession(BearerToken("t1")) { _ in nil }
        let agent = NetworkAgent(transport, .authentication(session))
        _ = try await agent.text(options: .authentication(.off))
        try await agent.send(Call<Void>(.get, "x") { $0.authorization = .omitted })
        try await agent.send(Call<Void>(.get, "x") { $0.authorization = .bearer("own") })
        try await agent.send(Call<Void>(.get, "x") { $0.headers = ["Authorization": "Own x"] })
        _ = try await agent.text(options: .authentication(.ifSignedIn))
        session.signOut()
        _ = try await agent.text(options: .authentication(.ifSignedIn))
        try await agent.send(Call<Void>(.get, "x") { $0.headers = ["Authorization": "Own y"] })
        #expect(sent.withLock { $0 } == ["none", "none", "Bearer own", "Own x", "Bearer t1", "none", "Own y"])
    }

    @Test("credentials are sent only to their origin, not to redirect targets or absolute links from a server")
    func origins() async throws {
        let sent = Mutex<[String]>([])
        let transport = StubTransport { request in
            let token = request.headers["X-Token"] ?? "none"
            sent.withLock { $0.append("\(request.url.host ?? "") \(request.url.path) \(token)") }
            switch request.url.path {
            case "/away": return .redirect(to: "https://evil.example/taken")
            case "/taken": return .redirect(to: "https://api.example.com/back")
            case "/down": return .status(401)
            default: return .text("ok")
            }
        }
        let refreshes = Counter()
        let session = AuthenticationSession(HeaderToken(value: "canary")) { old in
            refreshes.up()
            return old
        }
        let agent = NetworkAgent(transport, .authentication(session))
        _ = try await agent.text("away")
        _ = try await agent.text("https://evil.example/next?page=2")
        _ = try await agent.text("http://api.example.com/insecure")
        #expect(await agent.failure("https://evil.example/down") is ErrandError)
        #expect(
            sent.withLock { $0 } == [
                "api.example.com /away canary", "evil.example /taken none", "api.example.com /back canary",
                "evil.example /next none", "api.example.com /insecure none", "evil.example /down none",
            ])
        #expect(refreshes.value == 0)
        let own = AuthenticationSession(HeaderToken(value: "canary"), origins: ["https://uploads.example.com"])
        let uploads = NetworkAgent(transport, .authentication(own))
        sent.withLock { $0 = [] }
        _ = try await uploads.text("https://uploads.example.com/a")
        _ = try await uploads.text("b")
        #expect(sent.withLock { $0 } == ["uploads.example.com /a canary", "api.example.com /b none"])
    }

    @Test("a credential may add several fields with the same name, and the request keeps its own field")
    func severalFields() async throws {
        struct Keys: Credential {
            let values: [String]
            func authorize(_ request: inout HTTPRequest) { for value in values { request.headers.add("X-Key", value) } }
        }
        let sent = Log<HTTPHeaders>()
        let stub = StubTransport(maximumRecordedRequests: 0) { request in
            sent.add(request.headers)
            let isFine = request.headers.values(of: "X-Key").contains("c")
            return isFine ? .text("ok") : .text("refused", status: 401)
        }
        let session = AuthenticationSession(Keys(values: ["a", "own"])) { _ in Keys(values: ["c", "own"]) }
        let agent = NetworkAgent(stub, .authentication(session))
        _ = try await agent.send(Call<String>(.get, "x") { $0.headers = ["X-Key": "own", "X-Open": "open"] })
        #expect(sent.all.map { $0.values(of: "X-Key").sorted() } == [["a", "own", "own"], ["c", "own", "own"]])
        for headers in sent.all {
            #expect(headers.allSatisfy { $0.isSensitive == ($0.name == "X-Key") } && headers["X-Open"] == "open")
        }
        _ = try await agent.send(Call<String>(.get, "y"))
        #expect(sent.all.last?.values(of: "X-Key") == ["c", "own"])
    }

    @Test("if a filter moves a request to another origin, the credential isn't sent there, in either filter order")
    func moved() async throws {
        let stub = StubTransport(.text("ok"))
        for stages in [FilterStages.call, .hop, .wire] {
            let mover = ClosureFilter(stages) { exchange, next in
                var exchange = exchange
                let moved = exchange.http.urlText.replacing("https://api.example.com/", with: "https://evil.example/")
                exchange.http.url = try #require(URL(string: moved))
                return try await next(exchange)
            }
            for filters: [any Filter] in [
                [mover, .authentication(AuthenticationSession(BearerToken("canary")))],
                [.authentication(AuthenticationSession(BearerToken("canary"))), mover],
                [.authentication(AuthenticationSession(HeaderToken(value: "canary"))), mover],
                [.authentication(AuthenticationSession(QueryKey(owner: nil))), mover],
                [.authentication(AuthenticationSession(QueryKey(owner: "ada"))), mover],
            ] {
                let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: filters)
                _ = try await agent.send(Call<String>(.get, "x"))
                let sent = try #require(stub.received.last)
                #expect(sent.urlText == "https://evil.example/x", "\(stages)")
                #expect(!sent.headers.contains(.authorization) && !sent.headers.contains("X-Token"), "\(stages)")
            }
        }
    }

    /// A custom scheme that doesn't mark its header as sensitive.
    struct QueryKey: Credential {
        let owner: String?

        func authorize(_ request: inout HTTPRequest) throws {
            request.url = try #require(URL(string: request.urlText + "?key=canary"))
        }
    }

    struct HeaderToken: Credential {
        let value: String
        func authorize(_ request: inout HTTPRequest) { request.headers["X-Token"] = value }
    }

    @Test("basic credentials can be set in one word, and a real server accepts them")
    func basic() async throws {
        let server = try TestServer()
        server.on("/private", .basicAuth(user: "ada", password: "pw"))
        let stub = StubTransport(.text("ok"))
        let agent = NetworkAgent(stub, .authentication(.basic(user: "ada", password: "pw")))
        _ = try await agent.text()
        #expect(stub.received.last?.headers[.authorization] == "Basic YWRhOnB3")
        #expect(agent.explain(Call<Void>(.get, "x")).description.contains("adds Authorization"))
    }

    @Test("no description, dump, error or log line has a token")
    func secrets() async throws {
        let token = BearerToken("canary", expiry: Self.epoch, refreshToken: "canary2")
        let session = AuthenticationSession(token) { _ in throw Broken() }
        var text = "\(token) \(token.debugDescription) \(session)"
        dump(token, to: &text)
        dump(session, to: &text)
        let log = WireLog()
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: Service().transport, filters: [.authentication(session)],
            accessories: [log], time: ManualTimeSource(date: Self.epoch - 10))
        text += "\(String(describing: await agent.failure())) \(agent.explain(Call<Void>(.get, "x")))"
        text += log.text
        #expect(!text.contains("canary") && text.contains("•••"))
    }

    @Test("a timed cache after the session keeps users apart, and the order isn't a problem")
    func cache() async throws {
        let stub = StubTransport { .text("for \($0.headers[.authorization] ?? "none")") }
        let session = AuthenticationSession(BearerToken("ada")) { _ in nil }
        let agent = NetworkAgent(stub, .authentication(session), .cache(.memory()))
        let request = CachedText()
        #expect(try await agent.send(request).value == "for Bearer ada")
        #expect(try await agent.send(request).value == "for Bearer ada" && stub.received.count == 1)
        session.signIn(BearerToken("bob"))
        #expect(try await agent.send(request).value == "for Bearer bob")
        #expect(agent.explain(request).problems.isEmpty)
        agent.configure { $0.filters.reverse() }
        #expect(agent.explain(request).problems.count == 1)
    }

    @Test("two sessions for the same origins are reported if their credentials have the same type")
    func twice() {
        let token = AuthenticationSession(BearerToken("ada")) { _ in nil }
        let other = AuthenticationSession(BearerToken("bob"), origins: ["https://files.example.com"])
        let problems = NetworkAgent(StubTransport(), .authentication(token), .authentication(token))
            .explain(CachedText()).problems.filter { $0.contains("use only one session") }
        #expect(problems.count == 1)
        let apart = NetworkAgent(StubTransport(), .authentication(token), .authentication(other)).explain(CachedText())
        #expect(!apart.description.contains("use only one session"))
    }

    struct CachedText: CacheableRequest {
        typealias Output = String
        var path: String { "x" }
        var cachePolicy: CachePolicy { .timed(.seconds(60)) }
    }

    final class WireLog: Accessory {
        private let lines = Mutex("")
        var text: String { lines.withLock { $0 } }

        func activity(_ activity: Activity, did event: ActivityEvent) {
            switch event {
            case .sending(let request, _): lines.withLock { $0 += "\(request) \(request.headers)" }
            default: lines.withLock { $0 += "\(event)" }
            }
        }
    }
}
