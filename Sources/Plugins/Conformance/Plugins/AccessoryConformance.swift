public import Errand
import ErrandTesting

/// Test cases for an ``Accessory``. You can run them with any test framework.
///
/// ```swift
/// @Test(arguments: AccessoryConformance.cases(for: { MyAccessory() }))
/// func conformance(_ each: PluginConformanceCase) async throws { try await each.run() }
/// ```
///
/// Each case creates an accessory, and its own agent with an in-memory transport. If the accessory writes output, pass
/// a closure that returns it, so the cases can check the output for secrets:
///
/// ```swift
/// AccessoryConformance.cases(for: { MyAccessory() }, output: { $0.text })
/// ```
public enum AccessoryConformance {
    /// Returns the cases for the accessories that `make` creates.
    ///
    /// - Parameters:
    ///   - make: Creates an accessory. The accessory must not share state with other accessories.
    ///   - output: Returns the accessory's output so far, to check it for secrets. Defaults to an empty text.
    ///   - outcomes: Returns a text that describes what the accessory has done at the ends of calls, such as the number
    ///     of sign-outs. It must not depend on the number of attempts of a call. Defaults to an empty text.
    ///   - attach: Gives the accessory its agent. Pass it if the accessory sends requests with the agent that it
    ///     observes. By default, it does nothing.
    ///   - laws: How thoroughly to test laws. Defaults to a hundred rounds, and at most a minute for all laws.
    ///   - limitations: Cases that don't apply, created with ``KnownLimitation/named(_:because:)``. They are skipped,
    ///     but stay in the list.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    ///   - gracePeriod: How long a call's objects may stay in memory after the call. Defaults to 30 seconds.
    public static func cases<Subject: Accessory>(
        for make: @escaping @Sendable () throws -> Subject,
        output: @escaping @Sendable (Subject) async throws -> String = { _ in "" },
        outcomes: @escaping @Sendable (Subject) async throws -> String = { _ in "" },
        attach: @escaping @Sendable (Subject, NetworkAgent) -> Void = { _, _ in },
        laws: LawOptions = LawOptions(), knownLimitations limitations: [KnownLimitation] = [],
        within limit: Duration = .seconds(600),
        gracePeriod: Duration = .seconds(30)
    ) -> [PluginConformanceCase] {
        var bench = AccessoryBench(
            make: {
                let subject = try make()
                return (subject, { try await output(subject) })
            }, gracePeriod: gracePeriod)
        bench.attach = { accessory, agent in (accessory as? Subject).map { attach($0, agent) } }
        bench.outcomes = { accessory in
            guard let subject = accessory as? Subject else { return "" }
            return try await outcomes(subject)
        }
        let cases = AccessoryDraft.all.map { draft in
            PluginConformanceCase(name: draft.name, limitation: nil, limit: limit) { [bench] in
                try await draft.body(bench)
            }
        }
        let all = laws.rounds > 0 ? AccessoryLaw.all : []
        return
            (cases
            + all.map { law in
                PluginConformanceCase(name: law.name, limitation: nil, limit: limit) { [bench] in
                    try await law.search(bench, laws)
                }
            }).excusing(limitations, within: limit)
    }
}

struct AccessoryDraft: Sendable {
    let name: String
    let body: @Sendable (AccessoryBench) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (AccessoryBench) async throws -> Void) {
        (self.name, self.body) = (name, body)
    }
}

struct AccessoryBench: Sendable {
    let make: @Sendable () throws -> (any Accessory, output: @Sendable () async throws -> String)
    let gracePeriod: Duration
    var attach: @Sendable (any Accessory, NetworkAgent) -> Void = { _, _ in }
    /// Returns a text that describes what the accessory has done at the ends of calls.
    var outcomes: @Sendable (any Accessory) async throws -> String = { _ in "" }

    /// A bench that provides agents and checks. Its filter passes every request on unchanged.
    var filters: FilterBench {
        FilterBench(
            make: { .closure { exchange, next in try await next(exchange) } }, secrets: [], gracePeriod: gracePeriod)
    }

    func agent(_ accessories: any Accessory...) -> NetworkAgent { agent(BenchScene.transport(), accessories) }

    func agent(_ transport: BenchTransport, _ accessories: any Accessory...) -> NetworkAgent {
        agent(transport, accessories)
    }

    private func agent(_ transport: BenchTransport, _ accessories: [any Accessory]) -> NetworkAgent {
        filters.agent(transport, outside: BenchScene.filters, filter: nil, accessories: accessories)
    }

    func expectNoFlood(_ forwarder: BenchForwarder) throws {
        try filters.expect(
            !forwarder.isFlooded, "an accessory that doesn't answer every event with another event",
            came: "2,000 events of one activity")
    }
}
