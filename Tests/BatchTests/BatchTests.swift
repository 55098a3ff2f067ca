import Errand
import ErrandBatch
import ErrandTesting
import Testing

@Suite(.endsInTime, .leakChecked)
struct BatchTests {
    @Test("three requests of different types return a tuple in their order, regardless of which ends first")
    func tuple() async throws {
        let order = [Gate(), Gate(isOpen: true)]
        let shop = Shop { id in
            try await order[id].wait()
            order[0].open()
        }
        let (late, feed, early) = try await shop.agent.run(Batch(GetUser(id: 0), GetFeed(), GetUser(id: 1)))
        #expect(late.value.id == 0)
        #expect(feed.value == ["news"])
        #expect(early.value.id == 1)
        #expect(early.http.status == 200)
        #expect(shop.recording.problems() == [])
    }

    @Test("a list returns responses in the order of its requests")
    func list() async throws {
        let shop = Shop { id in for _ in 0..<(7 - id % 7) { await Task.yield() } }
        let ids = Array((0..<40).reversed())
        let users = try await shop.agent.run(Batch(ids.map(GetUser.init)))
        #expect(users.map(\.value.id) == ids)
    }

    @Test("a list of several types that is made at run time returns responses in its order")
    func mixedList() async throws {
        let responses = try await Shop().agent.run(Batch(mixed: [GetUser(id: 3), GetFeed(), GetText()]))
        #expect(responses.count == 3)
        #expect(responses[0].value as? User == User(id: 3))
        #expect(responses[1].value as? [String] == ["news"])
        #expect(responses[2].value as? String == "words")
    }

    @Test(
        "all parts run concurrently as children of a batch that is registered first, even if it isn't retained"
    )
    func start() async throws {
        let gate = Gate()
        let shop = Shop { _ in try await gate.wait() }
        do { shop.agent.start(running: Batch((1...4).map(GetUser.init), label: "start page")) }
        try await gate.reached(by: 4)
        let running = shop.agent.activities
        let batch = try #require(running.first { $0.kind == .batch })
        #expect(batch.label == "start page")
        #expect(batch.parent == nil)
        #expect(running.filter { $0.parent == batch.id }.count == 4)
        #expect(shop.recording.records().first?.activity == batch.id)
        gate.open()
        try await shop.recording.waitUntilQuiet()
        #expect(shop.agent.activities.isEmpty)
        #expect(shop.recording.names(.batch) == ["willStart", "willStop", "didStop"])
        #expect(shop.recording.problems() == [])
    }

    @Test("a request inside a batch has no callbacks, and a batch isn't a request")
    func noRequest() {
        let batch: Any = Batch(GetUser(id: 1), GetFeed())
        #expect(!(batch is any Request))
    }

    @Test("an empty batch succeeds at once and has both its events")
    func empty() async throws {
        let shop = Shop()
        let none = try await shop.agent.run(Batch([GetUser]()))
        let collected = try await shop.agent.run(Batch([GetUser](), policy: .collectAll))
        let nothing: Void = try await shop.agent.run(Batch())
        #expect(none.isEmpty && collected.isEmpty && nothing == ())
        #expect(
            shop.recording.names(.batch)
                == Array(repeating: ["willStart", "willStop", "didStop"], count: 3).flatMap(\.self))
    }

    @Test("a request that is in a batch twice is sent twice")
    func twice() async throws {
        let shop = Shop()
        let user = GetUser(id: 5)
        let (a, b) = try await shop.agent.run(Batch(user, user))
        #expect(a.value == b.value)
        #expect(shop.recording.outcomes == ["success", "success"])
    }

    @Test("a batch sent again, at the same time or after a failure, is a separate activity")
    func again() async throws {
        let fails = Gate()
        let shop = Shop { id in if id == 2, !fails.isOpen { throw ErrandError(.connectionLost, "gone") } }
        let batch = Batch([1, 2].map(GetUser.init))
        await #expect(throws: BatchError.self) { try await shop.agent.run(batch) }
        fails.open()
        async let first = shop.agent.run(batch)
        async let second = shop.agent.run(batch)
        let both = try await (first, second)
        #expect(both.0.map(\.value) == both.1.map(\.value))
        #expect(shop.recording.names(.batch).filter { $0 == "didStop" }.count == 3)
        #expect(shop.recording.problems() == [])
    }

    @Test("a call's tags reach the batch and every part, so one condition cancels all of them")
    func tags() async throws {
        let gate = Gate()
        let shop = Shop { _ in try await gate.wait() }
        let tags = Tags().with(Screen.self, "profile")
        let handle = shop.agent.start(
            running: Batch([1, 2].map(GetUser.init)), options: CallOptions(tags: tags, label: "page"))
        try await gate.reached(by: 2)
        #expect(handle.activity.label == "page")
        #expect(shop.agent.cancelAll { $0.tags[Screen.self] == "other" } == 0)
        #expect(shop.agent.cancelAll { $0.tags[Screen.self] == "profile" } > 0)
        await #expect(throws: ErrandError.self) { try await handle.value }
        #expect(shop.recording.outcomes == ["cancelled", "cancelled"])
    }

    @Test("the results report whether all, some or none came from a cache")
    func cache() async throws {
        let filter = ClosureFilter { exchange, next in
            var response = try await next(exchange)
            if exchange.request is GetUser { response.source = .stored(age: .seconds(1), reason: "test") }
            return response
        }
        let stub = StubTransport { request in
            request.userID == nil ? .json("[]") : .json(#"{"id":1}"#)
        }
        let agent = NetworkAgent(baseURL: "https://shop.example", transport: stub, filters: [filter])
        let (user, feed) = try await agent.run(Batch(GetUser(id: 1), GetFeed()))
        #expect(CacheShare(user, feed) == .part)
        #expect(CacheShare(user) == .all)
        #expect(CacheShare(feed) == .nothing)
        let batch = Batch([GetUser(id: 1), GetUser(id: 2)], policy: .collectAll)
        let results = try await agent.run(batch)
        #expect(batch.cacheShare(of: results) == .all)
        #expect(CacheShare(results + [.failure(Refused())]) == .all)
        #expect(CacheShare([Response<User>]()) == .nothing)
        #expect(CacheShare(Result<_, any Error>.success(user), Result<_, any Error>.success(feed)) == .part)
    }

    @Test("it runs on your own agent that only implements send")
    func fake() async throws {
        let agent = FakeAgent { request, options in
            #expect(options.parent?.kind == .batch)
            if let user = request as? GetUser { return User(id: user.id) }
            return ["fake"]
        }
        let (user, feed) = try await agent.run(Batch(GetUser(id: 9), GetFeed()))
        #expect(user.value.id == 9 && feed.value == ["fake"])
        let failing = FakeAgent { request, _ in
            guard let user = request as? GetUser, user.id != 2 else { throw Refused() }
            return User(id: user.id)
        }
        let results = try await failing.run(Batch((1...3).map(GetUser.init), policy: .collectAll))
        #expect(results.map { try? $0.get().value.id } == [1, nil, 3])
        let error = await #expect(throws: BatchError.self) {
            try await failing.run(Batch((1...3).map(GetUser.init)))
        }
        #expect(error?.index == 1)
    }
}
