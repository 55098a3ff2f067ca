import Dispatch
import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@MainActor private final class Screen: RequestDelegate {
    let log: Log<String>
    var response: Response<any Sendable>?
    init(_ log: Log<String>) { self.log = log }
    func requestDidSucceed(_ activity: Activity, response: Response<any Sendable>) {
        self.response = response
        log.add("delegate success \(activity.label)")
    }
    func requestDidFail(_ activity: Activity, error: any Error) { log.add("delegate failure \(activity.label)") }
    func requestDidCancel(_ activity: Activity) { log.add("delegate cancelled \(activity.label)") }
}

private struct Framing: Accessory {
    var prefix = ""
    let log: Log<String>
    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart: log.add(prefix + "willStart")
        case .willStop(let outcome): log.add(prefix + "willStop " + name(outcome))
        case .didStop(let outcome): log.add(prefix + "didStop " + name(outcome))
        default: break
        }
    }
}

@Suite("The life of a request", .leakChecked) struct LifecycleTests {
    private let json = StubResponse.json(#"{"id":7,"name":"Ada"}"#)

    @Test("a success runs filter code, will-stop, delegate, completion and did-stop in their order")
    func successOrder() async throws {
        let log = Log<String>()
        let filter = ClosureFilter { exchange, next in
            let response = try await next(exchange)
            log.add("filter after next")
            return response
        }
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(json), filters: [filter],
            accessories: [Framing(prefix: "1 ", log: log), Framing(prefix: "2 ", log: log)])
        let screen = await Screen(log)
        let handle = agent.start(GetUser(), delegate: screen) { result in
            MainActor.assertIsolated()
            log.add("completion \((try? result.get().value.name) ?? "")")
        }
        log.add("start returned")
        #expect(try await handle.value.value == User(id: 7, name: "Ada"))
        let reported = log.all.filter { $0 != "start returned" && !$0.contains("willStart") }
        #expect(log.all.prefix(2) == ["1 willStart", "2 willStart"])
        #expect(
            reported == [
                "filter after next", "1 willStop success", "2 willStop success", "delegate success GetUser",
                "completion Ada",
                "1 didStop success", "2 didStop success",
            ])
        #expect(await screen.response?.value as? User == User(id: 7, name: "Ada"))
    }

    @Test("a failure has the same events: the delegate, then the completion, each once")
    func failureOrder() async throws {
        let log = Log<String>()
        let agent = NetworkAgent(baseURL: base, transport: .stub(.status(500)), accessories: [Framing(log: log)])
        let screen = await Screen(log)
        let handle = agent.start(GetUser(), delegate: screen) { result in
            if case .failure(let error as ErrandError) = result { log.add("completion \(error.code)") }
        }
        _ = await handle.result
        #expect(
            log.all == [
                "willStart", "willStop failure", "delegate failure GetUser", "completion unacceptableStatus",
                "didStop failure",
            ])
    }

    @Test("accessories, delegate and completion are notified of a cancellation, once")
    func cancellationOrder() async throws {
        let log = Log<String>()
        let gate = Gate()
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(json.waiting(for: gate)), accessories: [Framing(log: log)])
        let screen = await Screen(log)
        let handle = agent.start(GetUser(), delegate: screen) { result in
            if case .failure(let error as ErrandError) = result { log.add("completion \(error.code)") }
        }
        try await gate.reached()
        #expect(handle.isRunning && !handle.isCancelled && handle.outcome == nil)
        handle.cancel()
        handle.cancel()
        _ = await handle.result
        #expect(!handle.isRunning && handle.isCancelled)
        guard case .cancelled(.handle)? = handle.outcome else {
            return #expect(Bool(false), "not cancelled by the handle")
        }
        #expect(
            log.all == [
                "willStart", "willStop cancelled", "delegate cancelled GetUser", "completion cancelled",
                "didStop cancelled",
            ])
    }

    @Test("start reports will-start on the caller's thread before it returns, and an accessory may cancel then")
    func willStart() async throws {
        struct Canceller: Accessory {
            func activity(_ activity: Activity, did event: ActivityEvent) {
                if case .willStart = event { activity.cancel() }
            }
        }
        let stub = StubTransport(json)
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(baseURL: base, transport: stub, accessories: [recorder, Canceller()])
        let handle = agent.start(GetUser())
        #expect(recorder.names(of: handle.activity.id).first == "willStart")
        #expect(await code { try await handle.value } == .cancelled)
        #expect(await code { try await agent.send(GetUser()) } == .cancelled)
        #expect(stub.received.isEmpty)
        #expect(recorder.names() == ["willStart", "willStop", "didStop", "willStart", "willStop", "didStop"])
    }

    @Test("running requests continue even if the app doesn't retain the handle or the agent")
    func keeping() async throws {
        let gate = Gate()
        let done = Gate()
        do {
            let agent = NetworkAgent(baseURL: base, transport: .stub(json.waiting(for: gate)))
            agent.start(GetUser()) { result in if case .success = result { done.open() } }
        }
        try await gate.reached()
        gate.open()
        try await done.wait()
    }

    @Test("closures, delegates and requests are released after the end")
    func lettingGo() async throws {
        final class Canary: Accessory { func activity(_ activity: Activity, did event: ActivityEvent) {} }
        weak var canary: Canary?
        let agent = NetworkAgent(baseURL: base, transport: .stub(json))
        let handle: RequestHandle<Response<Data>>
        do {
            let held = Canary()
            canary = held
            handle = agent.start(Plain()) { _ in withExtendedLifetime(held) {} }
            _ = try await handle.value
        }
        #expect(canary == nil)
        #expect(agent.activities.isEmpty)
    }

    @Test("a delegate is held weakly and needs to implement only some methods")
    func weakDelegate() async throws {
        @MainActor final class Silent: RequestDelegate {}
        let gate = Gate()
        let agent = NetworkAgent(baseURL: base, transport: .stub(json.waiting(for: gate)))
        weak var weakly: Silent?
        let handle: RequestHandle<Response<User>>
        do {
            let silent = Silent()
            weakly = silent
            handle = agent.start(GetUser(), delegate: silent)
        }
        try await gate.reached()
        #expect(weakly == nil)
        gate.open()
        _ = try await handle.value
        let silent = Silent()
        _ = try await agent.start(GetUser(), delegate: silent).value
    }

    @Test("an accessory that owns the agent is held weakly when wrapped")
    func weakAccessory() async throws {
        let log = Log<String>()
        final class Controller: Accessory {
            let log: Log<String>
            init(_ log: Log<String>) { self.log = log }
            func activity(_ activity: Activity, did event: ActivityEvent) {
                if case .willStart = event { log.add("start") }
            }
        }
        let agent: NetworkAgent
        do {
            let controller = Controller(log)
            agent = NetworkAgent(baseURL: base, transport: .stub(json), accessories: [WeakAccessory(controller)])
            _ = try await agent.send(GetUser())
        }
        _ = try await agent.send(GetUser())
        #expect(log.all == ["start"])
    }

    @Test(
        "the completion runs on the queue that the caller chooses, and the async result returns on the caller's actor")
    func places() async throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(json))
        let queue = DispatchQueue(label: "callbacks")
        let done = Gate()
        agent.start(GetUser(), on: queue) { _ in
            dispatchPrecondition(condition: .onQueue(queue))
            done.open()
        }
        try await done.wait()
        try await Self.onMain(agent)
    }

    @MainActor private static func onMain(_ agent: NetworkAgent) async throws {
        let decoded = Log<Bool>()
        let request = Plain<Int>(reading: { _ in
            decoded.add(true)
            return 1
        })
        _ = try await agent.send(request)
        MainActor.assertIsolated()
        #expect(decoded.count == 1)
    }

    @Test("filters and decoding run off the main actor, from any caller")
    func offMain() async throws {
        let seen = Log<Bool>()
        let filter = ClosureFilter { exchange, next in
            seen.add(isOnMainQueue())
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(json), filters: [filter])
        let request = Plain<Int>(reading: { _ in
            seen.add(isOnMainQueue())
            return 1
        })
        _ = try await Task { @MainActor in try await agent.send(request).value }.value
        #expect(seen.all == [false, false])
    }

    @Test("a request is a value: it can be sent twice concurrently, and each start is a separate activity")
    func twice() async throws {
        let recorder = RecordingAccessory()
        let stub = StubTransport()
        stub.on("/v1/users/7", response: .status(500), json, .status(500), json)
        let agent = NetworkAgent(baseURL: base, transport: stub, accessories: [recorder])
        let request = GetUser()
        #expect(await code { try await agent.send(request) } == .unacceptableStatus)
        #expect(try await agent.send(request).value.name == "Ada")
        async let first = agent.start(request).result
        async let second = agent.start(request).result
        let outcomes = await [first, second].map { (try? $0.get()) != nil }
        #expect(outcomes.sorted { !$0 && $1 } == [false, true])
        #expect(Set(recorder.activities).count == 4 && recorder.problems().isEmpty)
    }

    @Test("a request may be started again in its own completion")
    func again() async throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(json))
        let done = Gate()
        agent.start(GetUser()) { _ in
            agent.start(GetUser()) { result in if case .success = result { done.open() } }
        }
        try await done.wait()
    }

    @Test("cancelling a request that has ended has no effect and doesn't notify anyone")
    func late() async throws {
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(baseURL: base, transport: .stub(json), accessories: [recorder])
        let handle = agent.start(GetUser())
        _ = try await handle.value
        let before = recorder.names()
        handle.cancel()
        #expect(agent.cancelAll() == 0)
        #expect(!handle.isCancelled && recorder.names() == before && name(handle.outcome) == "success")
    }

    @Test("a handle shows whether its request is loading, its progress, and how it ended")
    func handle() async throws {
        let gate = Gate()
        let response = json.waiting(for: gate).reporting(.progress(TransferProgress(received: 5, totalToReceive: 21)))
        let agent = NetworkAgent(baseURL: base, transport: .stub(response))
        let handle = agent.start(GetUser())
        try await gate.reached()
        #expect(handle.isRunning && handle.outcome == nil)
        gate.open()
        _ = try await handle.value
        #expect(!handle.isRunning && name(handle.outcome) == "success")
        #expect(handle.progress == TransferProgress(received: 5, totalToReceive: 21))
    }

    @Test("the list of a running activity's accessories cannot change")
    func fixedAccessories() async throws {
        let (gate, old, new) = (Gate(), RecordingAccessory(), RecordingAccessory())
        let agent = NetworkAgent(baseURL: base, transport: .stub(json.waiting(for: gate)), accessories: [old])
        let handle = agent.start(GetUser())
        try await gate.reached()
        agent.configure { $0.accessories = [new] }
        gate.open()
        _ = try await handle.value
        #expect(old.problems().isEmpty && old.names().last == "didStop" && new.names().isEmpty)
    }

    @Test("accessories are notified in the order agent, request, call; an event's consequences are reported after it")
    func nestedEvents() async throws {
        struct Named: Accessory {
            let name: String
            let log: Log<String>
            func activity(_ activity: Activity, did event: ActivityEvent) {
                if case .note(let note) = event { log.add("\(name) \(note.message)") }
            }
        }
        let log = Log<String>()
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(json),
            filters: [
                ClosureFilter { exchange, next in
                    exchange.note("test", "one")
                    exchange.note("test", "two")
                    return try await next(exchange)
                }
            ], accessories: [Named(name: "agent", log: log)])
        var options = CallOptions()
        options.accessories = [Named(name: "call", log: log)]
        _ = try await agent.send(Plain { $0.accessories = [Named(name: "request", log: log)] }, options: options)
        #expect(log.all == ["agent one", "request one", "call one", "agent two", "request two", "call two"])
    }

    @Test("a note can be described by its details, and its message can be replaced")
    func describedNotes() async throws {
        struct Detail: Sendable, CustomStringConvertible { let description = "as described" }
        struct Reader: Accessory {
            let log: Log<String>
            func activity(_ activity: Activity, did event: ActivityEvent) {
                guard case .note(var note) = event else { return }
                log.add("\(note.name) \(note.message) \(note.details is Detail)")
                note.message = "replaced"
                log.add(note.message)
            }
        }
        let log = Log<String>()
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(json),
            filters: [
                ClosureFilter { exchange, next in
                    exchange.note("test", describing: Detail())
                    return try await next(exchange)
                }
            ], accessories: [Reader(log: log)])
        _ = try await agent.send(GetUser())
        #expect(log.all == ["test as described true", "replaced"])
    }

    @Test("a request can send itself on an agent")
    func sugar() async throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(json))
        #expect(try await GetUser().send(on: agent).value.id == 7)
        let done = Gate()
        GetUser().start(on: agent) { _ in done.open() }
        try await done.wait()
    }

    @Test("your own agent implements send and gets the rest")
    func ownAgent() async throws {
        struct Fake: Agent {
            func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
                let url = try #require(URL(string: "http://fake/"))
                let response = HTTPResponse(url: url, status: 200, body: HTTPBody(Data(#"{"id":1,"name":"F"}"#.utf8)))
                return Response(value: try await request.decode(response), http: response)
            }
        }
        #expect(try await Fake().send(GetUser()).value.name == "F")
        #expect(try await Fake().start(GetUser()).value.value.name == "F")
        let kind = ActivityKind(rawValue: "own")
        #expect(try await Fake().run(kind) { activity in activity.kind } == kind)
    }

    @Test("an object that the agent, the request and the call have receives each event once; values are independent")
    func repeatedObjects() async throws {
        final class Starts: Accessory {
            let count = Counter()
            func activity(_ activity: Activity, did event: ActivityEvent) {
                if case .willStart = event { count.increment() }
            }
        }
        struct Value: Accessory {
            let count: Counter
            func activity(_ activity: Activity, did event: ActivityEvent) {
                if case .willStart = event { count.increment() }
            }
        }
        let (starts, values) = (Starts(), Counter())
        let value = Value(count: values)
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("ok")), accessories: [starts, WeakAccessory(starts), value, starts])
        let options = CallOptions(accessories: [starts, value, WeakAccessory(starts)])
        _ = try await agent.send(Plain { $0.accessories = [starts] }, options: options)
        #expect(starts.count.value == 1 && values.value == 2)
        let kind = ActivityKind(rawValue: "sync")
        _ = try await agent.start(kind, options: options, completion: nil) { _ in 1 }.value
        #expect(starts.count.value == 2 && values.value == 4)
        _ = try await ForwardingAgent(base: agent).start(kind, options: options, completion: nil) { _ in 1 }.value
        #expect(starts.count.value == 3)
    }

    @Test("agents don't share configuration, activities or transports")
    func twoAgents() async throws {
        let gate = Gate()
        let (one, two) = (StubTransport(json.waiting(for: gate)), StubTransport(json))
        let first = NetworkAgent(baseURL: "https://one.example.com", transport: one)
        let second = NetworkAgent(baseURL: "https://two.example.com", transport: two)
        let handle = first.start(GetUser())
        try await gate.reached()
        #expect(second.cancelAll() == 0 && first.activities.map(\.id) == [handle.activity.id])
        _ = try await second.send(GetUser())
        #expect(two.received.map(\.url.absoluteString) == ["https://two.example.com/users/7"])
        gate.open()
        _ = try await handle.value
    }
}

private func isOnMainQueue() -> Bool {
    DispatchQueue.getSpecific(key: mainKey) != nil
}

private let mainKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
}()
