import Errand
import ErrandAuthentication
import ErrandCache
import ErrandCoalescing
import ErrandEssentials
import ErrandPaging
import ErrandStreaming
import ErrandTesting
import Testing

@Suite("Pages and event streams while users change", .endsInTime, .leakChecked)
struct OperationTests {
    private let service = Service()
    private let session = AuthenticationSession(BearerToken("ada.1")) { (_: BearerToken?) in nil }

    // MARK: Pages

    private struct Item: Codable, Sendable, Equatable { let owner: String }

    private static let list = PageList<Item, [Item]>(.number(size: 2)) { page in
        Call<[Item]>(.get, "items", query: page.query("page", size: "size"))
    }

    /// An agent for endless pages whose items name their owner.
    private var agent: NetworkAgent {
        let transport = service.transport { request, _ in
            let owner = Service.user(of: request)
            return .json(#"[{"owner":"\#(owner)"},{"owner":"\#(owner)"}]"#)
        }
        return NetworkAgent(transport, .authentication(session))
    }

    private var users: [String] { service.requests.map(Service.user) }

    @Test("a loop over pages ends with the session's error, with and without loading ahead")
    func pages() async throws {
        for isPrefetching in [false, true] {
            session.signIn(BearerToken("ada.1"))
            var pages = agent.pages(of: Self.list, prefetching: isPrefetching).makeAsyncIterator()
            #expect(try await pages.next()?.items.first?.owner == "ada")
            session.renew(with: BearerToken("ada.2"))
            #expect(try await pages.next()?.items.first?.owner == "ada")
            session.signIn(BearerToken("bob"))
            let error = await #expect(throws: AuthenticationError.self) { _ = try await pages.next() }
            #expect(error?.code == .userChanged)
        }
        #expect(!users.contains("bob"))
        for try await page in agent.pages(of: Self.list) {
            #expect(page.items.first?.owner == "bob")
            break
        }
    }

    @Test("a screen keeps its user until it starts over, and a screen without pages has no user")
    func controller() async throws {
        let screen = PageController(Self.list, on: agent)
        session.signOut()
        await #expect(throws: AuthenticationError.self) { try await screen.next() }
        session.signIn(BearerToken("ada.1"))
        try await screen.next()
        session.signIn(BearerToken("bob"))
        for load in [{ try await screen.next() }, { try await screen.refresh() }, { try await screen.load(page: 3) }] {
            let error = await #expect(throws: AuthenticationError.self) { try await load() }
            #expect(error?.code == .userChanged && screen.state.error is AuthenticationError)
        }
        #expect(screen.state.items.map(\.owner) == ["ada", "ada"] && users == ["ada"])
        try await screen.reload()
        try await screen.next()
        #expect(screen.state.items.map(\.owner) == ["bob", "bob", "bob", "bob"])
    }

    // MARK: Event streams

    private struct Feed: EventRequest {
        var path: String { "feed" }
        var eventOptions = EventOptions(
            reconnection: ReconnectionPolicy(backoff: Backoff(base: .zero, maximumDelay: .zero), minimumDelay: .zero))
    }

    private static func events(_ text: String) -> StubResponse {
        .data(Data(text.utf8), contentType: "text/event-stream")
    }

    @Test(
        "a reconnecting stream doesn't send its last ID or a request as another user",
        arguments: [false, true])
    func stream(isSignedOut: Bool) async throws {
        let transport = service.transport { [session] request, number in
            if number == 2 {
                session.signOut()
                if !isSignedOut { session.signIn(BearerToken("bob")) }
                return .status(503)
            }
            if number == 1 { session.renew(with: BearerToken("ada.2")) }
            return Self.events("id: \(number)\ndata: for \(Service.user(of: request))\n\n")
        }
        let agent = NetworkAgent(transport, .authentication(session))
        var feed = Feed()
        feed.eventOptions.reconnection.statuses = [503]
        let (stream, received) = (agent.events(feed), Log<String>())
        let error = await #expect(throws: AuthenticationError.self) {
            for try await event in stream { received.add(event.data) }
        }
        #expect(error?.code == .signedOut)
        #expect(received.all == ["for ada"] && users == ["ada", "ada"])
        guard case .closed(let end?) = stream.state else { return _ = Issue.record("\(stream.state)") }
        #expect(end is AuthenticationError)
    }

    @Test("an open stream delivers no events after another user has signed in")
    func open() async throws {
        let (gate, count) = (Gate(), Counter())
        let transport = service.transport { [session] _, _ in
            StubResponse.stream {
                let number = count.increment()
                if number > 1 {
                    try await gate.wait()
                    session.signIn(BearerToken("bob"))
                }
                return Data("data: \(number)\n\n".utf8)
            }.header("Content-Type", "text/event-stream")
        }
        let agent = NetworkAgent(transport, .authentication(session))
        var events = agent.events(Feed()).makeAsyncIterator()
        #expect(try await events.next()?.data == "1")
        gate.open()
        let error = await #expect(throws: AuthenticationError.self) { _ = try await events.next() }
        #expect(error?.code == .userChanged && service.count == 1)
    }

    @Test("a stream whose credential comes from a filter ends with the core error userChanged")
    func filters() async throws {
        let (key, received) = (Log<String>(), Log<String>())
        key.add("ada")
        let adding = ClosureFilter(.hop) { exchange, next in
            var exchange = exchange
            exchange.http.headers.set("X-Device-Key", key.all.last ?? "", sensitive: true)
            return try await next(exchange)
        }
        let transport = service.transport { _, number in
            if number == 2 { key.add("bob") }
            return Self.events("id: 7\ndata: \(number)\n\n")
        }
        let agent = NetworkAgent(transport, adding)
        let error = await #expect(throws: ErrandError.self) {
            for try await event in agent.events(Feed()) { received.add(event.data) }
        }
        #expect(error?.code == .userChanged && received.all == ["1", "2"] && users == ["ada", "ada"])
    }

    private struct Update: Decodable, Sendable { let id: Int }

    @Test("an event that can't be decoded has the position in its own text")
    func decoding() async throws {
        let transport = service.transport { _, _ in Self.events("data: {\"id\":\"secret\"}\n\n") }
        let events = NetworkAgent(transport).events(
            Call<HTTPBody>(.get, "feed"), as: EventTypes<Update>.any)
        let error = await #expect(throws: StreamingError.self) { for try await _ in events {} }
        #expect(error?.code == .decodingFailed && error?.description.contains("/id: expected Int") == true)
        #expect(error?.description.contains("secret") == false)
        let lines = NetworkAgent(service.transport { _, _ in .text("{\"id\":true}\n") })
            .jsonLines(Call(.get, "lines"), of: Update.self)
        let second = await #expect(throws: StreamingError.self) { for try await _ in lines {} }
        #expect(second?.description.contains("/id: expected Int") == true)
    }
}

@Suite("Composites while users change", .endsInTime, .leakChecked) struct CompositeUserTests {
    private let service = Service()
    private let session = AuthenticationSession(BearerToken("ada.1")) { (_: BearerToken?) in nil }

    private var users: [String] { service.requests.map(Service.user) }

    private struct Steps: Composite {
        var activityKind: ActivityKind { ActivityKind(rawValue: "steps") }
        let modes: [AuthenticationMode]
        let between: @Sendable (Int) -> Void
        var isNested = false

        func run(on agent: ScopedAgent) async throws -> [String] {
            if isNested { return try await agent.run(Steps(modes: modes, between: between)) }
            var texts: [String] = []
            for (index, mode) in modes.enumerated() {
                texts.append(try await agent.send(Get(.off), options: .authentication(mode)).value)
                between(index)
            }
            return texts
        }
    }

    @Test(
        "its later requests aren't sent as another user, and continue with the first user's refreshed token",
        arguments: [false, true])
    func changed(isNested: Bool) async throws {
        let agent = NetworkAgent(service.transport(), .authentication(session))
        var steps = Steps(modes: [.required, .required, .required]) { [session] index in
            if index == 0 { session.renew(with: BearerToken("ada.2")) } else { session.signIn(BearerToken("bob")) }
        }
        steps.isNested = isNested
        let error = await #expect(throws: AuthenticationError.self) { _ = try await agent.run(steps) }
        #expect(error?.code == .userChanged && users == ["ada", "ada"])
    }

    @Test("an operation that begins without a user, and signs one in, continues as that user")
    func signingIn() async throws {
        session.signOut()
        let agent = NetworkAgent(service.transport(), .authentication(session))
        let steps = Steps(modes: [.ifSignedIn, .off, .required]) { [session] index in
            if index == 1 { session.signIn(BearerToken("bob")) }
        }
        _ = try await agent.run(steps)
        #expect(users == ["nobody", "nobody", "bob"])
    }

    @Test(
        "a request doesn't join the previous user's equal exchange, in any position of the sharing filter",
        arguments: [FilterStages.call, .hop], [false, true])
    func shared(stage: FilterStages, isFirst: Bool) async throws {
        let gate = Gate()
        let transport = StubTransport(maximumRecordedRequests: 0) { request in
            .text("data of \(Service.user(of: request))").waiting(for: gate)
        }
        let (sharing, session) = (CoalescingFilter(in: stage), session)
        // In the call stage, the filter has to know the credential.
        let comesFirst = isFirst && stage == .hop
        let filters: [any Filter] =
            comesFirst ? [sharing, .authentication(session)] : [.authentication(session), sharing]
        let agent = NetworkAgent(baseURL: Service.home, transport: transport, filters: filters)
        let first = Task { try await agent.text(Get(.off)) }
        try await gate.reached()
        session.signIn(BearerToken("bob"))
        let second = Task { try await agent.text(Get(.off)) }
        try await gate.reached(by: 2)
        gate.open()
        #expect(try await second.value == "data of bob")
        #expect(try await first.value == "data of ada")
    }
}
