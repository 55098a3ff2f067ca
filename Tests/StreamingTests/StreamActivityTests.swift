import Errand
import ErrandEssentials
import ErrandLoadingIndicatorLog
import ErrandRecording
import ErrandStreaming
import ErrandSystemTransport
import ErrandTesting
import Testing

@Suite("Streams as activities", .endsInTime, .leakChecked) struct StreamActivityTests {
    private let server: TestServer
    private let accessory = RecordingAccessory()

    init() throws { server = try TestServer() }

    private func agent(_ accessories: [any Accessory] = []) -> NetworkAgent {
        NetworkAgent(baseURL: server.url, transport: .system, accessories: accessories + [accessory])
    }

    @Test("accessories see the stream, and each connection as one of its requests")
    func activities() async throws {
        server.enqueue(.events(TestEvent("a", id: "1"), "b"), .events("c"), .status(204))
        let (own, started) = (RecordingAccessory(), StartedActivities())
        let agent = agent([started])
        let options = CallOptions(accessories: [own], label: "feed")
        #expect(try await agent.events(GetFeed(), options: options).all().count == 3)
        try await accessory.waitUntilQuiet()
        #expect(accessory.problems().isEmpty && own.problems().isEmpty)
        let activities = started.all
        #expect(activities.map(\.kind) == [.stream, .request, .request, .request])
        #expect(activities.dropFirst().allSatisfy { $0.parent == activities[0].id && $0.isFeed })
        #expect(activities.allSatisfy { $0.label == "feed" })
        #expect(own.activities == activities.map(\.id))
        #expect(agent.activities.isEmpty)
    }

    @Test("the log and the recorder have a count of events instead of a body")
    func logAndRecorder() async throws {
        server.enqueue(.events(TestEvent("a", id: "1"), "secret b"), .events("c"), .status(204))
        server.on("/log", .text("one\ntwo\n"))
        let lines = Collected<LogRecord>()
        let log = RequestLog(.bodies(upTo: 4096), to: ClosureSink { lines.add($0) })
        let recorder = ExchangeRecorder(maximumBodyBytes: 4096)
        let agent = agent([log, recorder])
        _ = try await agent.events(GetFeed()).all()
        _ = try await agent.lines(GetStream(path: "log")).all()
        try await accessory.waitUntilQuiet()
        await log.flush()
        let streams = lines.all.filter { $0.kind == .stream }
        #expect(
            streams.map(\.stream) == [
                StreamCount("events", elements: 3, bytes: 40, connections: 3),
                StreamCount("lines", elements: 2, bytes: 8, connections: 1),
            ])
        #expect(streams.first?.line.contains("stream GetFeed → success, ") == true)
        #expect(streams.first?.line.hasSuffix("3 events, 3 connections, 40 bytes") == true)
        #expect(lines.all.allSatisfy { !$0.description.contains("secret") })
        let recorded = recorder.recording.activities.filter { $0.kind == .stream }
        #expect(recorded.map(\.stream?.elements) == [3, 2])
        #expect(recorder.waterfallPage(title: "x").html.contains("3 events, 3 connections"))
        #expect(recorder.metrics.hosts.values.map(\.requests) == [4])
    }

    @Test("a stream counts as loading while it connects, not while it is open")
    func indicator() async throws {
        let (head, rest) = (Gate(), Gate())
        server.on("/feed", .events("a", "b").waiting(for: head).waiting(for: rest, afterBodyBytes: 14))
        let indicator = LoadingIndicator(delay: .zero, minimumDuration: .zero, interval: .zero)
        let agent = agent([indicator])
        let stream = agent.events(Call(.get, "feed"), EventOptions())
        let reading = Task { try await stream.all() }
        for await state in indicator.states where state.isShown { break }
        try await head.reached()
        head.open()
        for await state in stream.states { if case .open = state { break } }
        for await state in indicator.states where !state.isShown { break }
        #expect(agent.activities.map(\.kind) == [.stream])
        rest.open()
        #expect(try await reading.value.count == 2)
        await indicator.finish()
    }

    enum Variant: CaseIterable, Sendable { case task, agent, stream, handle, accessory }
    enum Moment: CaseIterable, Sendable { case connecting, open, waiting }

    @Test("every way to cancel ends a stream in every state, closes the connection, and is reported once")
    func cancelling() async throws {
        for variant in Variant.allCases {
            for moment in Moment.allCases { try await cancel(variant, moment) }
        }
    }

    private func cancel(_ variant: Variant, _ moment: Moment) async throws {
        let server = try TestServer()
        let gate = Gate()
        let (recording, started) = (RecordingAccessory(), StartedActivities())
        switch moment {
        case .connecting: server.on("/feed", .events("a").waiting(for: gate))
        case .open: server.on("/feed", .events("a").stalled(afterBodyBytes: 12))
        case .waiting: server.on("/feed", .events("a"))
        }
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [recording, started])
        let rule = ReconnectionPolicy(backoff: .exact(.seconds(3600)))
        let stream = agent.events(GetFeed(eventOptions: EventOptions(reconnection: rule)))
        let reading = Task { try await stream.all() }
        for await state in stream.states {
            switch (state, moment) {
            case (.connecting, .connecting): try await server.wait(forRequests: 1)
            case (.open, .open), (.waiting, .waiting): break
            default: continue
            }
            break
        }
        switch variant {
        case .task: reading.cancel()
        case .agent: #expect(agent.cancelAll { $0.kind == .stream } == 1)
        case .stream: stream.cancel()
        case .handle, .accessory: agent.activities.first { $0.kind == .stream }?.cancel()
        }
        let error = await #expect(throws: ErrandError.self, "\(variant) \(moment)") { try await reading.value }
        #expect(error?.isCancelled == true)
        guard case .closed(let reason?) = stream.state, reason.isCancellation else {
            return _ = Issue.record("\(variant) \(moment): \(stream.state)")
        }
        gate.open()
        try await recording.waitUntilQuiet()
        #expect(recording.problems().isEmpty && agent.activities.isEmpty)
        #expect(started.all.first { $0.kind == .stream }?.isCancelled == true, "\(variant) \(moment)")
        // An idle kept connection may stay; a connection in use is closed.
        if moment == .open { try await server.waitUntilNoConnections() }
        #expect(server.received.count == 1)
    }

    @Test("after a cancellation no bytes are read, not even bytes that have arrived")
    func cancelledWithin() async throws {
        server.on("/feed", .events("a", "b", "c"))
        server.on("/log", .text("a\nb\nc\n"))
        let agent = agent()
        let (events, lines) = (Collected<String>(), Collected<String>())
        let stream = agent.events(GetFeed())
        await #expect(throws: ErrandError.self) {
            for try await event in stream {
                events.add(event.data)
                stream.cancel()
            }
        }
        await #expect(throws: ErrandError.self) {
            for try await line in agent.lines(GetStream(path: "log")) {
                lines.add(line)
                agent.cancelAll()
            }
        }
        #expect(events.all == ["a"] && lines.all == ["a"])
    }

    @Test("leaving the loop ends the stream, its activity and its connection", arguments: [true, false])
    func leaving(isLines: Bool) async throws {
        server.on("/feed", .events("a", "b", "c").stalled(afterBodyBytes: 26))
        let agent = agent()
        let stream = agent.events(GetFeed())
        if isLines {
            for try await _ in agent.lines(GetFeed()) { break }
        } else {
            for try await _ in stream { break }
            guard case .closed(nil) = stream.state else { return _ = Issue.record("\(stream.state)") }
        }
        try await accessory.waitUntilQuiet()
        try await server.waitUntilNoConnections()
        #expect(agent.activities.isEmpty && accessory.problems().isEmpty)
    }

    @Test("a stream that was cancelled before it began doesn't send a request")
    func cancelledBefore() async throws {
        server.on("/feed", .events("a"))
        let stream = agent().events(GetFeed())
        stream.cancel()
        let error = await #expect(throws: ErrandError.self) { try await stream.all() }
        #expect(error?.isCancelled == true && server.received.isEmpty)
    }

    @Test("your own agent can send streams as well")
    func ownAgent() async throws {
        struct Forwarding: Agent {
            let base: NetworkAgent
            func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
                try await base.send(request, options: CallOptions(tags: options.tags))
            }
        }
        server.enqueue(.events("a").header("X-A", "1"), .events("b"), .text("no event stream"))
        let forwarding = Forwarding(base: agent())
        let seen = Collected<String>()
        let error = await #expect(throws: ErrandError.self) {
            for try await event in forwarding.events(GetFeed()) { seen.add(event.data) }
        }
        #expect(seen.all == ["a", "b"] && error?.code == .unacceptableContentType)
    }

    @Test("events become values by name, events without a rule are skipped, and a mark ends the stream")
    func typed() async throws {
        struct Delta: Decodable, Sendable { let text: String }
        enum Said: Sendable, Equatable {
            case delta(String), ping, other(String)
        }
        let types = EventTypes<Said>().on("delta") { (delta: Delta) in .delta(delta.text) }.on("ping", .ping)
        let events: [TestEvent] = [
            TestEvent(#"{"text":"Hel"}"#, name: "delta"), TestEvent("x", name: "ping"), "y",
            TestEvent(#"{"text":"lo"}"#, name: "delta"), "[DONE]", TestEvent("z", name: "ping"),
        ]
        server.on("/feed", .events(events))
        let agent = agent()
        #expect(
            try await agent.events(Call(.get, "feed"), EventOptions(), as: types).all() == [
                .delta("Hel"), .ping, .delta("lo"), .ping,
            ])
        let ending = types.ending(at: "[DONE]").otherwise { .other($0.data) }
        #expect(
            try await agent.events(GetFeed(), as: ending).all() == [.delta("Hel"), .ping, .other("y"), .delta("lo")])
        #expect(server.received.count == 2)

        var iterator = agent.events(Call(.get, "feed"), EventOptions(), as: EventTypes<Delta>.any).makeAsyncIterator()
        #expect(try await iterator.next()?.text == "Hel")
        let error = await #expect(throws: StreamingError.self) { try await iterator.next() }
        #expect(error?.code == .decodingFailed && error?.element == 2 && error?.underlying is DecodingError)
        await #expect(throws: StreamingError.self) { try await iterator.next() }
        #expect(try await iterator.next()?.text == "lo")
    }
}
