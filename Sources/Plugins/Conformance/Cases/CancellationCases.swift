import Errand
import ErrandEssentials
import ErrandTesting

/// The server must see the connection close.
enum CancellationCases {
    static let all: [ConformanceDraft] = [
        ConformanceDraft(.cancellation, "before it begins") { bench in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await bench.exchange(.get, "/ok")
            }
            task.cancel()
            try await cancelled(task, bench)
            try await bench.expectWorking(after: "a cancellation")
        },
        ConformanceDraft(.cancellation, "while the server is silent from the start") { bench in
            bench.server.enqueueConnections(.silence)
            let task = Task { try await bench.exchange(.get, "/ok") }
            try await bench.server.wait(forOpenConnections: 1)
            task.cancel()
            try await cancelled(task, bench)
            try await bench.server.waitUntilNoConnections()
            try await bench.expectWorking(after: "a cancellation")
        },
        ConformanceDraft(.cancellation, "before the head") { bench in
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
        ConformanceDraft(.cancellation, "in the middle of a body") { bench in
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
        ConformanceDraft(.cancellation, "a reader that goes away closes its connection") { bench in
            let gate = Gate()
            bench.server.on("/half", TestResponse.repeating(count: 100_000).waiting(for: gate, afterBodyBytes: 50_000))
            let streamed = TransportOptions(delivery: .stream)
            for step in 0..<3 {
                let response = try await bench.send(.get, "/half", options: streamed)
                if step == 1 { response.body.cancel() }
                var iterator = response.body.makeAsyncIterator()
                if step == 2 { _ = try await iterator.next() }
            }
            try await bench.server.waitUntilNoConnections()
            try await bench.expectWorking(after: "readers went away")
        },
        ConformanceDraft(.cancellation, "while sending") { bench in
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
        ConformanceDraft(.cancellation, "while the source of a body keeps it waiting") { bench in
            let gate = Gate()
            let stream = RequestBody.stream { HTTPBody(source: StuckSource(gate)) }
            let task = Task { try await bench.exchange(.post, "/ok", body: stream) }
            try await gate.reached()
            task.cancel()
            try await cancelled(task, bench)
            try await bench.expectWorking(after: "a cancellation")
        },
        ConformanceDraft(.cancellation, "at 500 moments of chance, beside others that get a response") { bench in
            bench.server.on("/slow", TestResponse.repeating(count: 200_000).slowly(bytesPerChunk: 65_536, every: .zero))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<500 {
                    group.addTask {
                        let delivery: BodyDelivery = index % 2 == 0 ? .data : .stream
                        let task = Task { try await bench.exchange(.get, "/slow", delivery: delivery) }
                        if index % 5 == 0 {
                            try bench.equal(
                                try await task.value.data.count, 200_000, "bytes of a request next to cancelled ones")
                        } else {
                            for _ in 0..<(index * 7919 % 100) { await Task.yield() }
                            task.cancel()
                            if case .failure(let error) = await task.result {
                                let isCancelled =
                                    (error as? ErrandError)?.isCancelled == true || error is CancellationError
                                try bench.expect(isCancelled, "the code cancelled", came: "\(error)")
                            }
                        }
                    }
                    if index % 16 == 15 { try await group.waitForAll() }
                }
                try await group.waitForAll()
            }
            try await bench.expectWorking(after: "many cancellations")
        },
        ConformanceDraft(.cancellation, "of redirects, at 200 moments of chance") { bench in
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
        ConformanceDraft(.cancellation, "after the end changes nothing") { bench in
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

/// Waits until its reader's task is cancelled.
private final class StuckSource: HTTPBodySource {
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    func nextChunk() async throws -> Data? {
        try await gate.wait(within: .seconds(3600))
        return nil
    }

    func cancel() {}
}
