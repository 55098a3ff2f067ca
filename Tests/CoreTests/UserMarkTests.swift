import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("Owners of requests", .leakChecked) struct UserMarkTests {
    private let ada = UserMark("ada-canary", source: "key")

    /// Returns the marks that the last hop filter saw on each hop.
    private func marks(
        _ filters: [any Filter], _ transport: StubTransport = .stub(.text("x")), headers: HTTPHeaders = [:]
    ) async throws -> [Set<UserMark>] {
        let log = Log<Set<UserMark>>()
        let last = ClosureFilter(.hop) { exchange, next in
            log.add(exchange.userMarks)
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: transport, filters: filters + [last])
        _ = try await agent.send(Plain { $0.headers = headers })
        return log.all
    }

    @Test("each sensitive field is a mark, with any name; other fields aren't marks")
    func implied() async throws {
        var headers: HTTPHeaders = ["Authorization": "a", "Cookie": "c=1", "X-Plain": "p"]
        headers.set("X-Device-Key", "d", sensitive: true)
        let expected: Set = [
            UserMark("a", source: "authorization"), UserMark("c=1", source: "cookie"),
            UserMark("d", source: "x-device-key"),
        ]
        #expect(try await marks([], headers: headers) == [expected])
        #expect(try await marks([], headers: ["X-Plain": "p"]) == [[]])
    }

    @Test("users who take turns on one agent keep their own marks, also with the same declared mark")
    func alternating() async throws {
        let log = Log<Set<UserMark>>()
        let filter = ClosureFilter(.hop) { [ada] exchange, next in
            log.add(exchange.userMarks)
            var exchange = exchange
            exchange.assign(to: ada)
            log.add(exchange.userMarks)
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: StubTransport.stub(.text("x")), filters: [filter])
        for name in ["a", "b", "a", "A", "a"] {
            _ = try await agent.send(Plain { $0.headers = ["Authorization": name] })
        }
        _ = try await agent.send(Plain { $0.headers = ["Cookie": "a"] })
        _ = try await agent.send(Plain { $0.headers = ["Authorization": "a", "Cookie": "a"] })
        let own = ["a", "b", "a", "A", "a"].map { Set([UserMark($0, source: "authorization")]) }
        let cookie: Set = [UserMark("a", source: "cookie")]
        let expected = own + [cookie, cookie.union(own[0])]
        #expect(log.all == expected.flatMap { [$0, $0.union([ada])] })
    }

    @Test(
        "a declared mark is kept across hops, and replaces the marks of unchanged fields that carry it"
    )
    func declared() async throws {
        func signing(_ value: String, then other: String? = nil) -> ClosureFilter {
            ClosureFilter { [ada] exchange, next in
                var exchange = exchange
                let field = HTTPHeaders.Field("X-Sign", value, sensitive: true)
                exchange.http.headers.set(field.name, field.value, sensitive: true)
                exchange.assign(to: ada, carriedBy: [field])
                if let other { exchange.http.headers["X-Sign"] = other }
                return try await next(exchange)
            }
        }
        #expect(try await marks([signing("1")]) == [[ada]])
        #expect(try await marks([signing("1", then: "2")]) == [[ada, UserMark("2", source: "x-sign")]])
        // Other bytes for the same characters are another value.
        let other = UserMark("e\u{301}", source: "x-sign")
        #expect(try await marks([signing("\u{E9}", then: "e\u{301}")]) == [[ada, other]])
    }

    @Test("a redirect to another origin removes the marks, a redirect within the origin keeps them")
    func redirected() async throws {
        let marking = ClosureFilter { [ada] exchange, next in
            var exchange = exchange
            exchange.assign(to: ada)
            return try await next(exchange)
        }
        let stub = StubTransport { request in
            switch request.url.lastPathComponent {
            case "plain": .redirect(to: "/near")
            case "near": .redirect(to: "https://far.example/x")
            default: .text("x")
            }
        }
        #expect(try await marks([marking], stub) == [[ada], [ada], []])
    }

    @Test("no description of a mark reveals the user")
    func redacted() {
        var text = "\(ada) \(ada.debugDescription) \(Set([ada]))"
        dump(ada, to: &text)
        #expect(!text.contains("canary") && text.contains("key •••"))
    }

    @Test("a record has exactly the marks of the sent requests")
    func recorded() async throws {
        let found = Log<Set<UserMark>?>()
        let recording = ClosureFilter { exchange, next in
            let (recorded, record) = exchange.recordingUsers()
            let response = try await next(recorded)
            found.add(record.marks)
            return response
        }
        let signingIn = ClosureFilter(.hop) { exchange, next in
            for user in ["old", "new"] {
                #expect(exchange.isRecordingUsers)
                var (attempt, record) = exchange.recordingUsers()
                attempt.http.headers["Authorization"] = user
                let response = try await next(attempt)
                if user == "new" {
                    record.commit()
                    return response
                }
            }
            return try await next(exchange)
        }
        _ = try await marks([recording, signingIn])
        _ = try await marks([recording, ClosureFilter { exchange, _ in HTTPResponse(to: exchange.http, status: 200) }])
        #expect(found.all == [[UserMark("new", source: "authorization")], nil])
    }

    @Test("a value of a call is the same in all attempts, hops and detached work")
    func once() async throws {
        let (key, count, seen, done) = (CallKey<Int>(), Counter(), Log<Int>(), Gate())
        let twice = ClosureFilter { exchange, next in
            _ = try await next(exchange)
            exchange.detach("later") { exchange in
                seen.add(exchange.once(key) { count.increment() })
                done.open()
            }
            return try await next(exchange)
        }
        let asking = ClosureFilter(.hop) { exchange, next in
            seen.add(exchange.once(key) { count.increment() })
            #expect(exchange.value(of: key) != nil && exchange.value(of: CallKey<Int>()) == nil)
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")), filters: [twice, asking])
        _ = try await agent.send(Plain())
        try await done.wait()
        #expect(seen.all == [1, 1, 1])
        _ = try await agent.send(Plain { $0.filters = [] })
        #expect(seen.all.contains(2))
    }

    @Test("a value of a call keeps its type, even if it is an optional, a class or a protocol")
    func typesOfValues() async throws {
        let (number, object, any) = (CallKey<Int?>(), CallKey<Counter>(), CallKey<any Hashable & Sendable>())
        let counter = Counter()
        let asking = ClosureFilter { exchange, next in
            #expect(exchange.once(number) { nil } == nil && exchange.value(of: number) == .some(nil))
            #expect(exchange.once(object) { counter } === counter && exchange.value(of: object) === counter)
            #expect(exchange.once(any) { "a" } as? String == "a" && exchange.value(of: any) as? String == "a")
            #expect(exchange.once(any) { 1 } as? String == "a")
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")), filters: [asking])
        _ = try await agent.send(Plain())
    }

    @Test("a filter knows which filters follow in its stage, and can insert another after them")
    func following() async throws {
        let log = Log<String>()
        @Sendable func sign(_ name: String, _ traits: FilterTraits, _ stages: FilterStages = .hop) -> Trait {
            Trait(name: name, traits: traits, stages: stages, log: log)
        }
        let first = ClosureFilter(.hop) { exchange, next in
            #expect(next.following == [.caches, .signs])
            return try await next.inserting(sign("put", []), behind: .caches)(exchange)
        }
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("x")),
            filters: [
                sign("call", .retries, .call), first, sign("a", .caches), sign("b", .signs), sign("w", .shares, .wire),
            ])
        _ = try await agent.send(Plain())
        #expect(log.all == ["call", "a", "put", "b", "w"])
    }

    private struct Trait: Filter {
        let name: String
        let traits: FilterTraits
        let stages: FilterStages
        let log: Log<String>

        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            log.add(name)
            return try await next(exchange)
        }
    }
}
