import Errand
import ErrandConformance
import ErrandSystemTransport
import ErrandTesting
import ErrandTraceContext
import Foundation
import Testing

@Suite("TraceContext")
struct TraceContextTests {
    @Test("passes the filter conformance suite", arguments: FilterConformance.cases(for: { TraceContext() }))
    func conformance(each: PluginConformanceCase) async throws { try await each.run() }

    private static let example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test(
        "a field is read as the standard requires",
        arguments: [
            (example, true), ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true),
            ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
            ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-brings", true),
            ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what", false),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false),
            ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false),
            ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false),
            ("00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", false),
            ("00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01", false), ("", false), ("00", false),
        ])
    func parsing(text: String, isValid: Bool) {
        #expect((TraceParent(parsing: text) != nil) == isValid)
    }

    @Test("written fields are valid, and are read back unchanged")
    func writing() throws {
        for isSampled in [true, false] {
            let parent = TraceParent(isSampled: isSampled)
            #expect(TraceParent(parsing: parent.description) == parent)
        }
        #expect(try #require(TraceParent(parsing: Self.example)).description == Self.example)
    }

    /// The fields that a stub received.
    private func sent(_ stub: StubTransport) -> [TraceParent?] {
        stub.received.map { $0.headers["traceparent"].flatMap(TraceParent.init(parsing:)) }
    }

    @Test("attempts and redirects are spans of one trace, and each call has its own trace")
    func spans() async throws {
        let stub = StubTransport { request in
            request.url.path == "/moved" ? .redirect(to: "/there") : .text("ok")
        }
        let twice = ClosureFilter(.call) { exchange, next in
            _ = try await next(exchange)
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [.traceContext, twice])
        try await agent.send(Call<Void>(.get, "moved"))
        try await agent.send(Call<Void>(.get, "moved"))
        let parents = sent(stub).compactMap(\.self)
        #expect(parents.count == 8)
        #expect(Set(parents.map(\.parentID)).count == 8)
        #expect(Set(parents.prefix(4).map(\.traceID)).count == 1)
        #expect(Set(parents.suffix(4).map(\.traceID)).count == 1)
        #expect(parents.first?.traceID != parents.last?.traceID)
    }

    @Test("a call continues the trace of its options, and a request the trace of its own field")
    func continued() async throws {
        let incoming = try #require(TraceParent(parsing: Self.example))
        let stub = StubTransport(.text("ok"))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [.traceContext(sampling: 0)])
        try await agent.send(Call<Void>(.get, "a"), options: .trace(incoming))
        try await agent.send(Call<Void>(.get, "b") { $0.headers["traceparent"] = Self.example })
        try await agent.send(Call<Void>(.get, "c") { $0.headers["traceparent"] = "nonsense" })
        let parents = sent(stub)
        #expect(parents.map { $0?.traceID == incoming.traceID } == [true, true, false])
        #expect(parents.map { $0?.isSampled } == [true, true, false])
        #expect(parents.allSatisfy { $0?.parentID != incoming.parentID })
    }

    @Test("the random flag of level 2 is read, kept by every span, and set for random IDs; unknown flags are dropped")
    func flags() throws {
        let prefix = Self.example.dropLast(2)
        for (read, written) in [
            ("00", "00"), ("01", "01"), ("02", "02"), ("03", "03"), ("04", "00"), ("ff", "03"), ("fe", "02"),
        ] {
            let parent = try #require(TraceParent(parsing: prefix + read))
            #expect(parent.description == prefix + written)
            #expect(parent.child().description.hasSuffix("-" + written) && parent.child().isRandom == parent.isRandom)
        }
        for isSampled in [true, false] {
            #expect(TraceParent(isSampled: isSampled).description.hasSuffix(isSampled ? "-03" : "-02"))
        }
    }

    @Test(
        "a state is read as the standard requires, or discarded as a whole",
        arguments: [
            ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
            (" a=1 ,\t, b@c=2 3 ,", "a=1,b@c=2 3"), ("1a_-*/@=!~", "1a_-*/@=!~"), ("", ""), (",,", ""),
            ("a= 1", "a= 1"), ("a=1,a=2", "a=1"), ("b=1, a=2,b=3,c=4,a=5", "b=1,a=2,c=4"), ("a=1,a=", nil),
            ("A=1", nil), ("a", nil), ("=1", nil), ("a=", nil), ("a=b=c", nil),
            ("_a=1", nil), ("@a=1", nil), ("a =1", nil), ("a=\u{E4}", nil), ("a=\u{7F}", nil), ("a=b\tc", nil),
            ("a;b=1", nil),
            (String(repeating: "a", count: 256) + "=1", ""), (String(repeating: "a", count: 257) + "=1", nil),
            ("a=" + String(repeating: "1", count: 256), ""), ("a=" + String(repeating: "1", count: 257), nil),
            ((0..<32).map { "k\($0)=1" }.joined(separator: ","), ""),
            ((0..<33).map { "k\($0)=1" }.joined(separator: ","), nil),
        ] as [(String, String?)])
    func states(text: String, written: String?) {
        let state = TraceState(parsing: text)
        #expect((state == nil) == (written == nil), "\(text)")
        // Long texts are only checked for validity, and must come back unchanged.
        if let state, let written { #expect(state.description == (written.isEmpty && text.count > 9 ? text : written)) }
    }

    @Test("a state over 512 characters loses its large members, then its last members, each completely")
    func limits() throws {
        let large = "large=" + String(repeating: "x", count: 200)
        let small = (0..<30).map { "k\($0)=" + String(repeating: "y", count: 15) }
        let state = try #require(TraceState(parsing: ([large] + small).joined(separator: ",")))
        #expect(state.description.utf8.count <= 512 && state.members.count == 31)
        #expect(state.description == small.prefix(26).joined(separator: ","))
        let set = try #require(TraceState.Member("k3", "new"))
        #expect(state.setting(set).members.first == set && state.setting(set).members.count == 31)
        #expect(TraceState.Member("K", "v") == nil && TraceState.Member("k", "v ") == nil)
    }

    @Test("a valid state is sent only with its trace, and an invalid state isn't sent")
    func stateOnTheWire() async throws {
        let incoming = try #require(TraceParent(parsing: Self.example))
        let stub = StubTransport(.text("ok"))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: [.traceContext])
        func send(_ parent: String?, _ states: [String], _ options: CallOptions = CallOptions()) async throws -> String?
        {
            let call = Call<Void>(.get, "a") { call in
                if let parent { call.headers["traceparent"] = parent }
                for state in states { call.headers.add("tracestate", state) }
            }
            try await agent.send(call, options: options)
            return stub.received.last?.headers["tracestate"]
        }
        #expect(try await send(Self.example, ["a=1", " b=2 "]) == "a=1,b=2")
        #expect(try await send(Self.example, ["a=1", "a=2"]) == "a=1")
        #expect(try await send(Self.example, ["a=1", "a="]) == nil)
        #expect(try await send("nonsense", ["a=1"]) == nil)
        #expect(try await send(nil, ["a=1"]) == nil)
        #expect(try await send(nil, ["a=1"], .trace(incoming)) == "a=1")
        #expect(try await send(nil, [], .trace(incoming, state: TraceState(parsing: "c=3"))) == "c=3")
    }

    @Test("another origin gets no trace")
    func origins() async throws {
        let stub = StubTransport { request in
            request.url.host() == "other.example" ? .text("ok") : .redirect(to: "https://other.example/")
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: [.traceContext])
        try await agent.send(Call<Void>(.get, "moved"))
        try await agent.send(Call<Void>(.get, "https://other.example/") { $0.headers["traceparent"] = Self.example })
        #expect(stub.received.map { $0.headers.contains("traceparent") } == [true, false, false])
    }

    @Test("the field is sent, and its span is reported in a note")
    func wire() async throws {
        let server = try TestServer()
        server.on("/users", .text("ok"))
        let recording = RecordingAccessory()
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.traceContext], accessories: [recording])
        try await agent.send(Call<Void>(.get, "users"))
        let field = try #require(server.received.first?.headers["traceparent"])
        let notes = recording.records().compactMap { record in
            if case .note(let note) = record.event { note.message } else { nil }
        }
        #expect(notes == [field])
    }
}
