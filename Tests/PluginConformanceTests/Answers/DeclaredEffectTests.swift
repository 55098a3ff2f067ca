import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// Filters that declare more than they do.
@Suite("Effects that a filter declares but doesn't show are reported", .endsInTime, .leakChecked)
struct DeclaredEffectTests {
    private static let sample = LawExchange(headers: ["X-Mode": "short"])
    private static let shortened: @Sendable () -> any Filter = {
        .closure { exchange, next in
            var exchange = exchange
            if exchange.http.headers["X-Mode"] == "short" { exchange.timeout = .seconds(3) }
            return try await next(exchange)
        }
    }

    private static func useCase(
        _ effects: [FilterEffect], samples: [LawExchange] = [], seed: UInt64 = 1
    ) throws -> PluginConformanceCase {
        let options = LawOptions(rounds: 1, budget: .seconds(600), seed: seed)
        return try #require(
            FilterConformance.cases(for: shortened, effects: effects, samples: samples, laws: options)
                .first { $0.name.hasPrefix("each declared change") })
    }

    @Test("an effect that a sample shows is accepted, with each seed", arguments: [1, 2, 3] as [UInt64])
    func needed(seed: UInt64) async throws {
        try await Self.useCase([.timeout], samples: [Self.sample], seed: seed).run()
    }

    @Test("an effect that no exchange shows fails, and the failure names it")
    func unneeded() async throws {
        for (effects, samples) in [([.timeout, .url], [Self.sample]), ([.timeout], [])]
            as [([FilterEffect], [LawExchange])]
        {
            let each = try Self.useCase(effects, samples: samples)
            let failure = await #expect(throws: ConformanceFailure.self) { try await each.run() }
            #expect(failure?.expected.contains(effects.count == 2 ? ".url" : ".timeout") == true)
        }
    }

    @Test("effects that depend on the app's state are only listed")
    func listed() async throws {
        let effects: [FilterEffect] = [.timeout, .error, .responds, .waits, .repeats(.post)]
        try await Self.useCase(effects, samples: [Self.sample]).run()
        let unneeded = try await FilterConformance.unneededEffects(
            for: Self.shortened, effects: effects, samples: [Self.sample])
        #expect(unneeded.map(\.description) == [".error", ".responds", ".waits", ".repeats(.post)"])
        let answers = try await FilterConformance.unneededEffects(
            for: { OfflineAnswer(keepsCancellations: true) }, effects: [.responds])
        #expect(answers.isEmpty)
    }
}
