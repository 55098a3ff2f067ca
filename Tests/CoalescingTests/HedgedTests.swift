import Errand
import ErrandCache
import ErrandCoalescing
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Synchronization
import Testing

/// A second request within one activity, such as a hedge, never waits for the first.
@Suite("Hedges and their shared state", .leakChecked, .endsInTime) struct HedgedTests {
    private struct Get: CacheableRequest {
        typealias Output = String
        var path: String
        var cachePolicy: CachePolicy { .http }
    }

    /// A server that delays each request by the duration a closure returns; nil means it never responds.
    private final class Server: Transport {
        let log = Log<String>()
        private let respond: @Sendable (Int, HTTPRequest) -> (delay: Duration?, HTTPResponse)

        init(_ respond: @escaping @Sendable (Int, HTTPRequest) -> (delay: Duration?, HTTPResponse)) {
            self.respond = respond
        }

        func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
            log.add(request.url.path)
            let (delay, response) = respond(log.all.count { $0 == request.url.path }, request)
            let end = options.time.now.advanced(by: delay ?? .seconds(3_600))
            if delay != .zero { try await options.time.sleep(until: end) }
            return response
        }

        func count(_ path: String) -> Int { log.all.count { $0 == path } }
    }

    private static func ok(_ request: HTTPRequest, _ headers: HTTPHeaders = [:], status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            to: request, status: status, headers: headers, body: HTTPBody(Data(status == 200 ? "ok".utf8 : "".utf8)))
    }

    /// Sends requests until the hedge filter knows that 95 % of them take ten milliseconds.
    private func warm(_ agent: NetworkAgent, _ server: Server, _ time: ManualTimeSource) async throws {
        for sent in 0..<40 {
            let task = Task { try await agent.send(Get(path: "warm")).value }
            try await eventually {
                server.count("/warm") == sent + 1 && time.nextWake == time.now.advanced(by: .milliseconds(10))
            }
            time.advance(by: .milliseconds(10))
            _ = try await task.value
        }
    }

    private func arrays() -> [[any Filter]] {
        [
            [.standardResilience, .hedge, .cache(.memory()), .coalescing],
            [.hedge, .coalescing],
            [.hedge, .coalescing(in: .call)],
            [.hedge, .coalescing, .cache(.memory())],
        ]
    }

    @Test("a hedge sends its second request in the recommended order of filters, and in other orders", arguments: 0..<4)
    func coalescing(index: Int) async throws {
        let (time, recorder) = (ManualTimeSource(), RecordingAccessory())
        let server = Server { number, request in
            let headers: HTTPHeaders = ["Cache-Control": "no-store"]
            if request.url.path == "/warm" { return (.milliseconds(10), Self.ok(request, headers)) }
            return (number == 1 ? nil : .zero, Self.ok(request, headers))
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: server, filters: arrays()[index], accessories: [recorder],
            time: time)
        try await warm(agent, server, time)
        let task = Task { try await agent.send(Get(path: "slow")).value }
        try await eventually { time.nextWake == time.now.advanced(by: .milliseconds(10) + .microseconds(1)) }
        time.advance(by: .milliseconds(11))
        #expect(try await task.value == "ok")
        #expect(server.count("/slow") == 2)
    }

    @Test("calls that joined an exchange also share its second request")
    func joined() async throws {
        let (time, recorder) = (ManualTimeSource(), RecordingAccessory())
        let server = Server { number, request in
            if request.url.path == "/warm" { return (.milliseconds(10), Self.ok(request)) }
            return (number == 1 ? nil : .zero, Self.ok(request))
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: server, filters: [.hedge, .coalescing],
            accessories: [recorder], time: time)
        try await warm(agent, server, time)
        let first = Task { try await agent.send(Get(path: "slow")).value }
        try await eventually { server.count("/slow") == 1 }
        let second = Task { try await agent.send(Get(path: "slow")).value }
        try await recorder.joined(by: 1)
        try await eventually { time.sleeperCount == 3 }
        time.advance(by: .milliseconds(11))
        for task in [first, second] { #expect(try await task.value == "ok") }
        #expect((2...3).contains(server.count("/slow")))
    }

    @Test("a hedge's second request doesn't wait for the validation that the first request makes or waits for")
    func validations() async throws {
        let time = ManualTimeSource()
        let server = Server { number, request in
            if request.url.path == "/warm" {
                return (.milliseconds(10), Self.ok(request, ["Cache-Control": "no-store"]))
            }
            let headers: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=1"]
            // The first response is stored; the next validation never ends.
            if number == 1 { return (.zero, Self.ok(request, headers)) }
            return (number == 2 ? nil : .zero, Self.ok(request, headers, status: 304))
        }
        let cache = ResponseCache(.memory())
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: server,
            filters: [.hedge(HedgePolicy(share: 1)), cache, .coalescing], time: time)
        _ = try await agent.send(Get(path: "stored"))
        await cache.flush()
        try await warm(agent, server, time)
        time.advance(by: .seconds(10))
        let tasks = (0..<2).map { _ in Task { try await agent.send(Get(path: "stored")).value } }
        // Three sleepers: a validation that doesn't end, and the timers of two hedges.
        try await eventually { server.count("/stored") == 2 && time.sleeperCount == 3 }
        time.advance(by: .milliseconds(11))
        for task in tasks { #expect(try await task.value == "ok") }
        #expect(server.count("/stored") >= 3)
    }

    @Test("a filter that sends two requests at once gets two exchanges")
    func twoAtOnce() async throws {
        let gate = Gate()
        let twice = ClosureFilter { exchange, next in
            async let first = next(exchange)
            async let second = next(exchange)
            let (one, two) = try await (first, second)
            return one.status == two.status ? one : two
        }
        let service = Service()
        let agent = NetworkAgent(service.transport, twice, .coalescing)
        let task = Task { try await agent.text() }
        try await service.gate.reached(by: 2)
        service.gate.open()
        _ = try await task.value
        #expect(service.exchanges == 2)
        gate.open()
    }

    @Test("with a shared retry, each request accepts its own statuses")
    func demands() async throws {
        struct Ask: Request {
            typealias Output = String
            var acceptableStatuses = StatusCodes.successful
            var path: String { "x" }
        }
        let (gate, time) = (Gate(), ManualTimeSource())
        let count = Counter()
        let transport = StubTransport(maximumRecordedRequests: 0) { _ in
            let number = count.increment()
            return (number <= 2 ? StubResponse.text("busy", status: 503) : .text("ok")).waiting(for: gate)
        }
        let agent = NetworkAgent(
            transport, time: time, CoalescingFilter(in: .call), .retry(RetryPolicy(backoff: .none)))
        let lenient = agent.start(Ask(acceptableStatuses: [200, 503]))
        try await gate.reached()
        let strict = agent.start(Ask())
        try await gate.reached(by: 2)
        gate.open()
        #expect(try await lenient.value.http.status == 503)
        #expect(try await strict.value.value == "ok")
    }
}
