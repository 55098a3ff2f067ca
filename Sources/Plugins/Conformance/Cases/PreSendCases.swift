import Errand
import ErrandTesting
import Synchronization

enum PreSendCases {
    static let all: [ConformanceDraft] = [
        ConformanceDraft(
            .preSendCheck, "a request that waited for a connection isn't sent if a filter's willSend throws"
        ) { bench in
            let (gate, barrier, all) = (Gate(), Barrier(), 300)
            bench.server.on("/slow", TestResponse.text("slow").waiting(for: gate))
            var configuration = AgentConfiguration()
            configuration.filters = [barrier]
            let agent = NetworkAgent(configuration: configuration, transport: bench.transport)
            // The requests differ, because a transport may send equal ones once.
            let requests = try (0..<all).map { index in
                ConformanceBench.Probe(
                    http: try bench.request(.get, "/slow?\(index)"), delivery: .data, accessories: [])
            }
            let held = try await withThrowingTaskGroup(of: Bool.self) { group in
                for request in requests { group.addTask { try await isHeld(request, agent) } }
                try await gate.reached()
                barrier.isDown.store(true, ordering: .sequentiallyConsistent)
                gate.open()
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            // The server responds only while the barrier is down. A request that isn't the first on its connection
            // follows a response, so `willSend` must have refused it.
            let late = bench.server.received.count { $0.index > 1 }
            try bench.equal(late, 0, "requests sent despite an error from willSend")
            try bench.equal(
                bench.server.requestCount, all - held,
                "requests at the server, without the \(held) that willSend rejected")
            barrier.isDown.store(false, ordering: .sequentiallyConsistent)
            try bench.equal(
                try await isHeld(requests[0], agent), false,
                "whether willSend rejected a request after the barrier was removed")
        }
    ]

    private static func isHeld(_ request: ConformanceBench.Probe, _ agent: NetworkAgent) async throws -> Bool {
        do {
            _ = try await agent.send(request, options: CallOptions())
            return false
        } catch is Barrier.Down {
            return true
        } catch {
            throw ConformanceFailure(
                expected: "a response, or the error the filter threw", came: "\(type(of: error)): \(error)")
        }
    }

    private final class Barrier: PreSendFilter {
        struct Down: Error {}

        let isDown = Atomic(false)
        var stages: FilterStages { .wire }

        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }

        func willSend(_ request: HTTPRequest, time: any TimeSource) throws {
            if isDown.load(ordering: .sequentiallyConsistent) { throw Down() }
        }
    }
}
