import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("An operation of several calls keeps its user", .leakChecked) struct UserPinTests {
    /// Sends the requests of one operation, each after a change of the app's header fields. Returns the error code of
    /// each.
    private func codes(
        _ steps: [HTTPHeaders], paths: [String]? = nil, pin: UserPin = UserPin(), marks: [UserMark?] = [],
        _ transport: StubTransport = .stub(.text("x"))
    ) async -> [ErrandError.Code?] {
        let turn = Counter()
        let adding = ClosureFilter(.hop) { exchange, next in
            var exchange = exchange
            let step = steps[turn.value % steps.count]
            for field in step { exchange.http.headers.set(field.name, field.value, sensitive: true) }
            if let mark = marks.isEmpty ? nil : marks[turn.value % marks.count] {
                exchange.assign(to: mark, carriedBy: Array(exchange.http.headers))
            }
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: transport, filters: [adding])
        agent.configure { $0.trustedOrigins = .any }
        var codes: [ErrandError.Code?] = []
        for index in steps.indices {
            let call = Call<String>(.get, paths?[index] ?? "items")
            do {
                _ = try await agent.send(call, options: CallOptions().pinned(to: pin))
                codes.append(nil)
            } catch { codes.append((error as? ErrandError)?.code) }
            turn.increment()
        }
        return codes
    }

    @Test(
        "a request with another credential, or without one, isn't sent, and the first user's requests continue"
    )
    func credential() async {
        let transport = StubTransport.stub(.text("x"))
        let codes = await codes(
            [["X-Key": "ada"], ["X-Key": "bob"], [:], ["X-Key": "ada"], ["X-Key": "ada", "X-More": "m"]], transport)
        #expect(codes == [nil, .userChanged, .userChanged, nil, .userChanged])
        #expect(transport.received.map { $0.headers["X-Key"] } == ["ada", "ada"])
    }

    @Test("an operation that begins without a user can't continue with a user")
    func anonymous() async {
        #expect(await codes([[:], ["X-Key": "bob"], [:]]) == [nil, .userChanged, nil])
    }

    @Test("calls without a pin, or with different pins, aren't compared")
    func apart() async throws {
        let pin = UserPin()
        #expect(await codes([["X-Key": "ada"]], pin: pin) == [nil])
        #expect(await codes([["X-Key": "bob"]]) == [nil])
        #expect(await codes([["X-Key": "bob"]], pin: pin) == [.userChanged])
        #expect(pin.marks == [UserMark("ada", source: "x-key")])
    }

    @Test("a declared user stays the same if a field changes, and differs from another declared user")
    func declared() async {
        let (ada, bob) = (UserMark("ada", source: "account"), UserMark("bob", source: "account"))
        let codes = await codes([["X-Key": "1"], ["X-Key": "2"], ["X-Key": "2"]], marks: [ada, ada, bob])
        #expect(codes == [nil, nil, .userChanged])
    }

    @Test("a rejected first request doesn't determine the operation's user", arguments: [401, 407])
    func refused(status: Int) async {
        let count = Counter()
        let transport = StubTransport { _ in count.increment() == 1 ? .status(status) : .text("x") }
        let codes = await codes([["X-Key": "old"], ["X-Key": "new"], ["X-Key": "old"]], transport)
        #expect(codes == [.unacceptableStatus, nil, .userChanged])
    }

    @Test("each origin has its own first request, and a new origin doesn't admit another user")
    func origins() async {
        let paths = ["https://a.test/", "https://b.test/", "https://c.test/", "https://a.test/", "https://d.test/"]
        let steps: [HTTPHeaders] = [["X-Key": "ada"], [:], ["X-Key": "bob"], ["X-Key": "ada"], ["X-Key": "ada"]]
        #expect(await codes(steps, paths: paths) == [nil, nil, .userChanged, nil, nil])
    }

    // MARK: Cookies

    @Test(
        "a changed cookie or a request without cookies counts as another user, new and single missing cookies don't"
    )
    func cookies() async {
        let steps: [HTTPHeaders] = [
            ["Cookie": "s=ada; lb=1"], ["Cookie": "new=1; lb=1; s=ada"], ["Cookie": "s=ada"], ["Cookie": "s=bob; lb=1"],
            ["Cookie": "other=1"], [:], ["Cookie": "lb=1; s=ada; new=2"], ["Cookie": "lb=1"],
        ]
        #expect(
            await codes(steps) == [
                nil, nil, nil, .userChanged, .userChanged, .userChanged, .userChanged, nil,
            ])
    }

    @Test("a cookie that a response of the operation sets may change, and its new value counts")
    func rotated() async {
        let count = Counter()
        let transport = StubTransport { _ in
            let response = StubResponse.text("x")
            return count.increment() == 1 ? response.header("Set-Cookie", "s=2; Path=/; HttpOnly") : response
        }
        let steps: [HTTPHeaders] = [["Cookie": "s=1; t=1"], ["Cookie": "s=2; t=1"], ["Cookie": "s=3; t=1"]]
        #expect(await codes(steps, transport) == [nil, nil, .userChanged])
    }

    private struct Owned: OwnedRequest {
        typealias Output = String
        var path: String { "items" }
        let owners: Set<UserMark>
    }

    @Test("cookies don't count if the request names its owner")
    func owned() async throws {
        let (pin, count) = (UserPin(), Counter())
        let rotating = ClosureFilter(.hop) { exchange, next in
            var exchange = exchange
            exchange.http.headers["Cookie"] = "s=\(count.increment())"
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")), filters: [rotating])
        let options = CallOptions().pinned(to: pin)
        let ada = Owned(owners: [UserMark("ada", source: "account")])
        for _ in 0..<3 { _ = try await agent.send(ada, options: options) }
        let bob = Owned(owners: [UserMark("bob", source: "account")])
        await #expect { _ = try await agent.send(bob, options: options) } throws: {
            ($0 as? ErrandError)?.code == .userChanged && !"\($0)".contains("ada") && !"\($0)".contains("bob")
        }
    }

    // MARK: Sessions

    @Test("a session's value is shared by all calls, and its check applies to the operation")
    func sessions() throws {
        struct Gone: Error {}
        let (pin, key) = (UserPin(), CallKey<Int>())
        let isGone = Atomic(false)
        try pin.check()
        #expect(pin.value(of: key) == nil)
        #expect(pin.once(key, 1) { if isGone.load(ordering: .relaxed) { throw Gone() } } == 1)
        #expect(pin.once(key, 2) { throw Gone() } == 1 && pin.value(of: key) == 1)
        try pin.check()
        isGone.store(true, ordering: .relaxed)
        #expect(throws: Gone.self) { try pin.check() }
    }
}
