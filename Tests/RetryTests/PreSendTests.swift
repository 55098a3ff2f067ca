import Errand
import ErrandEssentials
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import Synchronization
import Testing

@Suite("Requests that wait in the transport", .endsInTime, .leakChecked) struct PreSendTests {
    /// A transport with this many connections. Requests without a connection wait in it, and ask before they go out.
    private final class Queueing: Transport {
        let (turns, wire): (Gate, Wire)
        private let free: Mutex<Int>
        init(_ connections: Int, _ turns: Gate, _ wire: Wire) {
            free = Mutex(connections)
            (self.turns, self.wire) = (turns, wire)
        }

        func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
            let waits = free.withLock { free in
                free -= 1
                return free < 0
            }
            if waits { try await turns.wait() }
            try options.checkBeforeSending(request)
            return try await wire.send(request, options: options)
        }
    }

    @Test(
        "a request that waits in the transport while its host asks for a pause isn't sent during the pause",
        arguments: [true, false], [true, false])
    func held(standard: Bool, isQuota: Bool) async throws {
        let (time, turns, door) = (ManualTimeSource(), Gate(), Gate())
        let wire = Wire { number, request, _ in
            if number > 1 { return response(request) }
            try await door.wait()
            return isQuota
                ? response(request, 200, ["RateLimit": "\"a\";r=0;t=2"]) : response(request, 503, ["Retry-After": "2"])
        }
        let agent = NetworkAgent(
            Queueing(1, turns, wire), standard ? [.standardResilience] : [.retry, .hostLimit(HostLimits())], time)
        let ended = Counter()
        let tasks = (0..<20).map { number in
            Task {
                defer { ended.increment() }
                return try await agent.send(Get("\(number)")).value
            }
        }
        try await turns.reached(by: 19)
        door.open()
        // The first request is finished, or waits for its retry.
        let end = time.now.advanced(by: .seconds(2))
        try await eventually { isQuota ? ended.value == 1 : time.nextWake == end }
        turns.open()
        try await eventually { time.sleeperCount >= (isQuota ? 19 : 20) && time.nextWake == end }
        #expect(wire.sent == 1)
        time.advance(by: .seconds(2))
        for task in tasks { #expect(await outcome(task) == "ok") }
    }

    @Test("an error that a filter throws before the first byte is thrown by next, and the request isn't sent")
    func ownFilter() async throws {
        struct Closed: Error {}
        struct Switch: PreSendFilter {
            let log: Log<String>
            var stages: FilterStages { .wire }
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                do { return try await next(exchange) } catch let error as Closed {
                    log.add("held")
                    throw error
                }
            }
            func willSend(_ request: HTTPRequest, time: any TimeSource) throws {
                if request.url.path().hasPrefix("/no") { throw Closed() }
            }
        }
        let (turns, log) = (Gate(isOpen: true), Log<String>())
        let wire = Wire { _, request, _ in response(request) }
        for brings in [false, true] {
            let filter = Switch(log: log)
            let agent = NetworkAgent(Queueing(1, turns, wire), brings ? [] : [filter])
            let options = brings ? CallOptions(filters: [filter]) : CallOptions()
            #expect(try await agent.send(Get("yes"), options: options).value == "ok")
            await #expect(throws: Closed.self) { try await agent.send(Get("no"), options: options) }
        }
        #expect(wire.sent == 2 && log.all == ["held", "held"])
    }

    @Test("a body that can be read only once is sent anyway, because it couldn't be sent later")
    func onceOnly() async throws {
        let (time, turns, door) = (ManualTimeSource(), Gate(), Gate())
        let wire = Wire { number, request, _ in
            let body = try await request.body.open().collect(upTo: 100)
            if number > 1 { return HTTPResponse(to: request, status: 200, body: HTTPBody(body)) }
            try await door.wait()
            return response(request, 200, ["RateLimit": "\"a\";r=0;t=2"])
        }
        let agent = NetworkAgent(Queueing(1, turns, wire), [.hostLimit(HostLimits())], time)
        let first = agent.sending()
        try await eventually { wire.sent == 1 }
        let second = agent.sending(
            Get {
                $0.method = .post
                $0.body = .stream(HTTPBody(Data("once".utf8)))
            })
        try await turns.reached()
        door.open()
        #expect(await outcome(first) == "ok")
        turns.open()
        #expect(await outcome(second) == "once")
    }

    @Test("a request that a later filter sends to another host waits in that host's queue")
    func otherHost() async throws {
        struct Mirror: Filter {
            var stages: FilterStages { .wire }
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                var exchange = exchange
                if let url = URL(string: "https://mirror.example/x") { exchange.http.url = url }
                return try await next(exchange)
            }
        }
        let (time, turns) = (ManualTimeSource(), Gate(isOpen: true))
        let wire = Wire { number, request, _ in
            response(request, 200, number == 1 ? ["RateLimit": "\"a\";r=0;t=2"] : [:])
        }
        let agent = NetworkAgent(Queueing(1, turns, wire), [.hostLimit(HostLimits())], time)
        _ = try await agent.send(Get("https://mirror.example/first"))
        let tasks = (0..<5).map { _ in agent.sending(Get { $0.filters = [Mirror()] }) }
        try await eventually { time.sleeperCount == 5 }
        #expect(wire.sent == 1 && time.nextWake == time.now.advanced(by: .seconds(2)))
        time.advance(by: .seconds(2))
        for task in tasks { #expect(await outcome(task) == "ok") }
    }

    #if os(Linux)
    @Test(
        "requests that wait for one of libcurl's connections aren't sent while the host is paused",
        arguments: [true, false])
    func connections(standard: Bool) async throws {
        let (server, time, door) = (try TestServer(), ManualTimeSource(), Gate())
        let count = Counter()
        server.on("/x") { _ in
            if count.increment() > 1 { return .text("ok").waiting(for: door) }
            return .status(503).header("Retry-After", "2")
        }
        let limits = HostLimits(maximumConcurrent: 1_000)
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system,
            filters: [standard ? StandardResilience.with(limits) : .retry], time: time)
        let ended = Counter()
        let tasks = (0..<100).map { _ in
            Task {
                defer { ended.increment() }
                return try await agent.send(Call<String>(.get, "x")).value
            }
        }
        // The transport has 64 connections.
        try await eventually { time.nextWake == time.now.advanced(by: .seconds(2)) }
        door.open()
        try await eventually { ended.value == server.received.count - 1 }
        for _ in 0..<50 { await Task.yield() }
        // A free connection may carry another request before the response that freed it reaches the host limit.
        #expect(server.received.count <= 72)
        let clock = Task {
            while (try? await time.waitForSleepers()) != nil {
                time.advance(by: .milliseconds(100))
                await Task.yield()
            }
        }
        for task in tasks { #expect(await outcome(task) == "ok") }
        clock.cancel()
        await clock.value
    }
    #endif
}

extension StandardResilience {
    fileprivate static func with(_ limits: HostLimits) -> StandardResilience {
        var settings = Settings()
        settings.limits = limits
        return StandardResilience(settings)
    }
}
