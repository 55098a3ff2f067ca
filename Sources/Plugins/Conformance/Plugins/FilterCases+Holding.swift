public import Errand
import ErrandEssentials
import ErrandTesting

extension FilterConformance {
    /// Returns the cases for a filter that currently holds back every request. For example, it waits for a network or a
    /// sign-in.
    ///
    /// ```swift
    /// FilterConformance.holdingCases(for: { MyFilter() })
    /// ```
    ///
    /// - Parameters:
    ///   - make: Creates a filter that doesn't send any request.
    ///   - limitations: Cases that don't apply. See ``KnownLimitation/named(_:because:)``.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    ///   - gracePeriod: How long a call may continue after its cancellation or deadline. Defaults to 30 seconds.
    public static func holdingCases(
        for make: @escaping @Sendable () throws -> any Filter, knownLimitations limitations: [KnownLimitation] = [],
        within limit: Duration = .seconds(600), gracePeriod: Duration = .seconds(30)
    ) -> [PluginConformanceCase] {
        let bench = FilterBench(make: make, secrets: [], gracePeriod: gracePeriod)
        return FilterDraft.holding.map { draft in
            PluginConformanceCase(name: draft.name, limitation: nil, limit: limit) { try await draft.body(bench) }
        }.excusing(limitations, within: limit)
    }
}

extension FilterDraft {
    static let holding: [FilterDraft] = [
        FilterDraft("a cancellation ends a call that the filter holds back") { bench in
            for endsAgent in [false, true] {
                let (transport, probe) = (BenchTransport(), BenchProbe(.call))
                let agent = try bench.agent(transport, outside: [probe], filter: bench.make())
                let task = Task { try await agent.send(BenchRequest(), options: CallOptions()).value.status }
                try await held(1, bench, probe, transport)
                if endsAgent { agent.cancelAll() } else { task.cancel() }
                let isDone = try await bench.becomes { !probe.results.isEmpty }
                try bench.expect(
                    isDone, "an end after \(endsAgent ? "`cancelAll`" : "the task's cancellation")",
                    came: "a call that the filter still holds: use `withTaskCancellationHandler`")
                if case .failure(let error)? = probe.results.first {
                    try bench.expect(error.isCancellation, "a cancellation", came: "\(type(of: error)): \(error)")
                }
                _ = await task.result
                try bench.equal(transport.arrivals.count, 0, "the requests at the transport")
            }
        },
        FilterDraft("a deadline ends a call that the filter holds back") { bench in
            let (transport, end) = (BenchTransport(), Watched<(any Error)?>(nil))
            let agent = try bench.agent(transport, filter: bench.make())
            let isDone = try await bench.ends {
                do {
                    let request = BenchRequest(deadline: .milliseconds(50))
                    _ = try await agent.send(request, options: CallOptions()).value.status
                } catch { end.update { $0 = error } }
            }
            try bench.expect(isDone, "an end after the deadline", came: "a call that the filter still holds")
            try bench.equal(transport.arrivals.count, 0, "the requests at the transport")
            let error = end.read { $0 }
            try bench.expect(
                (error as? ErrandError)?.code == .deadlineExceeded, "the error deadlineExceeded",
                came: error.map { "\(type(of: $0)): \($0)" } ?? "a response")
        },
        FilterDraft("two hundred calls that the filter holds back end when they're cancelled, and are released") {
            bench in
            let (transport, probe) = (BenchTransport(), BenchProbe(.call))
            let agent = try bench.agent(transport, outside: [probe], filter: bench.make())
            let marks = Watched<[WeakMark]>([])
            let tasks = (0..<200).map { _ in
                Task {
                    var request = BenchRequest()
                    let mark = BenchMark()
                    marks.update { $0.append(WeakMark(mark: mark)) }
                    request.tags[BenchTag.self] = mark
                    return try await agent.send(request, options: CallOptions()).value.status
                }
            }
            try await held(200, bench, probe, transport)
            for task in tasks { task.cancel() }
            let isDone = try await bench.becomes { probe.results.count == 200 }
            try bench.expect(isDone, "200 ends", came: "\(probe.results.count)")
            for task in tasks { _ = await task.result }
            let isGone = try await bench.becomes { marks.read { marks in marks.allSatisfy { $0.mark == nil } } }
            let left = marks.read { marks in marks.count { $0.mark != nil } }
            try bench.expect(isGone, "no request of a cancelled call in memory", came: "\(left) requests")
        },
    ]

    private static func held(
        _ count: Int, _ bench: FilterBench, _ probe: BenchProbe, _ transport: BenchTransport
    ) async throws {
        try await probe.entered(count)
        try await bench.pause()
        try bench.expect(
            transport.arrivals.isEmpty && probe.results.isEmpty, "a filter that holds back every request",
            came: "a request at the transport, or a call that has ended: create the filter in its waiting state")
    }
}
