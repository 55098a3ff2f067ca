import Errand
import ErrandCoalescing
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import Synchronization
import Testing

@Suite("Sharing an exchange", .leakChecked, .endsInTime) struct SharingTests {
    @Test("1,000 equal requests at the same time send one request, and all get its bytes")
    func thousand() async throws {
        let server = try TestServer()
        let gate = Gate()
        server.on("/feed", .text("one body").waiting(for: gate))
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.coalescing], accessories: [recorder])
        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1000 { group.addTask { try await agent.text("feed") } }
            try await recorder.joined(by: 999)
            gate.open()
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(bodies == ["one body": 1000])
        #expect(server.received.count == 1)
        #expect(recorder.outcomes.count { $0 == "success" } == 1000)
        #expect(recorder.problems().isEmpty)
    }

    @Test("The exchange continues when the request that began it is cancelled")
    func leaderCancelled() async throws {
        let (service, recorder) = (Service(), RecordingAccessory())
        let agent = NetworkAgent(service.transport, accessories: [recorder], .coalescing)
        let first = agent.start(Call<String>(.get, "x"))
        try await service.gate.reached()
        let second = agent.start(Call<String>(.get, "x"))
        try await recorder.joined(by: 1)
        first.cancel()
        await #expect(throws: ErrandError.self) { try await first.value }
        #expect(recorder.outcomes == ["cancelled"])
        #expect(second.isRunning)
        service.gate.open()
        #expect(try await second.value.value == "1 /x none")
        #expect(service.exchanges == 1)
    }

    @Test("A call's filter that records users sees the users of an exchange that another call began")
    func recordedUsers() async throws {
        let (service, recorder, marks) = (Service(), RecordingAccessory(), Log<Set<UserMark>?>())
        let marking = ClosureFilter(.hop) { exchange, next in
            var exchange = exchange
            exchange.assign(to: UserMark("ada", source: "account"))
            return try await next(exchange)
        }
        let recording = ClosureFilter(.call) { exchange, next in
            let (recorded, record) = exchange.recordingUsers()
            let response = try await next(recorded)
            marks.add(record.marks)
            return response
        }
        let agent = NetworkAgent(service.transport, accessories: [recorder], .coalescing, marking)
        let first = agent.start(Call<String>(.get, "x"))
        try await service.gate.reached()
        let second = agent.start(Call<String>(.get, "x"), options: CallOptions(filters: [recording]))
        try await recorder.joined(by: 1)
        service.gate.open()
        _ = try await (first.value, second.value)
        #expect(marks.all == [Set([UserMark("ada", source: "account")])])
        #expect(service.exchanges == 1)
    }

    @Test("The exchange is cancelled when the last request is cancelled, and the next request begins a new exchange")
    func lastCancelled() async throws {
        let recorder = RecordingAccessory()
        let (gate, cancelled) = (Gate(), Log<Bool>())
        let count = Counter()
        let transport = StubTransport(maximumRecordedRequests: 0) { _ in
            if count.increment() > 1 { return .text("again") }
            do { try await gate.wait() } catch {
                cancelled.add(Task.isCancelled)
                throw error
            }
            return .text("late")
        }
        let agent = NetworkAgent(transport, accessories: [recorder], .coalescing)
        let handles = [agent.start(Call<String>(.get, "x")), agent.start(Call<String>(.get, "x"))]
        try await gate.reached()
        try await recorder.joined(by: 1)
        for handle in handles { handle.cancel() }
        for handle in handles { _ = await handle.result }
        try await cancelled.wait { $0 == [true] }
        #expect(try await agent.text() == "again")
        #expect(recorder.outcomes == ["cancelled", "cancelled", "success"])
    }

    @Test("A failure reaches each of the requests once")
    func failure() async throws {
        let (service, recorder) = (Service(failing: true), RecordingAccessory())
        let agent = NetworkAgent(service.transport, accessories: [recorder], .coalescing)
        let handles = (0..<5).map { _ in agent.start(Call<String>(.get, "x")) }
        try await service.gate.reached()
        try await recorder.joined(by: 4)
        service.gate.open()
        for handle in handles {
            let error = await #expect(throws: ErrandError.self) { try await handle.value }
            #expect(error?.code == .connectionLost)
            #expect(error?.activity == handle.activity.id)
        }
        #expect(service.exchanges == 1)
        #expect(recorder.outcomes == Array(repeating: "failure", count: 5))
        #expect(recorder.problems().isEmpty)
    }

    @Test("Each request keeps its own deadline, including the first")
    func deadlines() async throws {
        let (service, time, recorder) = (Service(), ManualTimeSource(), RecordingAccessory())
        let agent = NetworkAgent(service.transport, time: time, accessories: [recorder], .coalescing)
        func request(_ seconds: Int) -> Call<String> {
            Call<String>(.get, "x") {
                $0.timeout = .seconds(600)
                $0.deadline = .seconds(seconds)
            }
        }
        let handles = [request(5), request(50), request(20)].map { agent.start($0) }
        try await recorder.joined(by: 2)
        try await service.gate.reached()
        for (seconds, index) in [(6, 0), (21, 2)] {
            try await time.waitForSleepers()
            time.advance(by: .seconds(seconds))
            let error = await #expect(throws: ErrandError.self) { try await handles[index].value }
            #expect(error?.code == .deadlineExceeded)
        }
        service.gate.open()
        #expect(try await handles[1].value.value == "1 /x none")
        #expect(service.exchanges == 1)
    }

    @Test("Progress reaches each of the requests")
    func progress() async throws {
        let (gate, recorder) = (Gate(), RecordingAccessory())
        let server = try TestServer()
        server.on("/x", .data(Data(repeating: 1, count: 100_000)).waiting(for: gate))
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.coalescing], accessories: [recorder])
        let last = Mutex<[Int: Int64]>([:])
        let handles = (0..<3).map { number in
            agent.start(
                Call<Data>(.get, "x"),
                options: CallOptions(progress: { progress in last.withLock { $0[number] = progress.received } }))
        }
        try await recorder.joined(by: 2)
        gate.open()
        for handle in handles {
            #expect(try await handle.value.value.count == 100_000)
            #expect(handle.progress.received == 100_000)
        }
        #expect(last.withLock { $0 } == [0: 100_000, 1: 100_000, 2: 100_000])
    }

    @Test("Each activity that doesn't join sends one request, and activities that join don't report sending a request")
    func events() async throws {
        let (service, recorder) = (Service(), RecordingAccessory())
        let agent = NetworkAgent(service.transport, accessories: [recorder], .coalescing)
        let first = agent.start(Call<String>(.get, "x"))
        try await service.gate.reached()
        let second = agent.start(Call<String>(.get, "x"))
        try await recorder.joined(by: 1)
        service.gate.open()
        _ = try await (first.value, second.value)
        #expect(recorder.names(of: first.activity.id).contains("sending"))
        #expect(!recorder.names(of: second.activity.id).contains("sending"))
        let note = recorder.events(of: second.activity.id).compactMap { event -> ActivityNote? in
            if case .note(let note) = event { note } else { nil }
        }.first
        #expect(note?.details as? ActivityID == first.activity.id)
    }

    @Test("After a request that writes, later requests don't join an exchange that began before it")
    func writes() async throws {
        let gate = Gate()
        let value = Mutex("old")
        let transport = StubTransport { request in
            if request.method == .post {
                value.withLock { $0 = "new" }
                return .status(200)
            }
            let text = StubResponse.text(value.withLock { $0 })
            return value.withLock { $0 } == "old" ? text.waiting(for: gate) : text
        }
        let agent = NetworkAgent(transport, .coalescing)
        let before = agent.start(Call<String>(.get, "x"))
        try await gate.reached()
        try await agent.send(Call<Void>(.post, "x"))
        #expect(try await agent.text() == "new")
        gate.open()
        #expect(try await before.value.value == "old")
    }

    @Test("A request that a filter sends on behalf of an equal request doesn't wait for that request")
    func within() async throws {
        let holder = Mutex<NetworkAgent?>(nil)
        let depth = Counter()
        let nested = ClosureFilter(.hop) { exchange, next in
            if depth.increment() == 1, let agent = holder.withLock({ $0 }) { _ = try await agent.text() }
            return try await next(exchange)
        }
        let transport = StubTransport(.text("done"))
        let agent = NetworkAgent(transport, .coalescing, nested)
        holder.withLock { $0 = agent }
        #expect(try await agent.text() == "done")
        #expect(transport.received.count == 2)
        holder.withLock { $0 = nil }
    }

    @Test("Requests of two agents that share a filter are not equal")
    func agents() async throws {
        let (shared, one, two) = (CoalescingFilter(), Service(), Service())
        let (first, second) = (NetworkAgent(one.transport, shared), NetworkAgent(two.transport, shared))
        let handles = [first.start(Call<String>(.get, "x")), second.start(Call<String>(.get, "x"))]
        try await one.gate.reached()
        try await two.gate.reached()
        one.gate.open()
        two.gate.open()
        for handle in handles { _ = try await handle.value }
    }
}
