import Errand
import ErrandBatch
import ErrandCache
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import ErrandURLSessionTransport
import Testing

@testable import ErrandStreaming

@Suite("Streams in an agent", .endsInTime, .leakChecked) struct StreamSurroundingsTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test(
        "events arrive one by one while the connection is open, on every transport",
        arguments: ["libcurl", "URLSession"])
    func oneByOne(name: String) async throws {
        let transport: any Transport = name == "libcurl" ? .system : .urlSession
        let gates = [Gate(), Gate()]
        server.on("/feed") { request in
            if request.headers["Last-Event-ID"] == "2" { return .status(204) }
            if request.headers["Last-Event-ID"] == "1" {
                return .events(TestEvent("b", id: "2"), "c").waiting(for: gates[1], afterBodyBytes: 20)
            }
            return .events(TestEvent("a", id: "1"), "x").waiting(for: gates[0], afterBodyBytes: 20)
                .closing(afterBodyBytes: 22)
        }
        let agent = NetworkAgent(baseURL: server.url, transport: transport)
        var iterator = agent.events(GetFeed()).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        gates[0].open()
        #expect(try await iterator.next()?.data == "b")
        gates[1].open()
        #expect(try await iterator.next()?.data == "c")
        #expect(try await iterator.next() == nil)
    }

    @MainActor @Test("a stream can be read on the main actor")
    func mainActor() async throws {
        server.on("/feed", .resumableEvents([TestEvent("a", id: "1"), TestEvent("b", id: "2")]))
        server.on("/log", .text("one\ntwo"))
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        var seen: [String] = []
        for try await event in agent.events(GetFeed()) {
            MainActor.assertIsolated()
            seen.append(event.data)
        }
        for try await line in agent.lines(GetStream(path: "log")) {
            MainActor.assertIsolated()
            seen.append(line)
        }
        #expect(seen == ["a", "b", "one", "two"])
    }

    @Test("a cache doesn't store or serve an event stream", arguments: [true, false])
    func cache(isTimed: Bool) async throws {
        server.on("/feed") { request in
            .events(TestEvent("\(request.index)", id: "1")).header("Cache-Control", "max-age=3600").header(
                "ETag", "\"1\"")
        }
        let policy: CachePolicy = isTimed ? .timed(.seconds(3600)) : .http
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.cache(.memory(), policy: policy)])
        var seen: [String] = []
        for try await event in agent.events(GetFeed()) {
            seen.append(event.data)
            if seen.count == 3 { break }
        }
        #expect(Set(seen).count == 3)
        let filter = EventStreamFilter(lastEventID: "1", silence: nil, seen: SeenExchange())
        #expect(agent.explain(GetFeed(), options: CallOptions(filters: [filter])).problems.isEmpty)
    }

    @Test("a stream in a composite belongs to the composite, and ends with it")
    func composite() async throws {
        struct First: Composite {
            var activityKind: ActivityKind { ActivityKind(rawValue: "first") }
            func run(on agent: ScopedAgent) async throws -> String {
                let stream = agent.events(GetFeed())
                Task { try await stream.all() }
                for await state in stream.states { if case .open = state { break } }
                return "open"
            }
        }
        server.on("/feed", .events("a", "b").stalled(afterBodyBytes: 13))
        let started = StartedActivities()
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [started])
        #expect(try await agent.run(First()) == "open")
        #expect(started.all.map(\.kind.rawValue) == ["first", "stream", "request"])
        #expect(started.all.map(\.parent) == [nil, started.all[0].id, started.all[1].id])
        #expect(started.all[1].isOver && agent.activities.isEmpty)
        try await server.waitUntilNoConnections()
    }

    @Test("filters of the call see and can change each connection's request")
    func callFilters() async throws {
        server.on("/feed") { request in
            request.headers["X-Token"] == "2"
                ? .status(204) : .events(TestEvent(request.headers["X-Token"] ?? "", id: "1"))
        }
        let count = Collected<Int>()
        let options = CallOptions(filters: [
            .closure { exchange, next in
                var exchange = exchange
                count.add(1)
                exchange.http.headers["X-Token"] = "\(count.all.count)"
                return try await next(exchange)
            }
        ])
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        #expect(try await agent.events(GetFeed(), options: options).all().map(\.data) == ["1"])
        #expect(count.all.count == 2)
    }

    @Test("a reader that pauses makes the sender pause")
    func backpressure() async throws {
        let line = Data("a line of text that is read slowly, one after the other\n".utf8)
        server.on("/log", .repeating(line, count: line.count * 2_000_000))
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        var iterator = agent.lines(GetStream(path: "log")).makeAsyncIterator()
        #expect(try await iterator.next()?.isEmpty == false)
        // Wait until the server stops sending: the sockets and the transport buffer only a limited amount.
        var (before, now) = (Int64(-1), server.sentBytes)
        while before != now {
            before = now
            try await Task.sleep(for: .milliseconds(300))
            now = server.sentBytes
        }
        #expect(now < 60_000_000)
    }
}
