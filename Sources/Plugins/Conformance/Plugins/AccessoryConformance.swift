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
    ///   - effects: What the accessory does to calls on purpose. Defaults to an empty list: it only observes.
    ///   - output: Returns the accessory's output so far, to check it for secrets. By default, it has no output.
    ///   - outcomes: Returns a text that describes what the accessory has done at the ends of calls, such as the number
    ///     of sign-outs. It must not depend on the number of attempts of a call. By default, there are no outcomes.
    ///   - attach: Gives the accessory its agent. Pass it if the accessory sends requests with the agent that it
    ///     observes. By default, the accessory doesn't get an agent.
    ///   - laws: How thoroughly to test laws. Defaults to a hundred rounds, and at most a minute for all laws.
    ///   - limitations: Cases that don't apply, created with ``KnownLimitation/named(_:because:)``. They are skipped,
    ///     but stay in the list.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    ///   - gracePeriod: How long a call's objects may stay in memory after the call. Defaults to 30 seconds.
    public static func cases<Subject: Accessory>(
        for make: @escaping @Sendable () throws -> Subject, effects: [AccessoryEffect] = [],
        output: (@Sendable (Subject) async throws -> String)? = nil,
        outcomes: (@Sendable (Subject) async throws -> String)? = nil,
        attach: (@Sendable (Subject, NetworkAgent) -> Void)? = nil,
        laws: LawOptions = LawOptions(), knownLimitations limitations: [KnownLimitation] = [],
        within limit: Duration = .seconds(600),
        gracePeriod: Duration = .seconds(30)
    ) -> [PluginConformanceCase] {
        let bench = AccessoryBench(
            make, effects: effects, output: output, outcomes: outcomes, attach: attach, gracePeriod: gracePeriod)
        let cases = AccessoryDraft.all.map { draft in
            PluginConformanceCase(name: draft.name, limitation: nil, limit: limit) { try await draft.body(bench) }
        }
        let all = laws.rounds > 0 ? AccessoryLaw.all : []
        return
            (cases
            + all.map { law in
                PluginConformanceCase(name: law.name, limitation: nil, limit: limit) {
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
    let effects: [AccessoryEffect]
    let attach: @Sendable (any Accessory, NetworkAgent) -> Void
    /// Returns a text that describes what the accessory has done at the ends of calls.
    let outcomes: @Sendable (any Accessory) async throws -> String
    /// The author's arguments, as written in a test that repeats a failure.
    let arguments: [(name: String, code: String)]
    let gracePeriod: Duration

    init<Subject: Accessory>(
        _ make: @escaping @Sendable () throws -> Subject, effects: [AccessoryEffect],
        output: (@Sendable (Subject) async throws -> String)?,
        outcomes: (@Sendable (Subject) async throws -> String)?,
        attach: (@Sendable (Subject, NetworkAgent) -> Void)?, gracePeriod: Duration
    ) {
        self.make = {
            let subject = try make()
            return (subject, { try await output?(subject) ?? "" })
        }
        self.attach = { accessory, agent in (accessory as? Subject).map { attach?($0, agent) } }
        self.outcomes = { accessory in
            guard let subject = accessory as? Subject else { return "" }
            return try await outcomes?(subject) ?? ""
        }
        var arguments: [(name: String, code: String)] = []
        if !effects.isEmpty {
            arguments.append(("effects", "[\(effects.map { ".\($0)" }.joined(separator: ", "))]"))
        }
        if output != nil { arguments.append(("output", "{ _ in \"\" /* as in your test */ }")) }
        if outcomes != nil { arguments.append(("outcomes", "{ _ in \"\" /* as in your test */ }")) }
        if attach != nil { arguments.append(("attach", "{ _, _ in /* as in your test */ }")) }
        (self.effects, self.arguments, self.gracePeriod) = (effects, arguments, gracePeriod)
    }

    /// Returns whether a call ended as expected. An accessory that cancels calls may have cancelled it.
    func isExpected(_ end: String, _ expected: String) -> Bool {
        end == expected || effects.contains(.cancels) && ["cancelled", "CancellationError"].contains(end)
    }

    func expectEnd(_ end: String, _ expected: String, _ what: String) throws {
        if !isExpected(end, expected) { try filters.equal(end, expected, what) }
    }

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
