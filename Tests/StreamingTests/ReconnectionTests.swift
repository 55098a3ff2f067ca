import Errand
import ErrandEssentials
import ErrandStreaming
import ErrandSystemTransport
import ErrandTesting
import Testing

/// The HTML standard, section 9.2.3: connecting, failing, reconnecting.
@Suite("Connecting and reconnecting an event stream", .endsInTime, .leakChecked) struct ReconnectionTests {
    private let server: TestServer
    private let agent: NetworkAgent

    init() throws {
        server = try TestServer()
        agent = NetworkAgent(baseURL: server.url, transport: .system)
    }

    private static func numbered(_ range: ClosedRange<Int>) -> [TestEvent] {
        range.map { TestEvent("event \($0)", id: "\($0)") }
    }

    @Test("the request asks for an uncached event stream, without an ID at first")
    func head() async throws {
        server.on("/feed", .events("a"))
        #expect(try await agent.events(Call(.get, "feed")).all().map(\.data) == ["a"])
        let request = try await server.nextRequest()
        #expect(request.headers["Accept"] == "text/event-stream" && request.headers["Cache-Control"] == "no-cache")
        #expect(!request.headers.contains("Last-Event-ID"))
    }

    @Test("the request's own headers are kept, and a first ID can be given")
    func ownHeaders() async throws {
        server.on("/feed", .events("a"))
        let call = Call<HTTPBody>(.get, "feed") {
            $0.headers = ["Accept": "text/event-stream, text/plain", "Cache-Control": "no-store", "X-A": "1"]
        }
        agent.configure { $0.headers["Accept"] = "application/json" }
        _ = try await agent.events(Call(.get, "feed"), EventOptions()).all()
        #expect(try await server.nextRequest().headers["Accept"] == "text/event-stream")
        _ = try await agent.events(call, EventOptions(lastEventID: "…7")).all()
        let request = try await server.nextRequest()
        #expect(request.headers["Accept"] == "text/event-stream, text/plain")
        #expect(request.headers["Cache-Control"] == "no-store" && request.headers["X-A"] == "1")
        #expect(request.headers["Last-Event-ID"] == "…7")
    }

    @Test("after a connection ends, the request is sent again with the last event's ID, until a 204")
    func reconnecting() async throws {
        server.enqueue(
            .events(TestEvent("a", id: "1"), "b"), .events(TestEvent("c")), .events(TestEvent("d", id: "")),
            .events(.raw("id: 9\n\ndata: lost")), .events([]), .status(204))
        let stream = agent.events(GetFeed())
        let events = try await stream.all()
        #expect(events.map(\.data) == ["a", "b", "c", "d"])
        #expect(events.map(\.id) == ["1", "1", "1", ""])
        #expect(server.received.map { $0.headers["Last-Event-ID"] } == [nil, "1", "1", nil, "9", "9"])
        #expect(stream.lastEventID == "9")
        guard case .closed(nil) = stream.state else { return _ = Issue.record("\(stream.state)") }
    }

    @Test("the stream has the ID of the event that was just received, even if more events have arrived")
    func lastReceived() async throws {
        server.enqueue(.events(TestEvent("a", id: "1"), TestEvent("b", id: "2"), TestEvent("c")), .status(204))
        let stream = agent.events(GetFeed())
        for try await event in stream { #expect(stream.lastEventID == event.id) }
        #expect(stream.lastEventID == "2")
    }

    @Test("an ID with non-ASCII characters is sent as UTF-8")
    func unicodeID() async throws {
        server.enqueue(.events(TestEvent("a", id: "…豆")), .status(204))
        _ = try await agent.events(GetFeed()).all()
        #expect(server.received.last?.headers["Last-Event-ID"] == "…豆")
    }

    @Test("an ID that a header can't contain ends the stream instead of restarting it")
    func controlCharacters() async throws {
        server.enqueue(.events(.raw("id: a\u{1}b\ndata: x\n\n")), .status(204))
        let seen = Collected<String>()
        let error = await #expect(throws: StreamingError.self) {
            for try await event in agent.events(GetFeed()) { seen.add(event.data) }
        }
        #expect(error?.code == .unusableEventID && seen.all == ["x"] && server.received.count == 1)
    }

    @Test("a request that isn't marked as repeatable isn't sent again", arguments: [true, false])
    func once(breaks: Bool) async throws {
        let events = TestResponse.events(TestEvent("a", id: "1"), "b")
        server.on("/feed", breaks ? events.closing(afterBodyBytes: 30) : events)
        let seen = Collected<String>()
        do {
            for try await event in agent.events(Call(.post, "feed", body: .json(["q": 1])), EventOptions()) {
                seen.add(event.data)
            }
            #expect(!breaks)
        } catch let error as ErrandError { #expect(breaks && error.isRetryable) }
        #expect(seen.all == (breaks ? ["a"] : ["a", "b"]) && server.received.count == 1)
    }

    @Test("a POST that is marked as repeatable is sent again with its body")
    func post() async throws {
        struct Ask: EventRequest {
            var method: HTTPMethod { .post }
            var path: String { "feed" }
            var body: RequestBody { .json(["hello": "world"]) }
            var eventOptions: EventOptions { EventOptions(reconnection: .immediate) }
        }
        server.enqueue(.events("a").closing(afterBodyBytes: 15), .status(204))
        #expect(try await agent.events(Ask()).all().map(\.data) == ["a"])
        #expect(server.received.map(\.method) == [.post, .post])
        #expect(Set(server.received.map(\.body)) == [Data(#"{"hello":"world"}"#.utf8)])
    }

    @Test("a body that can be read only once isn't sent again")
    func bodyOnce() async throws {
        server.on("/feed", .events("a"))
        let body = RequestBody.stream(HTTPBody(stream: "x"))
        let call = Call<HTTPBody>(.post, "feed", body: body)
        let error = await #expect(throws: ErrandError.self) {
            try await agent.events(call, EventOptions(reconnection: .immediate)).all()
        }
        #expect(error?.code == .bodyNotReplayable && server.received.count == 1)
    }

    @Test(
        "a status other than 200 ends the stream with an error, without another attempt",
        arguments: [201, 205, 206, 210, 299, 400, 404, 410, 500, 502, 503, 504])
    func statuses(status: Int) async throws {
        server.on("/feed", .events("a").status(status))
        let error = await #expect(throws: ErrandError.self) { try await agent.events(GetFeed()).all() }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == status)
        #expect(server.received.count == 1)
    }

    @Test(
        "only text/event-stream is an event stream",
        arguments: [
            ("text/event-stream", true), ("text/event-stream; charset=utf-8", true), ("Text/Event-Stream;", true),
            ("text/event-stream;bogus", true), ("text/event-stream;charset=windows-1252", true),
            ("text/event-stream bogus", false), ("text/plain", false), ("text/x-bogus", false),
            ("application/json", false), ("x bogus", false), ("", false),
        ])
    func types(type: String, isAccepted: Bool) async throws {
        server.on("/feed") { _ in
            var response = TestResponse.events("…")
            response.headers = type.isEmpty ? [:] : ["Content-Type": type]
            return response
        }
        let stream = agent.events(Call(.get, "feed"), EventOptions())
        if isAccepted {
            #expect(try await stream.all().map(\.data) == ["…"])
        } else {
            let error = await #expect(throws: ErrandError.self) { try await stream.all() }
            #expect(error?.code == .unacceptableContentType)
        }
    }

    @Test(
        "redirects are followed, and the next connection begins at the first URL", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        server.on("/feed") { request in
            request.headers.contains("Last-Event-ID") ? .status(204) : .redirect(to: "/moved", status: status)
        }
        server.on("/moved", .events(TestEvent("a", id: "1")))
        let stream = agent.events(GetFeed())
        #expect(try await stream.all().map(\.data) == ["a"])
        #expect(server.received.map(\.path) == ["/feed", "/moved", "/feed"])
        #expect(stream.response?.url.path == "/moved")
    }

    private static func impatient(_ failures: Int) -> ReconnectionPolicy {
        ReconnectionPolicy(backoff: .noDelay, maximumFailures: failures, minimumDelay: .zero)
    }

    @Test("a failed connection is retried up to the limit, and then its error is thrown")
    func failures() async throws {
        server.enqueueConnections(.reset, .reset)
        server.on("/feed", .resumableEvents(Self.numbered(1...2)))
        let patient = EventOptions(reconnection: Self.impatient(9))
        #expect(try await agent.events(GetFeed(eventOptions: patient)).all().count == 2)
        server.stop()
        let impatient = EventOptions(reconnection: Self.impatient(3))
        let stream = agent.events(GetFeed(eventOptions: impatient))
        let attempts = Collected<Int>()
        // Subscribes now, before the task gets to run.
        let states = stream.states
        let watching = Task {
            for await state in states { if case .connecting(let attempt) = state { attempts.add(attempt) } }
        }
        let error = await #expect(throws: ErrandError.self) { try await stream.all() }
        await watching.value
        #expect(error?.code == .cannotConnect && attempts.all == [1, 2, 3, 4])
    }

    @Test("statuses that the policy allows are retried, after Retry-After")
    func retryAfter() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport()
        stub.on("/feed", response: .status(503).header("Retry-After", "7"), .events(["a"]), .status(204))
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
        let options = EventOptions(reconnection: ReconnectionPolicy(backoff: .exact(.seconds(1)), statuses: [503]))
        let stream = agent.events(GetFeed(eventOptions: options))
        let reading = Task { try await stream.all() }
        try await time.waitForSleepers()
        #expect(time.nextWake == time.now.advanced(by: .seconds(7)))
        time.advance(by: .seconds(7))
        try await time.waitForSleepers()
        #expect(time.nextWake == time.now.advanced(by: .seconds(1)))
        time.advance(by: .seconds(1))
        #expect(try await reading.value.map(\.data) == ["a"])
    }

    @Test("a retryable failure of another filter counts as a connection failure, with its Retry-After")
    func foreignFailure() async throws {
        struct Unready: Filter {
            struct Failure: RequestFailure {
                let response: HTTPResponse?
                var isRetryable: Bool { true }
            }
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                let response = try await next(exchange)
                if response.status == 503 { throw Failure(response: response) }
                return response
            }
        }
        let time = ManualTimeSource()
        let stub = StubTransport()
        stub.on("/feed", response: .status(503).header("Retry-After", "7"), .events(["a"]), .status(204))
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, filters: [Unready()], time: time)
        let options = EventOptions(reconnection: ReconnectionPolicy(backoff: .exact(.seconds(1))))
        let stream = agent.events(GetFeed(eventOptions: options))
        let reading = Task { try await stream.all() }
        try await time.waitForSleepers()
        #expect(time.nextWake == time.now.advanced(by: .seconds(7)))
        time.advance(by: .seconds(7))
        try await time.waitForSleepers()
        time.advance(by: .seconds(1))
        #expect(try await reading.value.map(\.data) == ["a"])
    }

    @Test(
        "retry: sets the wait, even for later connections, and text that isn't a number is ignored",
        arguments: [
            ("retry: 500\n\n", 500), ("retry:0\n", 100), ("retry: 1000x\n", 3000), ("retry: -1\n", 3000),
            ("retry: 1e3\n", 3000), ("retry\n", 3000), ("retry: 1 \n", 3000), ("retry:  5\n", 3000),
            ("retry: ٣\n", 3000), ("retry: 007\n", 100), ("retry: 500\nretry: x\n", 500), ("retry: 5", 3000),
            ("retry: 99999999999999999999999999\n", 86_400_000), ("", 3000),
        ])
    func retryField(text: String, milliseconds: Int) async throws {
        let time = ManualTimeSource()
        let stub = StubTransport()
        stub.on("/feed", response: .events(["x", .raw(text)]), .events([.comment()]), .status(204))
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
        let stream = agent.events(
            GetFeed(eventOptions: EventOptions(reconnection: ReconnectionPolicy(backoff: .exact()))))
        let reading = Task { try await stream.all() }
        for _ in 0..<2 {
            try await time.waitForSleepers()
            #expect(time.nextWake == time.now.advanced(by: .milliseconds(milliseconds)))
            guard case .waiting(let instant, nil) = stream.state else { return _ = Issue.record("\(stream.state)") }
            time.advance(to: instant)
        }
        #expect(try await reading.value.map(\.data) == ["x"])
    }

    @Test("while connections deliver no events, the wait doubles up to its limit, and then starts over")
    func backoff() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport()
        let lost = StubResponse.failure(ErrandError(.cannotConnect, "refused"))
        stub.on("/feed", response: lost, lost, .events([]), lost, lost, lost, .events(["a"]), lost, .status(204))
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
        let rule = ReconnectionPolicy(backoff: .exact(.seconds(1), maximum: .seconds(10)))
        let stream = agent.events(GetFeed(eventOptions: EventOptions(reconnection: rule)))
        let reading = Task { try await stream.all() }
        for seconds in [1, 2, 4, 8, 10, 10, 1, 1] {
            try await time.waitForSleepers()
            #expect(time.nextWake == time.now.advanced(by: .seconds(seconds)))
            time.advance(by: .seconds(seconds))
        }
        #expect(try await reading.value.map(\.data) == ["a"])
    }

    @Test(
        "a server that requests no wait and closes after a byte gets connections after longer and longer waits"
    )
    func floor() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport()
        stub.on("/feed", response: .events([.raw("retry: 0\n")]), .events([.raw(":")]))
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
        let rule = ReconnectionPolicy(backoff: .exact(maximum: .seconds(3)))
        let reading = Task { try await agent.events(GetFeed(eventOptions: EventOptions(reconnection: rule))).all() }
        for milliseconds in [100, 200, 400, 800, 1_600, 3_000, 3_000] {
            try await time.waitForSleepers()
            #expect(time.nextWake == time.now.advanced(by: .milliseconds(milliseconds)))
            time.advance(by: .milliseconds(milliseconds))
        }
        reading.cancel()
        _ = await reading.result
    }

    @Test(
        "a server that requests no wait and closes after an event gets the shortest wait each time",
        arguments: [100, 700])
    func floorOfEvents(milliseconds: Int) async throws {
        let time = ManualTimeSource()
        let stub = StubTransport()
        stub.on("/feed", response: .events([TestEvent("a", retry: .zero)]))
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
        let rule =
            milliseconds == 100
            ? ReconnectionPolicy(backoff: .exact())
            : ReconnectionPolicy(backoff: .exact(), minimumDelay: .milliseconds(milliseconds))
        let reading = Task { try await agent.events(GetFeed(eventOptions: EventOptions(reconnection: rule))).all() }
        for _ in 0..<5 {
            try await time.waitForSleepers()
            #expect(time.nextWake == time.now.advanced(by: .milliseconds(milliseconds)))
            time.advance(by: .milliseconds(milliseconds))
        }
        reading.cancel()
        _ = await reading.result
    }

    @Test("jitter makes a wait longer by at most its share, and never shorter")
    func jitter() async throws {
        var waits: Set<ContinuousClock.Instant> = []
        for _ in 0..<20 {
            let time = ManualTimeSource()
            let stub = StubTransport()
            stub.on("/feed", response: .events([]))
            let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
            let rule = ReconnectionPolicy(backoff: Backoff(base: .seconds(4), jitter: 0.5))
            let reading = Task { try await agent.events(GetFeed(eventOptions: EventOptions(reconnection: rule))).all() }
            try await time.waitForSleepers()
            let wait = try #require(time.nextWake).advanced(by: .zero)
            #expect(time.now.duration(to: wait) >= .seconds(4) && time.now.duration(to: wait) <= .seconds(6))
            waits.insert(wait)
            reading.cancel()
            _ = await reading.result
        }
        #expect(waits.count > 10)
    }

    @Test("silence counts as a lost connection; a comment is a heartbeat")
    func silence() async throws {
        let events = Self.numbered(1...2)
        server.on("/feed") { request in
            if request.headers["Last-Event-ID"] == nil {
                return .events([events[0], .comment(), .comment()]).stalled(afterBodyBytes: 41)
            }
            return TestResponse.resumableEvents(events)
        }
        let time = ManualTimeSource()
        let agent = NetworkAgent(baseURL: server.url, transport: .system, time: time)
        let options = EventOptions(reconnection: .immediate, timeout: .seconds(10))
        let stream = agent.events(GetFeed(eventOptions: options))
        let (seen, errors) = (Collected<String>(), Collected<ErrandError.Code>())
        let states = stream.states
        let watching = Task {
            for await state in states {
                if case .waiting(_, let error as ErrandError) = state { errors.add(error.code) }
            }
        }
        let reading = Task {
            for try await event in stream { seen.add(event.id) }
        }
        try await eventually { seen.all == ["1"] }
        // The timeout starts when received bytes are noted, so one step may not be enough. The last step may come too
        // late, but is too short to end the second connection.
        try await eventually {
            if case .open = stream.state, server.requestCount == 1 { time.advance(by: .seconds(6)) }
            return server.requestCount > 1
        }
        try await reading.value
        await watching.value
        #expect(seen.all == ["1", "2"] && errors.all == [.timedOut])
        let once = self.agent.events(Call(.get, "feed"), EventOptions(timeout: .milliseconds(100)))
        let error = await #expect(throws: ErrandError.self) { try await once.all() }
        #expect(error?.code == .timedOut)
    }

    @Test("the states of a stream are observed in order")
    func states() async throws {
        server.enqueue(.events("a"), .status(204))
        let stream = agent.events(GetFeed())
        guard case .idle = stream.state else { return _ = Issue.record("\(stream.state)") }
        let states = stream.states
        _ = try await stream.all()
        var names: [String] = []
        for await state in states {
            switch state {
            case .idle: names.append("idle")
            case .connecting(let attempt): names.append("connecting \(attempt)")
            case .open(let response): names.append("open \(response.status)")
            case .waiting(_, let error): names.append("waiting \(error == nil)")
            case .closed(let error): names.append("closed \(error == nil)")
            }
        }
        #expect(names == ["idle", "connecting 1", "open 200", "waiting true", "connecting 2", "closed true"])
        #expect(stream.response?.status == 200 && stream.response?.body.length == 0)
        for await state in stream.states { if case .closed = state { names = [] } }
        #expect(names.isEmpty)
    }

    @Test("a stream can be made to reconnect, while it is open and while it waits")
    func restarting() async throws {
        let gate = Gate()
        server.enqueue(.events(TestEvent("a", id: "1"), "x").waiting(for: gate, afterBodyBytes: 30))
        server.enqueue(.events(TestEvent("b", retry: .seconds(3600))), .events("c"), .status(204))
        let stream = agent.events(GetFeed(eventOptions: .reconnecting))
        stream.reconnect()
        let states = stream.states
        let restarting = Task {
            for await state in states {
                if case .waiting = state { stream.reconnect() }
            }
        }
        let seen = Collected<String>()
        for try await event in stream {
            seen.add(event.data)
            if event.data == "a" { stream.reconnect() }
        }
        await restarting.value
        #expect(seen.all == ["a", "b", "c"])
        #expect(server.received.map { $0.headers["Last-Event-ID"] } == [nil, "1", "1", "1"])
        gate.open()
    }

    @Test("a stream has a single reader")
    func oneReader() async throws {
        server.on("/feed", .events("a"))
        let stream = agent.events(Call(.get, "feed"), EventOptions())
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        let error = await #expect(throws: StreamingError.self) { try await stream.all() }
        #expect(error?.code == .bodyAlreadyRead && server.received.count == 1)
        guard case .open = stream.state else { return _ = Issue.record("\(stream.state)") }
        #expect(try await iterator.next() == nil)
    }
}
