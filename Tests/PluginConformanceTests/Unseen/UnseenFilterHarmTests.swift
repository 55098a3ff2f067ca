import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// A request whose parts a test chooses.
struct Ask: Request {
    typealias Output = Data
    var method: HTTPMethod = .get
    var path = "a"
    var headers: HTTPHeaders = [:]
    var body: RequestBody = .none
    var deadline: Duration?
    var acceptableStatuses: StatusCodes { .any }
}

struct AskForStream: Request {
    typealias Output = HTTPBody
    var path = "a"
    var delivery: BodyDelivery { .stream }
    func decode(_ response: HTTPResponse) async throws -> HTTPBody { response.body }
}

/// Shows the harm that each filter of the catalogue does to an app, without the suites.
@Suite("Mistakes in filters do harm", .endsInTime)
struct UnseenFilterHarmTests {
    private func agent(
        _ transport: StubTransport, _ filters: any Filter..., time: some TimeSource = SystemTimeSource()
    ) -> NetworkAgent {
        NetworkAgent(baseURL: "https://api.example.com", transport: transport, filters: filters, time: time)
    }

    private func repeating() -> some Filter {
        ClosureFilter { exchange, next in
            let first = try await next(exchange)
            if first.status != 503 { return first }
            await exchange.discard(first)
            return try await next(exchange)
        }
    }

    @Test("a payment that is repeated has another key")
    func keys() async throws {
        func count(_ filter: any Filter) async throws -> Int {
            let stub = StubTransport(.status(503))
            try await agent(stub, repeating(), filter).send(Ask(method: .post, body: .text("pay")))
            return Set(stub.received.compactMap { $0.headers[.idempotencyKey] }).count
        }
        #expect(try await count(KeyPerAttempt()) == 2)
        #expect(try await count(KeyPerCall()) == 1)
    }

    @Test("a cancelled probe closes a host forever")
    func breaker() async throws {
        let (time, gate) = (ManualTimeSource(), Gate())
        let isDown = Atomic(true)
        let stub = StubTransport { _ in
            if isDown.load(ordering: .relaxed) { return .failure(ErrandError(.cannotConnect, "down")) }
            return .status(200).waiting(for: gate)
        }
        let agent = agent(stub, StuckBreaker(), time: time)
        for _ in 0..<3 { _ = try? await agent.send(Ask()) }
        isDown.store(false, ordering: .relaxed)
        time.advance(by: .seconds(2))
        let probe = agent.start(Ask())
        try await gate.reached()
        probe.cancel()
        _ = await probe.result
        gate.open()
        time.advance(by: .seconds(100_000))
        #expect(await code { try await agent.send(Ask()) } == .cannotConnect)
    }

    @Test("the fourth call isn't retried")
    func budget() async throws {
        let count = Atomic(0)
        let stub = StubTransport { _ in .status(count.add(1, ordering: .relaxed).newValue % 2 == 1 ? 503 : 200) }
        let agent = agent(stub, SharedBudget())
        for _ in 0..<3 { #expect(try await agent.send(Ask()).http.status == 200) }
        #expect(try await agent.send(Ask()).http.status == 503)
    }

    @Test("a wait passes the deadline, and a test's clock doesn't end it")
    func wait() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport { _ in
            time.advance(by: .milliseconds(990))
            return .status(503)
        }
        _ = try? await agent(stub, WallClockBackoff(), time: time).send(Ask(deadline: .seconds(1)))
        #expect(stub.received.count == 2)
    }

    @Test("a payment is made twice")
    func redirect() async throws {
        let stub = StubTransport { request in
            if request.host == "api.example.com" { return .redirect(to: "https://other.example.com/b", status: 307) }
            return .failure(ErrandError(.cannotConnect, "down"))
        }
        _ = try? await agent(stub, RedirectBlindRetry()).send(Ask(method: .post, body: .text("pay")))
        #expect(stub.received.filter { $0.host == "api.example.com" }.count == 2)
    }

    @Test("cancelled calls use up the permits")
    func permits() async throws {
        let time = ManualTimeSource()
        let agent = agent(StubTransport(.status(200)), LostPermit(permits: 1, pause: .seconds(1)), time: time)
        let first = agent.start(Ask())
        try await time.waitForSleepers()
        first.cancel()
        _ = await first.result
        let second = agent.start(Ask())
        for _ in 0..<50 {
            try await time.waitForSleepers()
            time.advance(by: .milliseconds(2))
        }
        time.advance(by: .seconds(10))
        #expect(second.isRunning)
        second.cancel()
    }

    @Test("a part of a file is taken for the file")
    func range() async throws {
        let stub = StubTransport { request in
            request.headers.contains(.range) ? .text("be", status: 206) : .text("beginning")
        }
        let agent = agent(stub, RangeBlindCache())
        _ = try await agent.send(Ask(headers: [.range: "bytes=0-1"]))
        #expect(try await agent.send(Ask()).value == Data("be".utf8))
    }

    @Test("the app's own condition is answered with the body it has")
    func conditionals() async throws {
        let stub = StubTransport { request in
            if request.headers[.ifNoneMatch] == "\"1\"" { return .status(304) }
            return .text("long").header(.entityTag, "\"1\"")
        }
        let agent = agent(stub, OwnConditionals())
        let plain = agent
        _ = try await plain.send(Ask())
        let own = try await plain.send(Ask(headers: [.ifNoneMatch: "\"1\""]))
        #expect(own.http.status == 200)
    }

    @Test("the trace of a call is lost")
    func detached() async throws {
        func trace(_ filter: any Filter) async throws -> String? {
            let seen = Log<String?>()
            let stub = StubTransport { _ in
                seen.add(Trace.id)
                return .status(200)
            }
            let outer = ClosureFilter { exchange, next in
                try await Trace.$id.withValue("7") { try await next(exchange) }
            }
            try await agent(stub, outer, filter).send(Ask())
            return seen.all.first ?? nil
        }
        #expect(try await trace(DetachedSend()) == nil)
        #expect(try await trace(ChildTaskSend()) == "7")
    }

    @Test("a filter further in can't open a connection")
    func wrapper() async throws {
        let connects = Log<Bool>()
        let inner = ClosureFilter(.wire) { exchange, next in
            connects.add(exchange.transport is any ConnectingTransport)
            return try await next(exchange)
        }
        try await agent(StubTransport(.status(200)), ForgetfulWrapper(), inner).send(Ask())
        #expect(connects.all == [false])
    }

    @Test("a character between two chunks is lost")
    func text() async throws {
        let bytes = Data("né".utf8)
        let stub = StubTransport(.chunks([bytes.prefix(2), Data(bytes.dropFirst(2))]))
        let body = try await agent(stub, ChunkText()).send(AskForStream()).value
        #expect(try await body.collect(upTo: 100) != bytes)
    }

    @Test("empty chunks do no harm")
    func empty() async throws {
        let chunks = Mutex(["a", "", "b"].map { Data($0.utf8) })
        for filter: any Filter in [CountedBytes(), SevenBytes()] {
            let stub = StubTransport(
                .stream {
                    chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                })
            chunks.withLock { $0 = ["a", "", "b"].map { Data($0.utf8) } }
            let body = try await agent(stub, filter).send(AskForStream()).value
            #expect(try await body.collect(upTo: 100) == Data("ab".utf8))
        }
    }

    @Test("HEAD never succeeds")
    func head() async throws {
        let stub = StubTransport(.status(200, headers: [.contentLength: "12"]))
        #expect(await code { try await agent(stub, HeadLength()).send(Ask(method: .head)) } == .truncated)
    }
}

enum Trace {
    @TaskLocal static var id: String?
}
