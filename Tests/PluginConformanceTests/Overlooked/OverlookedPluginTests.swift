import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// What right plugins couldn't declare before, and what they may not declare.
@Suite("Plugins can declare what they do on purpose", .endsInTime)
struct OverlookedPluginTests {
    // MARK: Responses

    private static let head = "a response to HEAD doesn't get a body"
    private static let empty = "a response with 204 or 304 doesn't get a body"

    private func check(
        _ name: String, _ effects: [FilterEffect], _ make: @escaping @Sendable () -> any Filter
    ) async throws {
        let cases = FilterConformance.cases(for: make, effects: effects, laws: .off)
        for each in cases where each.name == name { try await each.run() }
    }

    @Test("a filter that declares it can give a 204 a body, but not a response to HEAD")
    func bodies() async throws {
        let fills: @Sendable () -> any Filter = {
            .closure { exchange, next in
                let response = try await next(exchange)
                if exchange.http.method == .head || response.status != 204 { return response }
                return .madeUp(for: exchange, "null")
            }
        }
        let answers: @Sendable () -> any Filter = {
            .closure { exchange, _ in .madeUp(for: exchange, exchange.http.method == .head ? "" : "{}") }
        }
        let answersHead: @Sendable () -> any Filter = { .closure { exchange, _ in .madeUp(for: exchange, "{}") } }
        for name in [Self.head, Self.empty] {
            try await check(name, [.response], fills)
            try await check(name, [.responds], answers)
        }
        await #expect(throws: ConformanceFailure.self) { try await check(Self.empty, [], fills) }
        for effect in [FilterEffect.response, .responds] {
            await #expect(throws: ConformanceFailure.self) { try await check(Self.head, [effect], answersHead) }
        }
    }

    // MARK: Files

    @Test("the law refuses a filter that doesn't save a response to its file")
    func files() async throws {
        let exchange = LawExchange(isSaved: true)
        let collects: @Sendable () -> any Filter = {
            .closure { exchange, next in
                var exchange = exchange
                if exchange.delivery != .stream { exchange.delivery = .data }
                return try await next(exchange)
            }
        }
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.request.check(collects, exchange)
        }
        #expect(failure?.expected == "the delivery: a file")
        try await FilterLaw.request.check(collects, effects: [.delivery], exchange)
        try await FilterLaw.response.check({ .closure { exchange, next in try await next(exchange) } }, exchange)
        #expect("\(exchange)" == "LawExchange(isSaved: true)")
    }

    // MARK: Accessories

    private func cases(_ effects: [AccessoryEffect]) -> [PluginConformanceCase] {
        AccessoryConformance.cases(
            for: {
                ClosureAccessory { activity, event in
                    guard case .received(let response, _) = event else { return }
                    if [401, 403].contains(response.status) { activity.cancel() }
                }
            }, effects: effects, laws: LawOptions(rounds: 20, budget: LawBudget.duration), within: .seconds(600)
        ).filter { LawBudget.includes($0.name) }
    }

    @Test("an accessory that cancels refused calls passes every case, if it declares that")
    func cancels() async throws {
        for each in cases([.cancels]) { try await each.run() }
        let first = try #require(cases([]).first)
        await #expect(throws: ConformanceFailure.self) { try await first.run() }
    }
}
