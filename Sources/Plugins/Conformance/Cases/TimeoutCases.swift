import Errand
import ErrandEssentials
import ErrandTesting

/// Tests timeouts. Each case advances the clock that measures how long the server is silent.
enum TimeoutCases {
    static let all: [ConformanceDraft] = [
        ConformanceDraft(.timeouts, "a server that is silent before the head causes a timeout") { bench in
            let gate = Gate()
            bench.server.on("/late", TestResponse.text("late").waiting(for: gate))
            for delivery in FramingCases.deliveries {
                let before = gate.arrivals
                try await silence(bench, "/late", delivery) { try await gate.reached(by: before + 1) }
            }
        },
        ConformanceDraft(.timeouts, "a server that is silent after connecting causes a timeout") { bench in
            bench.server.enqueueConnections(.silence)
            try await silence(bench, "/ok", .data) { try await bench.server.wait(forOpenConnections: 1) }
        },
        ConformanceDraft(.timeouts, "a server that is silent in the middle of a body causes a timeout") { bench in
            let gate = Gate()
            bench.server.on("/half", TestResponse.repeating(count: 100_000).waiting(for: gate, afterBodyBytes: 50_000))
            let time = ManualTimeSource()
            let mover = shortWaits(on: time)
            defer { mover.cancel() }
            let response = try await bench.stream("/half", options: options(time, .stream))
            try await gate.reached()
            mover.cancel()
            let task = Task { try await response.body.collect(upTo: 1 << 20) }
            try await untilEnd(of: task, time, bench)
            // The request must end, even if the caller keeps the response.
            try await bench.server.waitUntilNoConnections(within: .seconds(10))
            withExtendedLifetime(response) {}
        },
        ConformanceDraft(.timeouts, "a timeout in the middle of a body contains the response") { bench in
            for delivery in FramingCases.deliveries {
                let gate = Gate()
                let response = TestResponse.repeating(count: 1 << 20).header("X-Trace", "7")
                bench.server.on("/half", response.waiting(for: gate, afterBodyBytes: 600_000))
                let time = ManualTimeSource()
                var configuration = AgentConfiguration()
                configuration.timeout = .seconds(10)
                let agent = NetworkAgent(configuration: configuration, transport: bench.transport, time: time)
                let probe = ConformanceBench.Probe(
                    http: try bench.request(.get, "/half"), delivery: delivery, accessories: [])
                // A stream is read after the call, so its progress is counted here as the number of bytes read.
                let received = Watched<Int64>(0)
                let task = Task {
                    let options = CallOptions(progress: { progress in received.update { $0 = progress.received } })
                    var data = Data()
                    for try await chunk in try await agent.send(probe, options: options).value.body {
                        data.append(chunk)
                        let count = Int64(data.count)
                        received.update { $0 = count }
                    }
                    return data
                }
                let mover = shortWaits(on: time)
                defer { mover.cancel() }
                _ = try await received.wait(for: "some of the body", within: .seconds(300)) { $0 > 0 ? true : nil }
                let error = try await untilEnd(of: task, time, bench)
                try bench.equal(error.response?.status, 200, "the status, delivered as \(delivery)")
                try bench.equal(error.response?.headers["X-Trace"], "7", "a header, delivered as \(delivery)")
            }
        },
        ConformanceDraft(.timeouts, "a body that arrives slowly doesn't time out") { bench in
            let (head, rest) = (Gate(), Gate())
            let slow = TestResponse.text("slow but sure").waiting(for: head).waiting(for: rest, afterBodyBytes: 4)
            bench.server.on("/slow", slow)
            let time = ManualTimeSource()
            let mover = shortWaits(on: time)
            defer { mover.cancel() }
            let task = Task { try await bench.stream("/slow", options: options(time, .stream)) }
            try await head.reached()
            time.advance(by: .seconds(8))
            head.open()
            let response = try await task.value
            try await rest.reached()
            var iterator = response.body.makeAsyncIterator()
            var body = try await iterator.nextPromptly() ?? Data()
            time.advance(by: .seconds(8))
            rest.open()
            while let chunk = try await iterator.nextPromptly() { body.append(chunk) }
            try bench.equal(String(decoding: body, as: UTF8.self), "slow but sure", "the body")
        },
        ConformanceDraft(.timeouts, "timeouts of milliseconds work with the system's clock") { bench in
            let gate = Gate()
            bench.server.on("/late", TestResponse.text("late").waiting(for: gate))
            for milliseconds in [1, 50, 500] {
                let request = try bench.request(.get, "/late")
                let options = TransportOptions(timeout: .milliseconds(milliseconds))
                try await bench.failure(of: "silence", .timedOut) {
                    let response = try await bench.transport.send(request, options: options)
                    return ConformanceBench.Received(status: response.status, headers: [:], data: Data())
                }
            }
            try await bench.server.waitUntilNoConnections()
            try await bench.expectWorking(after: "timeouts")
        },
        ConformanceDraft(.timeouts, "a timeout of less than a millisecond ends a request, and a huge one doesn't") {
            bench in
            let gate = Gate()
            bench.server.on("/late", TestResponse.text("late").waiting(for: gate))
            let request = try bench.request(.get, "/late")
            try await withLimit(.seconds(10)) {
                try await bench.failure(of: "silence", .timedOut) {
                    let options = TransportOptions(timeout: .microseconds(300))
                    let response = try await bench.transport.send(request, options: options)
                    return ConformanceBench.Received(status: response.status, headers: [:], data: Data())
                }
            }
            gate.open()
            for delivery in FramingCases.deliveries {
                let options = TransportOptions(timeout: .seconds(Int64.max), delivery: delivery)
                let response = try await bench.send(.get, "/late", options: options)
                try bench.equal(try await response.body.collect(upTo: 100), Data("late".utf8), "the body")
            }
        },
        ConformanceDraft(.timeouts, "a timeout doesn't limit the total time, or a reader, by the system's clock") {
            bench in
            let slow = TestResponse.repeating(count: 32).slowly(bytesPerChunk: 1, every: .milliseconds(50))
            bench.server.on("/slow", slow)
            var failures: [any Error] = []
            // On a busy machine, the server itself can be too late, so one success in three attempts is enough.
            while failures.count < 3 {
                do { return try await slowness(bench) } catch { failures.append(error) }
            }
            throw failures[0]
        },
        ConformanceDraft(
            .timeouts, "the timeout of a request doesn't affect a concurrent request", needsConcurrency: true
        ) { bench in
            for isFirst in [true, false] {
                let (gate, time) = (Gate(), ManualTimeSource())
                bench.server.on("/late", TestResponse.text("late").waiting(for: gate))
                func start(_ timeout: Duration) -> Task<Data, any Error> {
                    let options = TransportOptions(timeout: timeout, time: time)
                    return Task { try await bench.send(.get, "/late", options: options).body.collect(upTo: 1 << 20) }
                }
                // A transport can wait before it sends a request, and between the chunks of a body.
                let mover = shortWaits(on: time)
                defer { mover.cancel() }
                let first = start(isFirst ? .seconds(10) : .seconds(1_000_000))
                try await gate.reached()
                let second = start(isFirst ? .seconds(1_000_000) : .seconds(10))
                try await gate.reached(by: 2)
                try await untilEnd(of: isFirst ? first : second, time, bench)
                gate.open()
                let data = try await (isFirst ? second : first).value
                try bench.equal(data, Data("late".utf8), "the response to the request with a longer timeout")
            }
        },
    ]

    /// Receives two bodies as they arrive, in more than twice the timeout, and reads a third after the timeout.
    private static func slowness(_ bench: ConformanceBench) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let timeout = Duration.milliseconds(700)
            for delivery in FramingCases.deliveries {
                group.addTask {
                    let options = TransportOptions(timeout: timeout, delivery: delivery)
                    let body = try await bench.send(.get, "/slow", options: options).body
                    try bench.equal(try await body.collect(upTo: 100).count, 32, "bytes of a slow body")
                }
            }
            group.addTask {
                let options = TransportOptions(timeout: timeout, delivery: .stream)
                let body = try await bench.send(.get, "/ok", options: options).body
                try await Task.sleep(for: timeout * 2)
                try bench.equal(try await body.collect(upTo: 100).count, 2, "bytes that were read late")
            }
            try await group.waitForAll()
        }
    }

    /// Advances the clock in small steps. This ends short waits, such as waits before a request is sent, or between the
    /// chunks of a throttled stream. The timeouts of the cases are longer.
    private static func shortWaits(on time: ManualTimeSource) -> Task<Void, any Error> {
        Task {
            while !Task.isCancelled {
                if let wake = time.nextWake, time.now.duration(to: wake) < .seconds(1) {
                    time.advance(to: wake)
                }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private static func options(_ time: ManualTimeSource, _ delivery: BodyDelivery) -> TransportOptions {
        TransportOptions(timeout: .seconds(10), delivery: delivery, time: time)
    }

    private static func silence(
        _ bench: ConformanceBench, _ path: String, _ delivery: BodyDelivery, until begun: () async throws -> Void
    ) async throws {
        let time = ManualTimeSource()
        let task = Task {
            try await bench.send(.get, path, options: options(time, delivery)).body.collect(upTo: 1 << 20)
        }
        // A transport can wait before it sends the request.
        let mover = shortWaits(on: time)
        defer { mover.cancel() }
        try await begun()
        mover.cancel()
        try await untilEnd(of: task, time, bench)
        try await bench.server.waitUntilNoConnections()
    }

    /// Waits for a task's timeout, and returns the timeout error. The task must not end before the timeout.
    @discardableResult
    private static func untilEnd(
        of task: Task<Data, any Error>, _ time: ManualTimeSource, _ bench: ConformanceBench
    ) async throws -> ErrandError {
        try await time.waitForSleepers()
        // A single step may not be enough, because the transport measures the time since it last received bytes.
        let ending = Watched(false)
        let mover = Task {
            while !ending.read({ $0 }) {
                if time.sleeperCount > 0 { time.advance(by: .seconds(6)) }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        defer { mover.cancel() }
        let error = try await bench.failure(of: "silence", .timedOut) {
            ConformanceBench.Received(status: 0, headers: [:], data: try await task.value)
        }
        ending.update { $0 = true }
        return error
    }
}
