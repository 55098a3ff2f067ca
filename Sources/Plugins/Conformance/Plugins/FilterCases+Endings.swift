import Errand
import ErrandEssentials
import ErrandTesting

extension FilterDraft {
    static let errors: [FilterDraft] = [
        FilterDraft("an error from an inner filter or the transport is rethrown unchanged", assuming: [.error]) {
            bench in
            for thrown in [
                BenchError(), BenchFault(), ErrandError(.connectionLost, "cut"), ErrandError(.timedOut, "a"),
            ]
                as [any Error]
            {
                let request = BenchRequest(method: .post)
                let expected = try await bench.error(of: "a transport that throws") {
                    try await bench.control(request, over: BenchTransport { _, _ in throw thrown })
                }
                let found = try await bench.errorUnlessAnswered(of: "a transport that throws \(expected)") {
                    try await bench.send(request, over: BenchTransport { _, _ in throw thrown })
                }
                guard let came = found else { continue }
                try bench.expect(same(came, expected), "\(expected)", came: "\(type(of: came)): \(came)")
            }
        },
        FilterDraft("an error keeps its message, response and underlying error", assuming: [.error]) { bench in
            let url = URL(string: "https://conformance.example/v1/items") ?? URL(filePath: "/")
            let response = HTTPResponse(
                url: url, status: 418, headers: ["X-Conformance": "evidence"], body: HTTPBody(Data("tea".utf8)))
            for code in [ErrandError.Code.truncated, .invalidResponse, .insecureConnection] {
                let thrown = ErrandError(code, "conformance", response: response, underlying: BenchFault())
                let found = try await bench.errorUnlessAnswered(of: "a transport that throws \(thrown)") {
                    try await bench.send(BenchRequest(method: .post), over: BenchTransport { _, _ in throw thrown })
                }
                guard let came = found else { continue }
                guard let error = came as? ErrandError else {
                    throw ConformanceFailure(expected: "\(thrown)", came: "\(type(of: came))")
                }
                try bench.equal(error.code, code, "the code")
                try bench.equal(error.message, thrown.message, "the message")
                try bench.expect(
                    error.underlying as? BenchFault === thrown.underlying as? BenchFault, "the underlying error",
                    came: error.underlying.map { "\(type(of: $0))" } ?? "none")
                try bench.equal(error.response?.status, 418, "the status of the error's response")
                try bench.equal(error.response?.headers["X-Conformance"], "evidence", "a field of the error's response")
                try bench.equal(error.response?.data, Data("tea".utf8), "the bytes of the error's response")
                try bench.expect(error.request != nil, "the request", came: "none")
            }
        },
        FilterDraft("if every attempt fails, the call ends") { bench in
            for isError in [true, false] {
                let transport = BenchTransport { request, index in
                    // This stops a filter that sends the request again after every error. Cancelling the call doesn't
                    // end this sleep.
                    if index > 100 { await Task { try? await Task.sleep(for: .seconds(3_600)) }.value }
                    if isError { throw ErrandError(.connectionLost, "cut") }
                    return HTTPResponse(to: request, status: 503)
                }
                let agent = try bench.agent(transport, filter: bench.make())
                let done = Counter()
                let task = Task {
                    defer { done.increment() }
                    return try await agent.send(BenchRequest(), options: CallOptions()).value.status
                }
                _ = try await bench.becomes { done.value > 0 || transport.arrivals.count > 100 }
                let (count, isDone) = (transport.arrivals.count, done.value > 0)
                task.cancel()
                try bench.expect(
                    isDone && count <= 100, "the call to end after at most 100 attempts",
                    came: "\(count) attempts, and the call hasn't ended")
            }
        },
    ]

    private static func same(_ a: any Error, _ b: any Error) -> Bool {
        if a is BenchFault || b is BenchFault { return a as? BenchFault === b as? BenchFault }
        if a is BenchError || b is BenchError { return type(of: a) == type(of: b) }
        guard let a = a as? ErrandError, let b = b as? ErrandError else { return false }
        return a.code == b.code && (a.underlying is BenchError) == (b.underlying is BenchError)
    }

    static let cancellations: [FilterDraft] = [
        FilterDraft("a cancellation reaches the transport and the caller, and no request follows") { bench in
            let gate = Gate()
            let transport = BenchTransport { request, _ in
                try await gate.wait()
                return .text("late", for: request)
            }
            let probe = BenchProbe(.call)
            let agent = try bench.agent(transport, outside: [probe], filter: bench.make())
            let task = Task { try await agent.send(BenchRequest(), options: CallOptions()).value.status }
            try await gate.reached()
            let sent = transport.arrivals.count
            task.cancel()
            let isDone = try await bench.becomes { !probe.results.isEmpty }
            let isStopped = try await bench.becomes { transport.running == 0 }
            let count = transport.arrivals.count
            gate.open()
            _ = await task.result
            try bench.expect(isStopped, "the transfer to end", came: "a transfer that keeps running")
            try bench.expect(isDone, "the filter to end", came: "a filter that keeps running")
            try bench.equal(count, sent, "the requests at the transport")
            switch probe.results.first {
            case .failure(let error)?:
                try bench.expect(error.isCancellation, "a cancellation", came: "\(type(of: error)): \(error)")
            case .success(let status)?:
                throw ConformanceFailure(expected: "a cancellation", came: "a response with the status \(status)")
            case nil: break
            }
        },
        FilterDraft("a cancellation that the transport throws is rethrown, and the request isn't repeated") { bench in
            let transport = BenchTransport { request, index in
                if index == 1 { throw CancellationError() }
                return .text("second", for: request)
            }
            let error = try await bench.error(of: "a transport that was cancelled") {
                try await bench.send(over: transport)
            }
            try bench.expect(error.isCancellation, "a cancellation", came: "\(type(of: error)): \(error)")
            try bench.equal(transport.ownArrivals.count, 1, "the requests at the transport")
        },
        FilterDraft("cancelling a call doesn't affect an equal call") { bench in
            for _ in 0..<3 {
                let gate = Gate()
                let transport = BenchTransport { request, _ in
                    try await gate.wait()
                    return .text("ok", for: request)
                }
                let probe = BenchProbe(.call)
                let agent = try bench.agent(transport, outside: [probe], filter: bench.make())
                let first = Task { try await agent.send(BenchRequest(), options: CallOptions()).value.status }
                try await gate.reached()
                let second = Task { try await agent.send(BenchRequest(), options: CallOptions()).value.status }
                try await probe.entered(2)
                try await bench.pause()
                first.cancel()
                _ = try await bench.becomes { !probe.results.isEmpty }
                gate.open()
                _ = await first.result
                do { _ = try await second.value } catch {
                    throw ConformanceFailure(expected: "the response of the second call", came: "\(error)")
                }
            }
        },
    ]

    static let lifetimes: [FilterDraft] = [
        FilterDraft("after the filter returns, it doesn't send requests for the call") { bench in
            // This is tried several times, because a late request may take a moment.
            for _ in 0..<3 {
                let probe = BenchProbe(.wire)
                let counts = Watched<[Int]>([])
                let hold = ClosureFilter(.call) { exchange, next in
                    let response = try await next(exchange)
                    let mine: @Sendable () -> Int = { probe.entries.count { $0 == exchange.activity.id } }
                    let before = mine()
                    try await bench.pause()
                    counts.update { $0 += [before, mine()] }
                    return response
                }
                _ = try await bench.send(outside: [hold], inside: [probe], over: BenchTransport())
                let seen = counts.read { $0 }
                try bench.expect(
                    seen.count == 2 && seen[0] == seen[1], "no request after the response",
                    came: "\(seen.last ?? 0) requests, \(seen.first ?? 0) of them before the response")
            }
        },
        FilterDraft("the filter's requests have ended when it returns") { bench in
            let gate = Gate()
            let transport = BenchTransport { request, index in
                if index > 1 { try await gate.wait() }
                return .text("ok", for: request)
            }
            let (probe, witness) = (BenchProbe(.wire), BenchWitness())
            let running = Watched(true)
            let hold = ClosureFilter(.call) { exchange, next in
                let response = try await next(exchange)
                let isOver = try await bench.becomes { probe.running == 0 }
                running.update { $0 = !isOver }
                return response
            }
            _ = try await bench.send(outside: [hold], inside: [probe], accessories: [witness], over: transport)
            gate.open()
            try bench.expect(
                !running.read { $0 }, "no request in progress after the response", came: "a request still running")
        },
        FilterDraft("the filter calls next only during the call, and releases the call's objects") { bench in
            let witness = BenchWitness()
            let marks = Watched<[WeakMark]>([])
            let transport = BenchTransport { request, _ in
                if request.url.path.hasSuffix("bad") { throw BenchError() }
                return .text("ok", for: request)
            }
            let agent = try bench.agent(transport, filter: bench.make(), accessories: [witness])
            for path in ["items", "items", "bad"] {
                let mark = BenchMark()
                marks.update { $0.append(WeakMark(mark: mark)) }
                let request = BenchRequest(method: .post, path: path, tags: Tags().with(BenchTag.self, mark))
                _ = try? await agent.send(request, options: CallOptions()).value.status
            }
            transport.forget()
            let isGone = try await bench.becomes { witness.remaining == 0 }
            try bench.expect(
                isGone, "the activity to end",
                came: "a task that still runs or calls next, or a retained exchange")
            let isForgotten = try await bench.becomes { marks.read { $0.allSatisfy { $0.mark == nil } } }
            try bench.expect(isForgotten, "the request and its tags to be released", came: "a request still in memory")
            withExtendedLifetime(agent) {}
        },
        FilterDraft("a task that the filter starts ends after the call") { bench in
            let agent = try bench.agent(BenchTransport(), filter: bench.make())
            let trail = try await followed {
                for method in [HTTPMethod.get, .post] {
                    _ = try await agent.send(BenchRequest(method: method), options: CallOptions()).value.status
                }
            }
            let isGone = try await bench.becomes { trail.mark == nil }
            try bench.expect(isGone, "every task to end", came: "a task that keeps running")
            withExtendedLifetime(agent) {}
        },
        FilterDraft("the filter doesn't keep itself or its agent alive") { bench in
            let (transport, filter) = try await released(bench)
            let isGone = try await bench.becomes { transport.value == nil }
            try bench.expect(isGone, "the transport to be released", came: "a part of the agent still in memory")
            let isReleased = try await bench.becomes { filter.value == nil }
            try bench.expect(isReleased, "the filter to be released", came: "a task or timer that keeps it alive")
        },
    ]

    static func followed(_ body: () async throws -> Void) async throws -> WeakMark {
        let mark = BenchMark()
        try await BenchTrail.$current.withValue(mark, operation: body)
        return WeakMark(mark: mark)
    }

    private static func released(_ bench: FilterBench) async throws -> (Weak, Weak) {
        let (transport, filter) = (BenchTransport(), try bench.make())
        let agent = bench.agent(transport, filter: filter)
        for _ in 0..<3 { _ = try await agent.send(BenchRequest(), options: CallOptions()).value.status }
        // Only an object can be kept in memory by references.
        let object = type(of: filter) is AnyClass ? filter as AnyObject : nil
        return (Weak(transport), Weak(object))
    }
}

struct WeakMark: Sendable { weak let mark: BenchMark? }

struct Weak: @unchecked Sendable {
    // It's safe to send this object to another task, because it's only compared with `nil`.
    weak let value: AnyObject?
    init(_ value: AnyObject?) { self.value = value }
}
