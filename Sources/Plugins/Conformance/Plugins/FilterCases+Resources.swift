import Errand
import ErrandEssentials
import ErrandTesting

extension FilterDraft {
    static let resources: [FilterDraft] = [
        FilterDraft("a call that fails, is rejected or is dropped releases its slot") { bench in
            for end in CallEnd.all { try await leavesTurn(bench, after: end) }
        },
        FilterDraft("a cancelled call releases its slot") { bench in
            let time = BenchTime(horizon: .seconds(3_600))
            let gate = Gate()
            let transport = BenchTransport(keepsArrivals: false) { request, _ in
                if request.url.path.hasSuffix("good") { return .text("ok", for: request) }
                try await gate.wait(within: .seconds(3_600))
                return .text("late", for: request)
            }
            let agent = try bench.agent(transport, filter: bench.make(), time: time)
            let isOver = try await bench.ends {
                for round in 1...36 {
                    // When the tasks are cancelled, some calls have reached the server, and the filter may hold back
                    // the others.
                    let tasks = (0..<8).map { index in
                        Task { _ = await end(of: BenchRequest(path: "items/\(round)/\(index)"), on: agent) }
                    }
                    _ = try? await gate.reached(by: round, within: .milliseconds(200))
                    for task in tasks.reversed() { task.cancel() }
                    for task in tasks { await task.value }
                }
            }
            try bench.expect(isOver, "cancelled calls to end", came: "calls that never end")
            time.pass(.seconds(3_600))
            try await expectGood(bench, agent, after: "288 calls that were cancelled")
        },
        FilterDraft("the filter's memory doesn't grow with finished calls") { bench in
            for isGood in [true, false] {
                let grown = try await growth(bench) { index, agent in
                    let path = isGood ? "items" : ["lost", "refused", "busy"][index % 3]
                    var request = BenchRequest(method: index % 2 == 0 ? .get : .post, path: path)
                    request.acceptableStatuses = .successful
                    _ = await end(of: request, on: agent)
                }
                guard let grown else { continue }
                throw ConformanceFailure(
                    expected: "the same memory after 16,000 calls as after 600",
                    came: "\(grown) bytes more with each call that \(isGood ? "succeeds" : "fails")")
            }
        },
        FilterDraft("the filter's memory for URLs, hosts, users and bodies is bounded") { bench in
            let filler = String(repeating: "conformance/", count: 40)
            let grown = try await growth(bench) { index, agent in
                // The filter may keep a table with entries for URLs, hosts, users, or bodies. Each kind of request
                // would add entries to one of these tables.
                let request =
                    switch index % 5 {
                    case 0: BenchRequest(path: "items/\(index)/\(filler)")
                    case 1: BenchRequest(path: "https://h\(index).conformance.example/items")
                    case 2:
                        BenchRequest(headers: [
                            .authorization: "Bearer conformance-user-\(index)", "X-Key": "\(index) \(filler)",
                        ])
                    case 3: BenchRequest(path: "items/\(index)/\(filler)redirected")
                    default: BenchRequest(method: .post, path: "items", body: .text("\(index) \(filler)"))
                    }
                _ = await end(of: request, on: agent)
            }
            guard let grown else { return }
            throw ConformanceFailure(
                expected: "at most 10,000 entries, a byte limit, or entries that expire within an hour",
                came: "\(grown) bytes more with each call")
        },
        FilterDraft("the filter doesn't block the thread that it runs on") { bench in
            let use = try await use(bench)
            try bench.expect(
                use.blocked < ThreadUse.most.blocked, "less than 0.8 ms of blocking in each call",
                came: "\(use.blocked)")
        },
        FilterDraft("the filter doesn't keep the processor busy") { bench in
            let use = try await use(bench)
            try bench.expect(
                use.worked < ThreadUse.most.worked, "less than 5 ms of work in each call", came: "\(use.worked)")
        },
    ]

    private enum CallEnd: String {
        case lost, timedOut, foreign, server, client, check, decoding, dropped, inner
        static let all: [CallEnd] = [.lost, .timedOut, .foreign, .server, .client, .check, .decoding, .dropped, .inner]
        /// Whether a circuit breaker counts this end as a failure. The circuit breaker may then refuse later calls.
        var isFailureOfServer: Bool { [.lost, .timedOut, .foreign, .server, .inner].contains(self) }
    }

    /// Returns a body that the filter shouldn't read. If a filter reads it anyway, each chunk suspends, and the body
    /// ends after 100 chunks.
    private static func unread() -> HTTPBody {
        let pulled = Counter()
        return HTTPBody {
            await Task.yield()
            try Task.checkCancellation()
            return pulled.increment() <= 100 ? Data("more".utf8) : nil
        }
    }

    private struct Undecodable: Request {
        typealias Output = Int
        let path: String
        var acceptableContentTypes: ContentTypes { .any }
    }

    private static func leavesTurn(_ bench: FilterBench, after kind: CallEnd) async throws {
        let time = BenchTime(horizon: .seconds(3_600))
        let transport = BenchTransport(keepsArrivals: false) { request, _ in
            if request.url.path.hasSuffix("good") { return .text("ok", for: request) }
            switch kind {
            case .lost: throw ErrandError(.connectionLost, "cut")
            case .timedOut: throw ErrandError(.timedOut, "silence")
            case .foreign: throw BenchError()
            case .server: return HTTPResponse(to: request, status: 503)
            case .client: return HTTPResponse(to: request, status: 404)
            case .dropped: return HTTPResponse(to: request, status: 200, body: unread())
            case .check, .decoding, .inner: return .text("bad", for: request)
            }
        }
        let inner = ClosureFilter(.wire) { exchange, next in
            let response = try await next(exchange)
            if kind == .inner, response.data == Data("bad".utf8) { throw BenchError() }
            return response
        }
        let agent = try bench.agent(transport, filter: bench.make(), inside: [inner], time: time)
        let isOver = try await bench.ends {
            await withTaskGroup { group in
                for lane in 0..<10 {
                    group.addTask {
                        for index in 0..<26 {
                            let path = "items/\(lane)/\(index)"
                            if kind == .decoding {
                                _ = try? await agent.send(Undecodable(path: path), options: CallOptions())
                                continue
                            }
                            var request = BenchRequest(path: path, delivery: kind == .dropped ? .stream : .data)
                            if kind != .dropped { request.acceptableStatuses = .successful }
                            if kind == .check {
                                request.checks = [ResponseCheck("conformance") { _ in throw BenchError() }]
                            }
                            _ = await end(of: request, on: agent)
                        }
                    }
                }
            }
        }
        try bench.expect(
            isOver, "260 calls to end (\(kind.rawValue))", came: "calls that never end")
        time.pass(.seconds(3_600))
        if !kind.isFailureOfServer {
            return try await expectGood(bench, agent, after: "260 calls (\(kind.rawValue))")
        }
        let isServed = try await bench.ends { _ = await end(of: BenchRequest(path: "good"), on: agent) }
        try bench.expect(
            isServed, "a call after 260 others to end (\(kind.rawValue))", came: "a call that never ends")
    }

    private static func expectGood(_ bench: FilterBench, _ agent: NetworkAgent, after what: String) async throws {
        let came = Watched("a call that never ends")
        _ = try await bench.ends {
            // This is tried several times, because on a busy machine a call may take longer than a short time limit.
            for _ in 0..<5 where came.read({ $0 }) != "200" {
                let end = await end(of: BenchRequest(path: "good"), on: agent)
                came.update { $0 = end }
            }
        }
        try bench.equal(came.read { $0 }, "200", "the outcome of a call after \(what)")
    }

    /// Sends a request, and returns its result as a word.
    static func end(of request: BenchRequest, on agent: NetworkAgent) async -> String {
        do { return "\(try await agent.send(request, options: CallOptions()).value.status)" } catch {
            return (error as? ErrandError)?.code.description ?? "\(type(of: error))"
        }
    }

    private static func growth(
        _ bench: FilterBench, _ call: @escaping @Sendable (Int, NetworkAgent) async -> Void
    ) async throws -> Int? {
        let big = HTTPBody(Data(repeating: 0x61, count: 64 << 10))
        let transport = BenchTransport(keepsArrivals: false) { request, index in
            switch request.url.lastPathComponent {
            case "lost": throw ErrandError(.connectionLost, "cut, number \(index)")
            case "refused": return HTTPResponse(to: request, status: 404)
            case "busy": return HTTPResponse(to: request, status: 503)
            case "redirected": return HTTPResponse(to: request, status: 302, headers: [.location: "good"])
            // All responses share one buffer. A store that has a byte limit is then filled without using memory.
            default: return HTTPResponse(to: request, status: 200, headers: [.entityTag: "\"\(index)\""], body: big)
            }
        }
        @Sendable func calls(_ filter: (any Filter)?) -> @Sendable (Int) async -> Void {
            let time = BenchTime(horizon: .seconds(36_000_000), pace: .zero)
            let agent = bench.agent(transport, filter: filter, time: time)
            return { index in
                await call(index, agent)
                if index % 500 == 0 { time.pass(.seconds(3_600)) }
            }
        }
        let plain = calls(nil)
        return try await GrowthMeter().growth {
            GrowthMeter.Subject(call: calls(try bench.make()))
        } control: {
            await plain($0)
        } settle: {
            _ = try await bench.becomes { transport.running == 0 }
            try await bench.pause()
        }
    }

    private static func use(_ bench: FilterBench) async throws -> ThreadUse {
        guard let executor = BenchExecutor() else {
            throw ConformanceFailure(expected: "a system thread", came: "none")
        }
        defer { executor.end() }
        let moved = ClosureFilter(.call) { exchange, next in
            try await withTaskExecutorPreference(executor) { try await next(exchange) }
        }
        var worst = ThreadUse()
        for path in ["items", "refused", "busy", "lost", "moved"] {
            let transport = BenchTransport { request, _ in
                switch request.url.lastPathComponent {
                case "lost": throw ErrandError(.connectionLost, "cut")
                case "refused": return HTTPResponse(to: request, status: 404)
                case "busy": return HTTPResponse(to: request, status: 503)
                case "moved": return HTTPResponse(to: request, status: 302, headers: [.location: "/v1/items"])
                default: return .text("ok", for: request)
                }
            }
            let time = BenchTime(horizon: .seconds(36_000_000))
            let agent = try bench.agent(transport, outside: [moved], filter: bench.make(), time: time)
            var uses: [ThreadUse] = []
            for index in 0..<25 {
                let request = BenchRequest(
                    method: index % 2 == 0 ? .get : .post, path: path, body: index % 2 == 0 ? .none : .text("body"))
                let isOver = try await bench.ends { _ = await end(of: request, on: agent) }
                try bench.expect(isOver, "the outcome of a call", came: "a thread that is blocked forever")
                uses.append(executor.takeUse())
            }
            let median = ThreadUse.median(of: uses)
            worst = ThreadUse(
                worked: max(worst.worked, median.worked), blocked: max(worst.blocked, median.blocked))
        }
        return worst
    }
}
