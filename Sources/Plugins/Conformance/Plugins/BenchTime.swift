import Errand
import ErrandEssentials
import ErrandTesting

/// The clock of a case. It has a horizon, which is an instant of this clock. A wait that ends before the horizon takes
/// only a short real time, and then advances the clock. Other waits last until they're cancelled.
final class BenchTime: TimeSource {
    private let manual = ManualTimeSource()
    private let horizon: Watched<ContinuousClock.Instant>
    private let pace: Duration
    private let waits = Watched<[Duration]>([])

    /// Creates a clock. `horizon` is the time from the beginning to the first horizon. `pace` is the real time that a
    /// short wait takes. In this time, another time limit of the operation can pass.
    init(horizon: Duration, pace: Duration = .milliseconds(2)) {
        (self.horizon, self.pace) = (Watched(manual.now.advanced(by: horizon)), pace)
    }

    var now: ContinuousClock.Instant { manual.now }
    var date: Date { manual.date }

    /// The longest wait so far that ends after the horizon.
    var longest: Duration? { waits.read { $0.max() } }

    func pass(_ duration: Duration) {
        horizon.update { $0 = $0.advanced(by: duration) }
        manual.advance(by: duration)
    }

    /// Moves the horizon to the current instant. Later waits then last until they're cancelled.
    func hold() { horizon.update { [now] in $0 = now } }

    func sleep(until instant: ContinuousClock.Instant) async throws {
        if instant < horizon.read({ $0 }) {
            if pace > .zero { try await Task.sleep(for: pace) } else { await Task.yield() }
            try Task.checkCancellation()
            return manual.advance(to: instant)
        }
        let wait = manual.now.duration(to: instant)
        waits.update { $0.append(wait) }
        defer { waits.update { waits in waits.firstIndex(of: wait).map { _ = waits.remove(at: $0) } } }
        try await manual.sleep(until: instant)
    }
}

extension FilterDraft {
    private enum Ending: Sendable {
        case error(any Error), status(Int, HTTPHeaders)

        func response(to request: HTTPRequest) throws -> HTTPResponse {
            switch self {
            case .error(let error): throw error
            case .status(let status, let headers): HTTPResponse(to: request, status: status, headers: headers)
            }
        }

        var description: String {
            switch self {
            case .error(let error): (error as? ErrandError)?.code.description ?? "an error of an unknown type"
            case .status(let status, _): "\(status)"
            }
        }
    }

    /// Results that leave open whether the server has processed the request.
    private static let unclear: [Ending] =
        [ErrandError.Code.connectionLost, .timedOut, .truncated, .invalidResponse].map {
            .error(ErrandError($0, "conformance"))
        } + [.error(BenchError())]
        + [408, 500, 502, 503, 504].flatMap { [.status($0, [:]), .status($0, [.retryAfter: "0"])] }

    static let repeats: [FilterDraft] = [
        FilterDraft("a request that isn't idempotent is sent once, even if it fails") { bench in
            for method in [HTTPMethod.post, .patch, "CONFORM"] where !bench.mayRepeatReceived(method) {
                for ending in unclear {
                    for statuses in [StatusCodes.successful, .any] {
                        let transport = BenchTransport { request, _ in try ending.response(to: request) }
                        let time = BenchTime(horizon: .seconds(3_600))
                        let agent = try bench.agent(transport, filter: bench.make(), time: time)
                        var request = BenchRequest(method: method, body: .text("once"))
                        request.acceptableStatuses = statuses
                        _ = try? await agent.send(request, options: CallOptions()).value.status
                        if bench.isKnownByKey(transport.arrivals) { continue }
                        try bench.equal(
                            transport.arrivals.count, 1,
                            "the number of times a failed \(method) was sent (\(ending.description))")
                    }
                }
            }
        },
        FilterDraft("a request that isn't idempotent is sent once, even if its response is late") { bench in
            for method in [HTTPMethod.post, .patch] where !bench.mayRepeatReceived(method) {
                let gate = Gate()
                let transport = BenchTransport { request, _ in
                    try await gate.wait()
                    return .text("late", for: request)
                }
                let time = BenchTime(horizon: .seconds(30))
                let agent = try bench.agent(transport, filter: bench.make(), time: time)
                let request = BenchRequest(method: method, body: .text("once"))
                let task = Task { try await agent.send(request, options: CallOptions()).value.status }
                try await transport.arrived(1)
                // This gives a filter time to send the request again. The filter may first wait for milliseconds, or on
                // the agent's clock.
                for _ in 0..<10 { try await bench.pause() }
                gate.open()
                _ = await task.result
                if bench.isKnownByKey(transport.arrivals) { continue }
                try bench.equal(transport.arrivals.count, 1, "the number of times a \(method) was sent")
            }
        },
        FilterDraft("the filter doesn't wait a minute unless the server asks for it") { bench in
            for ending in [Ending.status(429, [:]), .status(503, [:]), .status(500, [:])] + unclear.prefix(1) {
                try await endsItself(bench, ending, within: .seconds(60), "the call to end within a minute")
            }
        },
        FilterDraft("the filter doesn't start a wait that would end after the deadline") { bench in
            for wait in ["60", "86400", "Sun, 09 Sep 2001 01:48:40 GMT"] {
                for status in [429, 503] {
                    let ending = Ending.status(status, [.retryAfter: wait])
                    try await endsItself(
                        bench, ending, within: .seconds(10), deadline: .seconds(10),
                        "the call to end before the deadline")
                }
            }
        },
        FilterDraft("the filter limits the wait that a server asks for") { bench in
            let waits = ["86400", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "-1", "1e9", "soon", ""]
            for wait in waits {
                for status in [429, 503] {
                    let ending = Ending.status(status, [.retryAfter: wait])
                    try await endsItself(bench, ending, within: .seconds(3_600), "the call to end within an hour")
                }
            }
        },
        FilterDraft("a cancellation ends a wait between attempts, and no attempt follows") { bench in
            for ending in [Ending.status(503, [.retryAfter: "5"]), .status(429, [:])] + unclear.prefix(2) {
                let (time, probe) = (BenchTime(horizon: .seconds(3_600)), BenchProbe(.call))
                let transport = BenchTransport { request, index in
                    // Holding starts only here, because the filter may also have waited before the first attempt.
                    time.hold()
                    return index == 1 ? try ending.response(to: request) : .text("second", for: request)
                }
                let agent = try bench.agent(transport, outside: [probe], filter: bench.make(), time: time)
                var request = BenchRequest()
                request.acceptableStatuses = .successful
                let task = Task { [request] in try await agent.send(request, options: CallOptions()).value.status }
                let isWaiting: @Sendable () -> Bool = {
                    !transport.arrivals.isEmpty && transport.running == 0 && time.longest != nil
                }
                _ = try await bench.becomes { !probe.results.isEmpty || isWaiting() }
                try await bench.pause()
                let (wasWaiting, sent) = (probe.results.isEmpty && isWaiting(), transport.arrivals.count)
                task.cancel()
                let isOver = try await bench.becomes { !probe.results.isEmpty }
                try bench.expect(isOver, "the wait to end", came: "a filter that keeps running")
                if wasWaiting {
                    try bench.equal(transport.arrivals.count, sent, "the requests at the transport")
                    guard case .failure(let error)? = probe.results.first, error.isCancellation else {
                        throw ConformanceFailure(expected: "a cancellation", came: "a wait that ended differently")
                    }
                }
            }
        },
    ]

    /// Checks that calls end although the host always responds in the same way. Only the filter can end these calls,
    /// because deadlines don't fire.
    private static func endsItself(
        _ bench: FilterBench, _ ending: Ending, within horizon: Duration, deadline: Duration? = nil, _ expected: String
    ) async throws {
        let transport = BenchTransport { request, index in
            if index > 100 { throw CancellationError() }
            return try ending.response(to: request)
        }
        let time = BenchTime(horizon: horizon)
        let agent = try bench.agent(transport, filter: bench.make(), time: time)
        for _ in 0..<2 {
            var request = BenchRequest(deadline: deadline)
            request.acceptableStatuses = .successful
            // The limit is below a minute, because a filter with its own clock may wait for a minute.
            let isOver = try await bench.ends(within: min(bench.gracePeriod, .seconds(40))) { [request] in
                _ = try? await agent.send(request, options: CallOptions()).value.status
            }
            let wait = time.longest.map { "a wait of \($0)" } ?? "a wait on a clock other than the agent's"
            try bench.expect(isOver, "\(expected) (\(ending.description))", came: wait)
        }
    }
}
