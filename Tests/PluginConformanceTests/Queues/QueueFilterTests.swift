import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// Filters that hold calls back.
@Suite("Filters with a queue are judged by the laws", .endsInTime)
struct QueueFilterTests {
    private static let busy = LawExchange(replies: [LawReply(429, headers: [.retryAfter: "30"])])

    @Test("a law refuses a wait after a 429 that a cancellation disturbs", arguments: PausedHost.Form.allCases)
    func pauses(form: PausedHost.Form) async throws {
        if form == .right {
            try await FilterLaw.waiting.check({ PausedHost(form) }, Self.busy)
            return try await run([.waiting, .pauses, .time], effects: [.waits]) { PausedHost(form) }
        }
        await #expect(throws: ConformanceFailure.self, "\(form)") {
            try await FilterLaw.waiting.check({ PausedHost(form) }, Self.busy)
        }
    }

    @Test("a law refuses a limit that isn't kept or reached", arguments: Turnstile.Form.allCases)
    func limits(form: Turnstile.Form) async throws {
        if form == .right {
            return try await run([.limits, .concurrency, .release], effects: [.limits(3)]) { Turnstile(3, form) }
        }
        await #expect(throws: ConformanceFailure.self, "\(form)") {
            try await run([.limits], effects: [.limits(3)]) { Turnstile(3, form) }
        }
    }

    private func run(
        _ laws: [FilterLaw], effects: [FilterEffect], _ make: @escaping @Sendable () -> any Filter
    ) async throws {
        let options = LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration)
        let names = laws.map(\.name)
        for each in FilterConformance.cases(for: make, effects: effects, laws: options) where names.contains(each.name)
        {
            try await each.run()
        }
    }

    @Test("without a declared limit, no request is refused")
    func undeclared() async throws {
        try await FilterLaw.limits.check({ Turnstile(3, .oneMore) }, LawExchange())
    }
}
