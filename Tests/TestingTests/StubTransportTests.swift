import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("The stub transport", .endsInTime, .leakChecked)
struct StubTransportTests {
    struct User: Codable, Sendable, Equatable {
        let id: Int
        let name: String
    }

    struct GetUser: Request {
        typealias Output = User
        let id: Int
        var path: String { "users/\(id)" }
    }

    struct Upload: Request {
        typealias Output = Void
        var body: RequestBody
        var method: HTTPMethod { .put }
        var path: String { "files/1" }
    }

    private func agent(_ stub: StubTransport, time: some TimeSource = SystemTimeSource()) -> NetworkAgent {
        NetworkAgent(baseURL: "https://api.example.com/v1", transport: stub, time: time)
    }

    @Test("a rule serves a typed request through an agent")
    func typed() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/users/7", response: .json(#"{"id":7,"name":"Ada"}"#))
        let response = try await agent(stub).send(GetUser(id: 7))
        #expect(response.value == User(id: 7, name: "Ada") && response.http.status == 200)
        #expect(stub.received.map(\.url.absoluteString) == ["https://api.example.com/v1/users/7"])
    }

    @Test("a stub can be created from a constant, from rules, or from a handler")
    func oneWord() async throws {
        let base = "https://example.com"
        #expect(try await NetworkAgent(baseURL: base, transport: .stub(.text("a"))).send(Get()).value == "a")
        let rules = NetworkAgent(
            baseURL: base,
            transport: .stub(
                StubRule(.get, "/users/*", response: .text("b")), StubRule(nil, "/c", response: .text("c"))))
        #expect(try await rules.send(Get()).value == "b")
        #expect(try await rules.send(Get(path: "c")).value == "c")
        let handler = NetworkAgent(baseURL: base, transport: .stub { request in .text(request.url.path) })
        #expect(try await handler.send(Get()).value == "/users/7")
        await #expect(throws: UnmatchedRequest.self) {
            try await NetworkAgent(baseURL: base, transport: .stub).send(Get())
        }
    }

    @Test("the last matching rule applies, and its responses are used in order, with the last one repeated")
    func turns() async throws {
        let stub = StubTransport(.text("default"))
        stub.on("*", response: .text("any"))
        stub.on(.get, "*/7", response: .text("one"), .text("two"))
        let agent = agent(stub)
        var values: [String] = []
        for path in ["users/7", "users/7", "users/7", "users/8"] {
            values.append(try await agent.send(Get(path: path)).value)
        }
        #expect(values == ["one", "two", "two", "any"])
        #expect(stub.received.count == 4)
    }

    @Test("method, path, host, query, headers and body are matched")
    func matching() async throws {
        let stub = StubTransport(.text("none"))
        stub.on(.get, "/v1/a", query: ["q": "x y", "p": "2"], response: .text("query"))
        stub.on(.get, "/v1/a", headers: ["x-key": "k"], response: .text("header"))
        stub.on(.put, "/v1/files/1", body: Data("hi".utf8), response: .text("body"))
        stub.on(.get, "https://other.example.com/v1/a", response: .text("host"))
        let agent = agent(stub)
        #expect(try await agent.send(Get(path: "a")).value == "none")
        #expect(try await agent.send(Get(path: "a", query: ["p": 2, "q": "x y", "z": 1])).value == "query")
        #expect(try await agent.send(Get(path: "a", headers: ["X-Key": "k"])).value == "header")
        #expect(try await agent.send(Get(path: "https://other.example.com/v1/a")).value == "host")
        #expect(try await agent.send(Upload(body: .text("hi"))).http.text() == "body")
        #expect(try await agent.send(Upload(body: .text("ho"))).http.text() == "none")
    }

    @Test("an unmatched request throws the nearest rule and every difference, secrets masked")
    func unmatched() async throws {
        let stub = StubTransport()
        stub.on(.post, "/v1/nothing/like/it", response: .text("far"))
        stub.on(.get, "/v1/users/8", headers: ["Authorization": "Bearer right"], response: .text("near"))
        let agent = agent(stub)
        let error = await #expect(throws: UnmatchedRequest.self) {
            try await agent.send(Get(headers: ["Authorization": "Bearer s3cret"], query: ["token": "s3cret"]))
        }
        #expect(error?.nearest == "GET /v1/users/8")
        #expect(
            error?.differences == [
                "path: expected /v1/users/8, got /v1/users/7",
                "header: expected Authorization: •••, got Authorization: •••",
            ])
        let text = "\(try #require(error))"
        #expect(text.contains("GET https://api.example.com/v1/users/7") && text.contains("path: expected"))
        #expect(!text.contains("s3cret") && !text.contains("right"))
    }

    @Test("differences in query and body are described")
    func differences() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/users/7", query: ["page": "2"], response: .text("no"))
        let query = await #expect(throws: UnmatchedRequest.self) { try await agent(stub).send(Get(query: ["page": 3])) }
        #expect(query?.differences == ["query page: expected 2, got 3"])
        let other = StubTransport()
        other.on(.put, "/v1/files/1", body: Data("hello".utf8), response: .text("no"))
        let body = await #expect(throws: UnmatchedRequest.self) {
            try await agent(other).send(Upload(body: .text("help")))
        }
        #expect(body?.differences == ["body: expected 5 bytes, got 4, different from byte 3"])
    }

    @Test("a streamed body is read and recorded")
    func streamedBody() async throws {
        let stub = StubTransport(.status(204))
        let body = RequestBody.stream { HTTPBody(Data("streamed".utf8)) }
        _ = try await agent(stub).send(Upload(body: body))
        #expect(stub.received.first?.body.data == Data("streamed".utf8))
        #expect(stub.received.first?.body.contentType == "application/octet-stream")
    }

    @Test("a delay passes on the agent's time, and a delay longer than the timeout throws timedOut", arguments: [3, 7])
    func timeout(_ delay: Int) async throws {
        let time = ManualTimeSource()
        let agent = agent(StubTransport(.text("late").delayed(by: .seconds(delay))), time: time)
        let task = Task { try await agent.send(Get(timeout: .seconds(5))).value }
        try await time.waitForSleepers()
        time.advance(by: .seconds(min(delay, 5)))
        let result = await task.result
        if delay < 5 {
            #expect(try result.get() == "late")
        } else {
            let error = #expect(throws: ErrandError.self) { try result.get() }
            #expect(error?.code == .timedOut)
        }
    }

    @Test("a response waits for a gate, but no longer than the timeout")
    func gate() async throws {
        let time = ManualTimeSource()
        let gate = Gate()
        let agent = agent(StubTransport(.text("through").waiting(for: gate)), time: time)
        let late = Task { try await agent.send(Get(timeout: .seconds(5))).value }
        try await time.waitForSleepers()
        time.advance(by: .seconds(5))
        let error = await #expect(throws: ErrandError.self) { try await late.value }
        #expect(error?.code == .timedOut)
        let task = Task { try await agent.send(Get()).value }
        try await gate.reached(by: 2)
        gate.open()
        #expect(try await task.value == "through")
    }

    @Test("cancelling ends a delay at once")
    func cancelled() async throws {
        let time = ManualTimeSource()
        let agent = agent(StubTransport(.text("late").delayed(by: .seconds(1))), time: time)
        let task = Task { try await agent.send(Get()).value }
        try await time.waitForSleepers()
        task.cancel()
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.isCancelled == true && time.sleeperCount == 0)
    }

    @Test("a failure is thrown unchanged")
    func failure() async throws {
        struct Broken: Error {}
        await #expect(throws: Broken.self) { try await agent(StubTransport(.failure(Broken()))).send(Get()) }
        let lost = StubTransport(.failure(ErrandError(.connectionLost, "pulled")))
        let error = await #expect(throws: ErrandError.self) { try await agent(lost).send(Get()) }
        #expect(error?.code == .connectionLost)
    }

    @Test("chunks are created when they are pulled, and can end with a failure")
    func stream() async throws {
        struct GetStream: Request {
            typealias Output = HTTPResponse
            var delivery: BodyDelivery { .stream }
        }
        let pulled = Atomic(0)
        let cancelled = Gate()
        let response = StubResponse.stream(onCancel: { cancelled.open() }) {
            pulled.add(1, ordering: .relaxed)
            return Data("x".utf8)
        }
        do {
            let body = try await agent(StubTransport(response)).send(GetStream()).value.body
            #expect(pulled.load(ordering: .relaxed) == 0)
            var iterator = body.makeAsyncIterator()
            _ = try await iterator.next()
            _ = try await iterator.next()
            #expect(pulled.load(ordering: .relaxed) == 2)
        }
        try await cancelled.wait()

        let lost = StubResponse.chunks(
            ["a", "b"].map { Data($0.utf8) }, failure: ErrandError(.connectionLost, "pulled"))
        #expect(
            await #expect(throws: ErrandError.self) { try await agent(StubTransport(lost)).send(Get()) }?.code
                == .connectionLost)
        let time = ManualTimeSource()
        let slow = agent(StubTransport(.chunks(["a", "b", "c"].map { Data($0.utf8) }, every: .seconds(1))), time: time)
        let task = Task { try await slow.send(Get()).value }
        for _ in 0..<2 {
            try await time.waitForSleepers()
            time.advance(by: .seconds(1))
        }
        #expect(try await task.value == "abc")
    }

    @Test("HEAD has no body, and reports reach accessories")
    func reporting() async throws {
        struct Head: Request {
            typealias Output = HTTPResponse
            var method: HTTPMethod { .head }
        }
        let recording = RecordingAccessory()
        let stub = StubResponse.text("x").reporting(.informational(status: 103, headers: [:])).header("X-A", "1")
            .status(203)
        let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub(stub), accessories: [recording])
        let response = try await agent.send(Head()).value
        #expect(response.data.isEmpty && response.status == 203 && response.headers["X-A"] == "1")
        try await recording.waitUntilQuiet()
        #expect(recording.names(transport: true).contains("informational"))
    }

    @Test("it keeps the last requests, up to its limit")
    func bounded() async throws {
        let stub = StubTransport(.text("x"), maximumRecordedRequests: 2)
        let none = StubTransport(.text("x"), maximumRecordedRequests: 0)
        for page in 0..<7 {
            _ = try await agent(stub).send(Get(path: "\(page)"))
            _ = try await agent(none).send(Get(path: "\(page)"))
        }
        #expect(stub.received.map(\.url.lastPathComponent) == ["5", "6"])
        #expect(none.received.isEmpty)
        let unlimited = StubTransport(.text("x"), maximumRecordedRequests: .max)
        for _ in 0..<3 { _ = try await agent(unlimited).send(Get(path: "a")) }
        #expect(unlimited.received.count == 3)
    }

    @Test("a thousand concurrent requests through one agent each get their own response")
    func parallel() async throws {
        let agent = agent(StubTransport { request in .text(request.url.lastPathComponent) })
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<1000 {
                group.addTask { try await agent.send(Get(path: "\(index)")).value == "\(index)" }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
