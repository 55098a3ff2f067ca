import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

private struct Starting: Agent {
    let base: any Agent
    func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        let handle = base.start(request, options: options, completion: nil)
        return try await withTaskCancellationHandler {
            try await handle.value
        } onCancel: {
            handle.cancel()
        }
    }
}

private struct Fake: Agent {
    var progress: [Int64] = []
    var gate = Gate(isOpen: true)
    var failure: (any Error)?

    func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        for received in progress { options.progress?(TransferProgress(received: received)) }
        try await gate.wait()
        if let failure { throw failure }
        let url = try #require(URL(string: "https://fake.example/"))
        let http = HTTPResponse(url: url, status: 200, body: HTTPBody(Data(#"{"id":7,"name":"Ada"}"#.utf8)))
        return Response(value: try await request.decode(http), http: http)
    }
}

@Suite("An agent that passes requests on", .endsInTime, .leakChecked) struct ForwardingTests {
    private let json = StubResponse.json(#"{"id":7,"name":"Ada"}"#)

    private static func wrapped(_ agent: any Agent) -> [any Agent] {
        [
            agent, ForwardingAgent(base: agent), ForwardingAgent(base: ForwardingAgent(base: agent)),
            ForwardingAgent(base: Starting(base: ForwardingAgent(base: agent))), Starting(base: agent),
        ]
    }

    @Test(
        "each accessory of the agent, the request and the call gets one lifecycle, for each way to start the request")
    func lifecycles() async throws {
        for index in 0..<5 {
            for starts in [true, false] {
                let (agents, requests, calls) = (RecordingAccessory(), RecordingAccessory(), RecordingAccessory())
                let network = NetworkAgent(baseURL: base, transport: .stub(json), accessories: [agents])
                let agent = Self.wrapped(network)[index]
                var request = Plain { $0.accessories = [requests] }
                request.tags[Mark.self] = "request"
                var options = CallOptions(accessories: [calls], label: "call")
                options.tags[Mark.self] = "call"
                if starts {
                    let handle = agent.start(request, options: options, completion: nil)
                    #expect(handle.activity.request is Plain<Data> && handle.activity.label == "call")
                    #expect(handle.activity.tags[Mark.self] == "call")
                    _ = try await handle.value
                    guard case .success(let http?) = handle.outcome else {
                        Issue.record("no success with its response: \(String(describing: handle.outcome))")
                        continue
                    }
                    #expect(http.status == 200)
                    #expect(calls.activities == [handle.activity.id])
                } else {
                    try await agent.send(request, options: options)
                }
                let expected = ["willStart", "built", "sending", "received", "willStop", "didStop"]
                for recorder in [agents, requests, calls] {
                    try await recorder.waitUntilQuiet()
                    #expect(recorder.names() == expected && recorder.problems().isEmpty)
                    #expect(recorder.activities.count == 1)
                }
            }
        }
    }

    @Test("gives its handle the progress, and the listener each step once")
    func progress() async throws {
        let reporting = json.reporting(
            .progress(TransferProgress(received: 10)), .progress(TransferProgress(received: 20)))
        for agent in Self.wrapped(NetworkAgent(baseURL: base, transport: .stub(reporting)))
            + [Fake(progress: [10, 20]), ForwardingAgent(base: Fake(progress: [10, 20]))]
        {
            let (reported, recorder) = (Log<Int64>(), RecordingAccessory())
            let options = CallOptions(accessories: [recorder], progress: { reported.add($0.received) })
            let handle = agent.start(GetUser(), options: options, completion: nil)
            #expect(try await handle.value.value.name == "Ada")
            #expect(handle.progress.received == 20 && reported.all == [10, 20])
            #expect(recorder.names(transport: true).count { $0 == "progress" } == 2)
            #expect(recorder.problems().isEmpty)
        }
    }

    @Test("ends like its call: with success, failure, or a cancellation by the handle or from inside")
    func outcomes() async throws {
        struct Broken: Error {}
        for index in 1..<5 {
            let network = NetworkAgent(baseURL: base, transport: .stub(.status(500)))
            let failing = Self.wrapped(network)[index].start(GetUser())
            #expect(await code { try await failing.value } == .unacceptableStatus)
            #expect(name(failing.outcome) == "failure")
            for byHandle in [true, false] {
                let gate = Gate()
                let recorder = RecordingAccessory()
                let network = NetworkAgent(
                    baseURL: base, transport: .stub(json.waiting(for: gate)), accessories: [recorder])
                let handle = Self.wrapped(network)[index].start(
                    GetUser(), options: CallOptions(accessories: [recorder]), completion: nil)
                try await gate.reached()
                #expect(handle.isRunning)
                if byHandle { handle.cancel() } else { #expect(network.cancelAll { $0.request is GetUser } == 1) }
                #expect(await code { try await handle.value } == .cancelled)
                #expect(name(handle.outcome) == "cancelled")
                #expect(recorder.activities.count == 2 && recorder.problems().isEmpty)
            }
        }
        let broken = Fake(failure: Broken()).start(GetUser())
        await #expect(throws: Broken.self) { try await broken.value }
    }

    @Test("a fake that writes only `send` has handles, callbacks and accessories too")
    func fake() async throws {
        let (recorder, gate) = (RecordingAccessory(), Gate())
        let fake = Fake(gate: gate)
        let handle = fake.start(GetUser(), options: CallOptions(accessories: [recorder]), completion: nil)
        try await gate.reached()
        handle.cancel()
        #expect(await code { try await handle.value } == .cancelled)
        #expect(recorder.names() == ["willStart", "willStop", "didStop"])
        let called = Gate()
        Fake().start(GetUser()) { result in if case .success = result { called.open() } }
        try await called.wait()
    }

    @Test("an accessory that does not listen is left out")
    func deaf() async throws {
        struct Deaf: Accessory {
            let log: Log<String>
            var isListening: Bool { false }
            func activity(_ activity: Activity, did event: ActivityEvent) { log.add("event") }
        }
        let log = Log<String>()
        let agent = ForwardingAgent(base: NetworkAgent(baseURL: base, transport: .stub(json)))
        let options = CallOptions(accessories: [Deaf(log: log)])
        _ = try await agent.start(GetUser(), options: options, completion: nil).value
        _ = try await agent.run(ActivityKind(rawValue: "batch"), options: options) { _ in }
        #expect(log.count == 0)
    }

    @Test("an accessory is asked once for each activity whether it listens")
    func askedOnce() async throws {
        struct Alternating: Accessory {
            let reads: Log<Void>
            let events: Log<ActivityEvent>
            /// False, true, false and so on.
            var isListening: Bool {
                reads.add(())
                return reads.count.isMultiple(of: 2)
            }
            func activity(_ activity: Activity, did event: ActivityEvent) { events.add(event) }
        }
        let (first, second) = (Log<ActivityEvent>(), Log<ActivityEvent>())
        let (firstReads, secondReads) = (Log<Void>(), Log<Void>())
        let agent = NetworkAgent(baseURL: base, transport: .stub(json))
        let options = CallOptions(accessories: [
            Alternating(reads: firstReads, events: first), Alternating(reads: secondReads, events: second),
        ])
        for number in 1...4 {
            let (before, after) = (first.count, second.count)
            _ = try await agent.start(GetUser(), options: options, completion: nil).value
            #expect(firstReads.count == number && secondReads.count == number)
            #expect((first.count > before) == number.isMultiple(of: 2))
            #expect((second.count > after) == number.isMultiple(of: 2))
        }
    }

    @Test("notes are created only for accessories that observe them in activities of that kind")
    func notes() async throws {
        struct Choosy: Accessory {
            let kind: ActivityKind?
            let log: Log<String>
            func observesNotes(of kind: ActivityKind) -> Bool { kind == self.kind }
            func activity(_ activity: Activity, did event: ActivityEvent) {
                if case .note(let note) = event { log.add(note.message) }
            }
        }
        for kind in [nil, .stream, .request] as [ActivityKind?] {
            let (created, received) = (Log<String>(), Log<String>())
            @Sendable func message() -> String {
                created.add("note")
                return "note"
            }
            let noting = ClosureFilter { exchange, next in
                exchange.note("test", message())
                return try await next(exchange)
            }
            let network = NetworkAgent(baseURL: base, transport: .stub(json), filters: [noting])
            let options = CallOptions(accessories: [Choosy(kind: kind, log: received)])
            for agent in Self.wrapped(network) {
                _ = try await agent.start(GetUser(), options: options, completion: nil).value
            }
            let count = kind == .request ? Self.wrapped(network).count : 0
            #expect(created.count == count && received.count == count)
        }
    }

    @Test("work that a call detaches is a separate activity for the call's accessories, as on the agent itself")
    func detached() async throws {
        for index in 0..<5 {
            let (recorder, done) = (RecordingAccessory(), Gate())
            let detaching = ClosureFilter { exchange, next in
                exchange.detach("later") { _ in done.open() }
                return try await next(exchange)
            }
            let network = NetworkAgent(baseURL: base, transport: .stub(json), filters: [detaching])
            _ = try await Self.wrapped(network)[index].start(
                GetUser(), options: CallOptions(accessories: [recorder]), completion: nil
            ).value
            try await done.wait()
            try await recorder.waitUntilQuiet()
            #expect(recorder.activities.count == 2 && recorder.problems().isEmpty)
            #expect(recorder.records().count { $0.kind == .background && $0.name == "didStop" } == 1)
        }
    }

    @Test("passes on the filters of a call, and a composite's filters to its members")
    func filters() async throws {
        for index in 0..<5 {
            let log = Log<String>()
            let network = NetworkAgent(
                baseURL: base, transport: .stub(json), filters: [Signpost(name: "agent", log: log)])
            let agent = Self.wrapped(network)[index]
            let request = Plain { $0.filters = [Signpost(name: "request", log: log)] }
            let own = CallOptions(filters: [Signpost(name: "call", log: log)])
            _ = try await agent.start(request, options: own, completion: nil).value
            let order = ["agent>", "request>", "call>", "<call", "<request", "<agent"]
            #expect(log.all == order)
            let before = log.count
            let whole = CallOptions(filters: [Signpost(name: "whole", log: log)])
            try await agent.run(ActivityKind(rawValue: "chain"), options: whole) { activity in
                try await agent.run(ActivityKind(rawValue: "batch"), options: CallOptions(parent: activity)) {
                    activity in
                    var own = own
                    own.parent = activity
                    _ = try await agent.send(request, options: own)
                }
            }
            #expect(
                log.all.dropFirst(before) == [
                    "agent>", "request>", "whole>", "call>", "<call", "<whole", "<request", "<agent",
                ])
        }
    }

    @Test("the filters that a request brings and the filters of its call run in detached work")
    func detachedFilters() async throws {
        struct Bringing: FilterProvidingRequest {
            let requiredFilters: [any Filter]
            let filters: [any Filter]
        }
        let (log, done) = (Log<String>(), Gate())
        let detaching = ClosureFilter { exchange, next in
            let response = try await next(exchange)
            let first = log.count
            exchange.detach("again") { exchange in
                _ = try await next(exchange)
                #expect(first == log.count / 2)
                done.open()
            }
            return response
        }
        let network = NetworkAgent(baseURL: base, transport: .stub(json), filters: [detaching])
        let request = Bringing(
            requiredFilters: [Signpost(name: "required", log: log)], filters: [Signpost(name: "own", log: log)])
        let options = CallOptions(filters: [Signpost(name: "call", log: log)])
        _ = try await network.start(request, options: options, completion: nil).value
        try await done.wait()
        let order = ["required>", "own>", "call>", "<call", "<own", "<required"]
        #expect(log.all == order + order)
    }
}

private enum Mark: TagKey { static var defaultValue: String { "" } }
