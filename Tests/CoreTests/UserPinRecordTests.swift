import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Operations that outlive a process, and entries without a known user", .leakChecked) struct UserPinRecordTests {
    private struct Other: Error {}

    /// Sends its request with a separate pin that admits only some users.
    private struct Pinning: Filter {
        var outer: UserPin?
        let isAdmitted: @Sendable (Set<UserMark>) -> Bool
        var stages: FilterStages { .call }

        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            var exchange = exchange
            exchange.pin(
                to: UserPin(within: outer ?? exchange.userPin) { marks in if !isAdmitted(marks) { throw Other() } })
            return try await next(exchange)
        }
    }

    private struct Pinned: FilterProvidingRequest {
        typealias Output = String
        var path: String { "items" }
        var requiredFilters: [any Filter] { [.keepingUser] }
    }

    private struct Keyed: Request {
        typealias Output = String
        var path: String { "items" }
        var headers: HTTPHeaders { [.authorization: "Bearer ada"] }
    }

    private func agent(_ key: String, _ transport: StubTransport, _ filters: [any Filter]) -> NetworkAgent {
        let adding = ClosureFilter(.hop) { exchange, next in
            var exchange = exchange
            exchange.http.headers.set("X-Key", key, sensitive: true)
            exchange.http.headers["Cookie"] = "sid=1; lb=2"
            return try await next(exchange)
        }
        return NetworkAgent(baseURL: base, transport: transport, filters: filters + [adding])
    }

    @Test(
        "a filter's pin rejects another user's request before it is sent, and receives each cookie as a separate mark")
    func admitted() async throws {
        let (transport, seen) = (StubTransport.stub(.text("x")), Log<Set<UserMark>>())
        let pinning = Pinning { marks in
            seen.add(marks)
            return marks.contains(UserMark("ada", source: "x-key"))
        }
        _ = try await agent("ada", transport, [pinning]).send(Pinned())
        await #expect(throws: Other.self) { _ = try await agent("bob", transport, [pinning]).send(Pinned()) }
        #expect(transport.received.map { $0.headers["X-Key"] } == ["ada"])
        let cookies = [UserMark("=1", source: "cookie sid"), UserMark("=2", source: "cookie lb")]
        #expect(seen.count == 2 && seen.all.allSatisfy { $0.isSuperset(of: cookies) })
    }

    @Test("a request without the filter that compares isn't refused")
    func without() async throws {
        let transport = StubTransport.stub(.text("x"))
        _ = try await agent("bob", transport, [Pinning { _ in false }]).send(Call<String>(.get, "items"))
        #expect(transport.received.count == 1)
    }

    @Test("sessions keep one user for an operation and for the operations that contain it")
    func nested() throws {
        let (outer, key) = (UserPin(), CallKey<Int>())
        let inner = UserPin(within: outer) { _ in }
        #expect(inner.once(key, 1) == 1 && outer.value(of: key) == 1)
        #expect(UserPin(within: outer) { _ in }.value(of: key) == 1)
        #expect(UserPin(within: outer) { _ in }.once(key, 2) == 1)
        let (composite, other) = (UserPin(sessionsOnly: true), CallKey<Int>())
        #expect(UserPin(within: composite) { _ in }.once(other, 0, isOfUser: false) == 0)
        #expect(composite.value(of: other) == nil, "nobody's request doesn't count for a composite")
        #expect(UserPin(within: composite) { _ in }.once(other, 1) == 1 && composite.value(of: other) == 1)
    }

    @Test("the user of a request is found without sending it, by filters that change requests")
    func marks() async throws {
        let (transport, accessory) = (StubTransport.stub(.text("x")), RecordingAccessory())
        let agent = NetworkAgent(baseURL: base, transport: transport, accessories: [accessory])
        #expect(
            try await agent.userMarks(for: Keyed(), options: CallOptions()) == [
                UserMark("Bearer ada", source: "authorization")
            ])
        #expect(try await agent.userMarks(for: Call<String>(.get, "items"), options: CallOptions()) == [])
        #expect(transport.received.isEmpty && accessory.names().isEmpty)
    }
}
