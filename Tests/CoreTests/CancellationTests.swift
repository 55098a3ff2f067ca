import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("Cancellation", .leakChecked) struct CancellationTests {
    private let json = StubResponse.json(#"{"id":7,"name":"Ada"}"#)

    @Test("before the start: no request is sent, and the events are paired")
    func before() async throws {
        let (stub, recorder) = (StubTransport(json), RecordingAccessory())
        let agent = NetworkAgent(baseURL: base, transport: stub, accessories: [recorder])
        let start = Gate()
        let task = Task {
            try? await start.wait()
            return try await agent.send(GetUser())
        }
        task.cancel()
        start.open()
        #expect(await code { try await task.value } == .cancelled)
        #expect(stub.received.isEmpty && recorder.names() == ["willStart", "willStop", "didStop"])
    }

    @Test(
        "a call can be cancelled in a filter, in the transport, and while a body is read",
        arguments: ["filter", "transport", "decode"])
    func during(place: String) async throws {
        let (gate, recorder) = (Gate(), RecordingAccessory())

        let filter = ClosureFilter { exchange, next in
            if place == "filter" { try await gate.wait() }
            return try await next(exchange)
        }
        let response = place == "transport" ? json.waiting(for: gate) : json
        let agent = NetworkAgent(baseURL: base, transport: .stub(response), filters: [filter], accessories: [recorder])
        let request = Plain<Int>(reading: { _ in
            if place == "decode" { try await gate.wait() }
            return 1
        })
        let task = Task { try await agent.send(request) }
        try await gate.reached()
        task.cancel()
        #expect(await code { try await task.value } == .cancelled)
        #expect(recorder.problems().isEmpty && agent.activities.isEmpty)
        guard case .willStop(.cancelled(.task))? = recorder.records().first(where: { $0.name == "willStop" })?.event
        else {
            return #expect(Bool(false), "the cause is not the task")
        }
    }

    @Test("the first cause counts, and a cancellation takes precedence over a response that still arrives")
    func firstCause() async throws {
        let recorder = RecordingAccessory()
        let committed = Log<String>()
        let stubborn = ClosureFilter { exchange, next in
            exchange.whenAccepted {
                committed.add("kept")
            } otherwise: {
                committed.add("dropped")
            }
            let response = try await next(exchange)
            exchange.activity.cancel()
            return response
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(json), filters: [stubborn], accessories: [recorder])
        let handle = agent.start(GetUser())
        #expect(await code { try await handle.value } == .cancelled)
        handle.cancel()
        guard case .cancelled(.activity)? = handle.outcome else { return #expect(Bool(false), "not by the activity") }
        #expect(committed.all == ["dropped"])
    }

    @Test("a filter that throws its own cancellation cancels the call")
    func within() async throws {
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(json), filters: [ClosureFilter { _, _ in throw CancellationError() }])
        let handle = agent.start(GetUser())
        #expect(await code { try await handle.value } == .cancelled)
        guard case .cancelled(.within)? = handle.outcome else { return #expect(Bool(false), "not within") }
    }

    @Test("cancelAll cancels all activities, or those of a type, a tag or a label")
    func many() async throws {
        enum Screen: TagKey { static let defaultValue = "" }
        let gate = Gate()
        let agent = NetworkAgent(baseURL: base, transport: .stub(json.waiting(for: gate)))
        let user = agent.start(GetUser())
        let home = agent.start(Plain { $0.tags[Screen.self] = "home" })
        let shop = agent.start(Plain(), options: CallOptions(tags: Tags().with(Screen.self, "shop")))
        let named = agent.start(Plain { $0.label = "special" })
        try await gate.reached(by: 4)
        #expect(agent.activities.count == 4)
        #expect(agent.cancelAll { $0.request is GetUser } == 1)
        #expect(agent.cancelAll { $0.tags[Screen.self] == "home" } == 1)
        #expect(agent.cancelAll { $0.label == "special" } == 1)
        #expect(
            [user.isCancelled, home.isCancelled, shop.isCancelled, named.isCancelled] == [true, true, false, true])
        #expect(agent.cancelAll() == 1)
        guard case .failure = await shop.result, case .cancelled(.agent)? = shop.outcome else {
            return #expect(Bool(false), "not by the agent")
        }
        _ = await (user.result, home.result, named.result)
        #expect(agent.activities.isEmpty)
    }

    @Test("a streamed body ends with its last reader, and when a filter throws after the head")
    func streams() async throws {
        final class Endless: HTTPBodySource {
            let cancelled = Gate()
            func nextChunk() async throws -> Data? { Data(count: 10) }
            func cancel() { cancelled.open() }
        }
        struct Serving: Transport {
            let source: Endless
            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                HTTPResponse(to: request, status: 200, body: HTTPBody(source: source))
            }
        }
        struct Refused: Error {}
        let kept = Mutex<HTTPResponse?>(nil)
        let hoarder = ClosureFilter { exchange, next in
            let response = try await next(exchange)
            kept.withLock { $0 = response }
            throw Refused()
        }
        let failing = Endless()
        let agent = NetworkAgent(baseURL: base, transport: Serving(source: failing), filters: [hoarder])
        await #expect(throws: Refused.self) { try await agent.send(Plain<HTTPBody>.streamed()) }
        try await failing.cancelled.wait()
        let dropped = Endless()
        do {
            _ = try await NetworkAgent(baseURL: base, transport: Serving(source: dropped)).send(
                Plain<HTTPBody>.streamed())
        }
        try await dropped.cancelled.wait()
    }

    @Test(
        "of a thousand concurrent starts and cancels, each ends once with its own tag",
        .endsInTime)
    func thousand() async throws {
        enum Number: TagKey { static let defaultValue = -1 }
        let recorder = RecordingAccessory()
        let gate = Gate()
        let agent = NetworkAgent(baseURL: base, transport: .stub(json.waiting(for: gate)), accessories: [recorder])
        let ended = Log<Int>()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let options = CallOptions(tags: Tags().with(Number.self, number))
                    let handle = agent.start(
                        GetUser(), options: options,
                        completion: Completion { activity, result in
                            if case .failure(let error as ErrandError) = result, error.isCancelled {
                                ended.add(activity.tags[Number.self])
                            }
                        })
                    handle.cancel()
                    _ = await handle.result
                }
            }
        }
        #expect(ended.all.sorted() == Array(0..<1000))
        #expect(recorder.problems().isEmpty && agent.activities.isEmpty)
    }

    @Test(
        "a stream ends when its reader drops it, even if its transport still reports",
        .endsInTime)
    func lettingGo() async throws {
        final class Endless: HTTPBodySource {
            let options: TransportOptions
            let cancelled: Gate
            init(_ options: TransportOptions, _ cancelled: Gate) {
                (self.options, self.cancelled) = (options, cancelled)
            }
            func nextChunk() async throws -> Data? { Data(count: 10) }
            func cancel() { cancelled.open() }
        }
        /// Keeps its bodies' sources. Each source keeps the transport options, like a source that reports progress.
        final class Reporting: Transport {
            let cancelled: Gate
            let sources = Log<Endless>()
            init(_ cancelled: Gate) { self.cancelled = cancelled }
            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                let source = Endless(options, cancelled)
                sources.add(source)
                return HTTPResponse(to: request, status: 200, body: HTTPBody(source: source))
            }
        }
        let (cancelled, recorder) = (Gate(), RecordingAccessory())
        let agent = NetworkAgent(baseURL: base, transport: Reporting(cancelled), accessories: [recorder])
        do { _ = try await agent.send(Plain<HTTPBody>.streamed()) }
        try await cancelled.wait()
        #expect(recorder.problems().isEmpty)
    }

    @Test(
        "a thousand starts with random cancellations each have one terminal event and paired events",
        .endsInTime, arguments: 0..<4)
    func random(seed: UInt64) async throws {
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(baseURL: base, transport: Yielding(), accessories: [recorder])
        let ended = Log<Int>()
        await withTaskGroup(of: Void.self) { group in
            for number in UInt64(0)..<250 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &* 1000 &+ number)
                    let handle = agent.start(
                        GetUser(), options: CallOptions(),
                        completion: Completion { _, _ in
                            ended.add(1)
                        })
                    for _ in 0..<random.next() % 12 { await Task.yield() }
                    switch random.next() % 3 {
                    case 0: handle.cancel()
                    case 1: agent.cancelAll { $0.id == handle.activity.id }
                    default: break
                    }
                    _ = await handle.result
                }
            }
        }
        #expect(ended.count == 250)
        #expect(recorder.problems().isEmpty && recorder.activities.count == 250 && agent.activities.isEmpty)
    }
}

/// Responds after a few yields, and checks for cancellation at each.
private struct Yielding: Transport {
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        for turn in 0..<6 {
            await Task.yield()
            try Task.checkCancellation()
            options.report(.progress(TransferProgress(received: Int64(turn))))
        }
        return HTTPResponse(to: request, status: 200, body: HTTPBody(Data(#"{"id":7,"name":"Ada"}"#.utf8)))
    }
}
