import Errand
import ErrandEssentials
import ErrandTesting

/// Tests that a transport closes the connection of a cancelled request, so the server notices the cancellation.
enum CancellationCases {
    static let all: [ConformanceDraft] = [
        ConformanceDraft(.cancellation, "a request that is cancelled before it starts isn't sent") { bench in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await bench.exchange(.get, "/ok")
            }
            task.cancel()
            try await cancelled(task, bench)
            try await bench.expectWorking(after: "a cancellation")
        },
        ConformanceDraft(.cancellation, "a cancellation ends a request to a server that sends no bytes") { bench in
            bench.server.enqueueConnections(.silence)
            let task = Task { try await bench.exchange(.get, "/ok") }
            try await bench.server.wait(forOpenConnections: 1)
            task.cancel()
            try await cancelled(task, bench)
            try await bench.server.waitUntilNoConnections()
            try await bench.expectWorking(after: "a cancellation")
        },
        ConformanceDraft(.cancellation, "a cancellation before the response's head arrives closes the connection") {
            bench in
            let gate = Gate()
            bench.server.on("/slow", TestResponse.text("late").waiting(for: gate))
            for delivery in FramingCases.deliveries {
                let before = gate.arrivals
                let task = Task { try await bench.exchange(.get, "/slow", delivery: delivery) }
                try await gate.reached(by: before + 1)
                task.cancel()
                try await cancelled(task, bench)
                try await bench.server.waitUntilNoConnections()
            }
            try await bench.expectWorking(after: "a cancellation")
        },
        ConformanceDraft(.cancellation, "a cancellation in the middle of the response's body closes the connection") {
            bench in
            let gate = Gate()
            bench.server.on("/half", TestResponse.repeating(count: 100_000).waiting(for: gate, afterBodyBytes: 50_000))
            for delivery in FramingCases.deliveries {
                let before = gate.arrivals
                let task = Task { try await bench.exchange(.get, "/half", delivery: delivery) }
                try await gate.reached(by: before + 1)
                task.cancel()
                try await cancelled(task, bench)
                try await bench.server.waitUntilNoConnections()
            }
            try await bench.expectWorking(after: "a cancellation")
        },
        ConformanceDraft(.cancellation, "a streamed body that is dropped or cancelled closes its connection") { bench in
            let gate = Gate()
            bench.server.on("/half", TestResponse.repeating(count: 100_000).waiting(for: gate, afterBodyBytes: 50_000))
            let streamed = TransportOptions(delivery: .stream)
            for step in 0..<3 {
                let response = try await bench.stream("/half", options: streamed)
                if step == 1 { response.body.cancel() }
                var iterator = response.body.makeAsyncIterator()
                if step == 2 { _ = try await iterator.nextPromptly() }
            }
            try await bench.server.waitUntilNoConnections()
            try await bench.expectWorking(after: "readers stopped early")
        },
        ConformanceDraft(
            .cancellation, "a streamed body that is cancelled closes its connection, even if the response is kept"
        ) { bench in
            let gate = Gate()
            bench.server.on("/half", TestResponse.repeating(count: 100_000).waiting(for: gate, afterBodyBytes: 50_000))
            for isRead in [false, true] {
                let response = try await bench.stream("/half")
                var iterator = response.body.makeAsyncIterator()
                if isRead { _ = try await iterator.nextPromptly() }
                response.body.cancel()
                try await bench.server.waitUntilNoConnections(within: .seconds(30))
                withExtendedLifetime((response, iterator)) {}
            }
            try await bench.expectWorking(after: "bodies that were cancelled")
        },
        ConformanceDraft(.cancellation, "a cancellation while the request's body is sent closes the connection") {
            bench in
            let gate = Gate()
            bench.server.on("/up", .text("never"), reading: .held(by: gate))
            let body = RequestBody.data(Data(count: 20_000_000))
            let task = Task { try await bench.exchange(.post, "/up", body: body) }
            try await gate.reached()
            task.cancel()
            try await cancelled(task, bench)
            gate.open()
            try await bench.server.waitUntilNoConnections()
            try await bench.expectWorking(after: "a cancellation")
        },
        ConformanceDraft(.cancellation, "a cancellation ends an upload that waits for its source") { bench in
            let gate = Gate()
            let stream = RequestBody.stream { HTTPBody(source: StuckSource(gate)) }
            let task = Task { try await bench.exchange(.post, "/ok", body: stream) }
            try await gate.reached()
            task.cancel()
            try await cancelled(task, bench)
            try await bench.expectWorking(after: "a cancellation")
        },
        ConformanceDraft(.cancellation, "cancellations at 500 random moments don't affect other requests") { bench in
            bench.server.on("/slow", TestResponse.repeating(count: 200_000).slowly(bytesPerChunk: 65_536, every: .zero))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<500 {
                    group.addTask {
                        let delivery: BodyDelivery = index % 2 == 0 ? .data : .stream
                        let task = Task { try await bench.exchange(.get, "/slow", delivery: delivery) }
                        if index % 5 == 0 {
                            try bench.equal(
                                try await task.value.data.count, 200_000,
                                "the bytes of a request that ran while other requests were cancelled")
                        } else {
                            for _ in 0..<(index * 7919 % 100) { await Task.yield() }
                            task.cancel()
                            if case .failure(let error) = await task.result {
                                let isCancelled =
                                    (error as? ErrandError)?.isCancelled == true || error is CancellationError
                                try bench.expect(isCancelled, "an error with the code cancelled", came: "\(error)")
                            }
                        }
                    }
                    if index % 16 == 15 { try await group.waitForAll() }
                }
                try await group.waitForAll()
            }
            try await bench.expectWorking(after: "many cancellations")
        },
        ConformanceDraft(.cancellation, "cancelling redirects at 200 random moments leaves the transport working") {
            bench in
            bench.server.on("/moved", TestResponse.text("moved", status: 302).header(.location, "/ok"))
            for index in 0..<200 {
                let task = Task { try await bench.exchange(.get, "/moved") }
                for _ in 0..<(index * 7919 % 400) { await Task.yield() }
                task.cancel()
                if case .success(let received) = await task.result {
                    try bench.equal(received.status, 302, "the status")
                }
            }
            try await bench.expectWorking(after: "cancelled redirects")
        },
        ConformanceDraft(.cancellation, "a cancelled request ends at once") { bench in
            let gate = Gate()
            bench.server.on("/slow", TestResponse.text("late").waiting(for: gate))
            var waits: [Duration] = []
            // On a busy machine, one prompt end in three attempts is enough.
            for attempt in 1...3 {
                let task = Task { try await bench.exchange(.get, "/slow") }
                try await gate.reached(by: attempt)
                let start = ContinuousClock.now
                task.cancel()
                try await cancelled(task, bench)
                waits.append(start.duration(to: .now))
                if waits[attempt - 1] < .milliseconds(300) { return }
            }
            throw ConformanceFailure(expected: "an end within milliseconds", came: "ends after \(waits)")
        },
        ConformanceDraft(.cancellation, "a cancellation after the response has no effect") { bench in
            let task = Task { try await bench.exchange(.get, "/ok") }
            try bench.equal(try await task.value.text, "ok", "the body")
            task.cancel()
            try await bench.expectWorking(after: "a late cancellation")
        },
    ]

    private static func cancelled(
        _ task: Task<ConformanceBench.Received, any Error>, _ bench: ConformanceBench
    ) async throws {
        try await bench.failure(of: "a cancelled request", .cancelled) { try await task.value }
    }
}

private final class StuckSource: HTTPBodySource {
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    func nextChunk() async throws -> Data? {
        try await gate.wait(within: .seconds(3600))
        return nil
    }

    func cancel() {}
}
