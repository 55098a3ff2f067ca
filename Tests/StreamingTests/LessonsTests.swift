import Errand
import ErrandEssentials
import ErrandStreaming
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

/// Faults that users of other event stream clients have reported. Tests/Lessons.md has the reports.
@Suite("Bugs of other event stream libraries", .endsInTime, .leakChecked) struct StreamLessonsTests {
    private let server: TestServer
    private let agent: NetworkAgent

    init() throws {
        server = try TestServer()
        agent = NetworkAgent(baseURL: server.url, transport: .system)
    }

    private static let texts = EventTypes<String>().otherwise { $0.data }.ending(at: "[DONE]")

    @Test("each request has the ID of the last event as its only ID, even if the stream began with an ID")
    func firstID() async throws {
        server.enqueue(.events(TestEvent("a", id: "6")), .events("b"), .events(TestEvent("c", id: "7")), .status(204))
        let options = EventOptions(reconnection: .immediate, lastEventID: "5")
        #expect(try await agent.events(Call(.get, "feed"), options).all().map(\.id) == ["6", "6", "7"])
        #expect(server.received.map { $0.headers.values(of: .lastEventID) } == [["5"], ["6"], ["6"], ["7"]])
    }

    @Test("a connection that lasted resets the wait once, not for later failures")
    func lastingConnection() async throws {
        let (time, stub, gate) = (ManualTimeSource(), StubTransport(), Gate())
        let lasting = StubResponse.stream {
            try await gate.wait()
            return nil
        }
        let lost = StubResponse.failure(ErrandError(.cannotConnect, "refused"))
        stub.on(
            "/feed", response: lost, lost, lasting.header(.contentType, "text/event-stream"), lost, lost, lost,
            .status(204))
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
        let policy = ReconnectionPolicy(backoff: .exact(.seconds(1), maximum: .seconds(10)))
        let stream = agent.events(GetFeed(eventOptions: EventOptions(reconnection: policy)))
        let reading = Task { try await stream.all() }
        for (number, seconds) in [1, 2, 1, 2, 4, 8].enumerated() {
            if number == 2 {
                try await gate.reached()
                time.advance(by: .seconds(100))
                gate.open()
            }
            try await eventually { time.nextWake == time.now.advanced(by: .seconds(seconds)) }
            time.advance(by: .seconds(seconds))
        }
        #expect(try await reading.value.isEmpty)
    }

    @Test("each silence replaces the connection by one other connection, however often that happens")
    func oneConnectionAfterSilences() async throws {
        let (server, time) = (try TestServer(), ManualTimeSource())
        let silent = TestResponse.events([.comment("one"), .comment("two")]).stalled(afterBodyBytes: 6)
        let count = Counter()
        server.on("/feed") { _ in count.increment() < 6 ? silent : .status(204) }
        let agent = NetworkAgent(baseURL: server.url, transport: .system, time: time)
        let options = EventOptions(reconnection: .immediate, timeout: .seconds(10))
        let stream = agent.events(GetFeed(eventOptions: options))
        let reading = Task { try await stream.all() }
        try await eventually {
            switch stream.state {
            case .open, .waiting: time.advance(by: .seconds(6))
            default: break
            }
            return server.requestCount >= 6
        }
        #expect(try await reading.value.isEmpty && server.requestCount == 6 && server.connectionCount <= 6)
        try await eventually { server.openConnections <= 1 }
    }

    @Test("the standard policy's waits get longer, up to a limit, with jitter at every step")
    func standardPolicy() {
        let policy = ReconnectionPolicy.standard
        let seconds: [Int] = [3, 6, 12, 24, 48, 60, 60, 60]
        for (number, expected) in seconds.enumerated() {
            let waits = [0, 0.5, 1].map { policy.wait(retry: nil, silent: number + 1, chance: $0) }
            #expect(waits[0] >= .seconds(3) && waits.allSatisfy { $0 <= .seconds(expected) * 1.25 })
            #expect(waits[0] >= .seconds(expected) * 0.74 && waits[0] < waits[1] && waits[1] < waits[2], "\(waits)")
        }
    }

    @Test("a rejected stream ends its connection, even if the body of the rejection is endless")
    func refusal() async throws {
        for type in ["application/json", "text/event-stream"] {
            let refusal = TestResponse.text(#"{"error":"busy"}"#, status: 429).header(.contentType, type)
            server.on("/feed", refusal.stalled(afterBodyBytes: 5))
            let events = await #expect(throws: ErrandError.self) { try await agent.events(GetFeed()).all() }
            #expect(events?.code == .unacceptableStatus && events?.response?.status == 429)
            let lines = await #expect(throws: ErrandError.self) {
                try await agent.lines(Call<HTTPBody>(.get, "feed")).all()
            }
            #expect(lines?.code == .unacceptableStatus)
            try await server.waitUntilNoConnections()
        }
    }

    @Test("a connection that breaks after the end mark isn't a failure")
    func breakAfterMark() async throws {
        // The chunks of the first two events.
        server.on("/feed", TestResponse.events("a", "[DONE]", "b").closing(afterBodyBytes: 14 + 19))
        #expect(try await agent.events(GetFeed(), as: Self.texts).all() == ["a"])
        #expect(server.requestCount == 1)
    }

    @Test("a stream that ends without its end mark is truncated, and the values before it are read")
    func missingMark() async throws {
        server.enqueue(.events("a", "b"), .events("c"), .status(204), .events([]))
        var once = agent.events(Call(.get, "feed"), EventOptions(), as: Self.texts).makeAsyncIterator()
        #expect(try await once.next() == "a")
        #expect(try await once.next() == "b")
        let cut = await #expect(throws: StreamingError.self) { try await once.next() }
        #expect(cut?.code == .truncated && cut?.element == 3)
        #expect(try await once.next() == nil)
        var again = agent.events(GetFeed(), as: Self.texts).makeAsyncIterator()
        #expect(try await again.next() == "c")
        let refused = await #expect(throws: StreamingError.self) { try await again.next() }
        #expect(refused?.code == .truncated)
        let plain = EventTypes<String>().otherwise { $0.data }
        #expect(try await agent.events(Call(.get, "feed"), EventOptions(), as: plain).all().isEmpty)
    }

    @Test("an end mark can be an event's name, with any data")
    func namedMark() async throws {
        server.on("/feed", .events("a", TestEvent(#"{"usage":7}"#, name: "done"), "b"))
        let types = EventTypes<String>().otherwise { $0.data }.ending { $0.name == "done" }
        #expect(try await agent.events(GetFeed(), as: types).all() == ["a"])
    }

    @Test("an error that the server sends as an event can be thrown, with its message")
    func errorEvent() async throws {
        struct Overloaded: Error, Equatable { let text: String }
        server.on("/feed", .events("a", TestEvent("overloaded", name: "error"), "[DONE]"))
        let types = EventTypes<String>().otherwise { event in
            if event.name == "error" { throw Overloaded(text: event.data) }
            return event.data
        }.ending(at: "[DONE]")
        var iterator = agent.events(GetFeed(), as: types).makeAsyncIterator()
        #expect(try await iterator.next() == "a")
        let error = await #expect(throws: StreamingError.self) { try await iterator.next() }
        #expect(error?.underlying as? Overloaded == Overloaded(text: "overloaded"))
        #expect(try await iterator.next() == nil)
    }

    @Test("leaving the loop of a reconnecting stream doesn't send another request")
    func leaving() async throws {
        let (time, stub) = (ManualTimeSource(), StubTransport())
        stub.on("/feed", response: .events(["a"]))
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
        let stream = agent.events(GetFeed(eventOptions: .reconnecting))
        for try await _ in stream { break }
        guard case .closed(nil) = stream.state else { return _ = Issue.record("\(stream.state)") }
        try await eventually { agent.activities.isEmpty }
        #expect(time.sleeperCount == 0 && stub.received.count == 1)
        // A stream that waits to reconnect when its reader leaves.
        let waiting = agent.events(GetFeed(eventOptions: .reconnecting))
        let reading = Task { try await waiting.all() }
        try await time.waitForSleepers()
        reading.cancel()
        _ = await reading.result
        time.advance(by: .seconds(3600))
        try await eventually { agent.activities.isEmpty }
        #expect(stub.received.count == 2)
        guard case .closed(_?) = waiting.state else { return _ = Issue.record("\(waiting.state)") }
    }

    @Test("characters that count as line ends in some languages stay within lines, events and JSON lines")
    func otherLineEnds() async throws {
        let text = "a\u{2028}b\u{2029}c\u{85}d\u{1C}e"
        #expect(try await HTTPBody(stream: text + "\nf").lines().all() == [text, "f"])
        #expect(try await HTTPBody(stream: "data: \(text)\n\n").events().all().map(\.data) == [text])
        let json = "a\u{2028}b\u{2029}c\u{85}d"
        for size in 1...json.utf8.count {
            let body = HTTPBody(Data("[\"\(json)\"]\n[]\n".utf8), cutAt: size)
            #expect(try await body.jsonLines(of: [String].self).all() == [[json], []])
        }
    }

    @Test("events of a compressed stream are read as soon as the server has flushed them")
    func compressed() async throws {
        // gzip, flushed after each event.
        let first = try #require(Data(base64Encoded: "H4sIAAAAAAACA0pJLEm0Ukjk4gIAAAD//w=="))
        let second = try #require(Data(base64Encoded: "SwEzkri4ALpZx98SAAAA"))
        let gate = Gate()
        let response = TestResponse.data(first + second, contentType: "text/event-stream")
        server.on(
            "/feed",
            response.header("Content-Encoding", "gzip").untilClose().waiting(for: gate, afterBodyBytes: first.count))
        var iterator = agent.events(Call(.get, "feed"), EventOptions()).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        gate.open()
        #expect(try await iterator.next()?.data == "b")
        #expect(try await iterator.next() == nil)
    }

    @Test("after a stream that ended at its mark, the next request uses the same connection")
    func reuse() async throws {
        server.on("/feed", .events("a", "[DONE]"))
        for _ in 0..<5 { #expect(try await agent.events(GetFeed(), as: Self.texts).all() == ["a"]) }
        #expect(server.connectionCount == 1)
    }

    @Test("an end mark ends the stream even if the response doesn't end")
    func endlessAfterMark() async throws {
        let time = ManualTimeSource()
        let agent = NetworkAgent(baseURL: server.url, transport: .system, time: time)
        server.on("/feed", TestResponse.events("a", "[DONE]", "b").stalled(afterBodyBytes: 14 + 19))
        #expect(try await agent.events(GetFeed(), as: Self.texts).all() == ["a"])
        try await server.waitUntilNoConnections()
    }

    @Test("an error in an event without a name isn't taken for a value, and the app can throw it")
    func unnamedError() async throws {
        struct Chunk: Decodable, Sendable { let choices: [String] }
        struct Fault: Decodable, Error, Equatable { let error: [String: String] }
        let fault = #"{"error":{"message":"quota exceeded"}}"#
        server.on("/feed", .events(#"{"choices":["a"]}"#, TestEvent(fault), "[DONE]"))
        var typed = agent.events(GetFeed(), as: EventTypes<Chunk>.any.ending(at: "[DONE]")).makeAsyncIterator()
        #expect(try await typed.next()?.choices == ["a"])
        let unread = await #expect(throws: StreamingError.self) { try await typed.next() }
        #expect(unread?.code == .decodingFailed && unread?.element == 2)
        let types = EventTypes<String>().otherwise { event in
            let data = Data(event.data.utf8)
            if let fault = try? JSONDecoder().decode(Fault.self, from: data) { throw fault }
            return event.data
        }.ending(at: "[DONE]")
        var thrown = agent.events(GetFeed(), as: types).makeAsyncIterator()
        _ = try await thrown.next()
        let error = await #expect(throws: StreamingError.self) { try await thrown.next() }
        #expect(error?.underlying as? Fault == Fault(error: ["message": "quota exceeded"]))
    }

    @Test("an event beyond the limit ends a reconnecting stream with an error, instead of being requested forever")
    func oversizedEvent() async throws {
        server.on("/feed", .events(TestEvent("a", id: "1"), TestEvent(String(repeating: "x", count: 500), id: "2")))
        let stream = agent.events(
            Call(.get, "feed"), EventOptions(reconnection: .immediate, maximumEventBytes: 100))
        var events = stream.makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        let error = await #expect(throws: StreamingError.self) { try await events.next() }
        #expect(error?.code == .elementTooLong)
        #expect(try await events.next() == nil && server.received.count == 1)
    }

    @Test("the app's own ID, in any case, is replaced by the IDs of the events")
    func ownID() async throws {
        server.enqueue(.events("a"), .events(TestEvent("b", id: "7")), .status(204))
        let call = Call<HTTPBody>(.get, "feed") { $0.headers = ["last-event-id": "5"] }
        let stream = agent.events(call, EventOptions(reconnection: .immediate))
        #expect(try await stream.all().map(\.data) == ["a", "b"])
        #expect(server.received.map { $0.headers.values(of: .lastEventID) } == [["5"], ["5"], ["7"]])
    }
}
