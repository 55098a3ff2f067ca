public import Errand
import ErrandTesting

/// The promises of an ``Accessory``, as a list of cases for any test framework.
///
/// ```swift
/// @Test(arguments: AccessoryConformance.cases(for: { MyAccessory() }))
/// func conformance(_ each: PluginConformanceCase) async throws { try await each.run() }
/// ```
///
/// Each case makes an accessory and installs it in an agent of its own, over a transport in memory. The output of one
/// that writes something is also searched for secrets:
///
/// ```swift
/// AccessoryConformance.cases(for: { MyAccessory() }, output: { $0.text })
/// ```
public enum AccessoryConformance {
    /// The cases for the accessories that `make` makes.
    ///
    /// - Parameters:
    ///   - make: makes an accessory that shares no state with another.
    ///   - output: the text that it has written so far, for the search for secrets; none by default.
    ///   - excuses: the promises that it does not make, by ``ConformanceExcuse/named(_:because:)``; excused cases are
    ///     in the list too, with the reason.
    ///   - limit: the time after which a case counts as hanging; ten minutes by default.
    ///   - gracePeriod: the time for which objects of a call may exist after it; 30 seconds by default.
    public static func cases<Subject: Accessory>(
        for make: @escaping @Sendable () throws -> Subject,
        output: @escaping @Sendable (Subject) async throws -> String = { _ in "" },
        excusing excuses: [ConformanceExcuse] = [], within limit: Duration = .seconds(600),
        gracePeriod: Duration = .seconds(30)
    ) -> [PluginConformanceCase] {
        AccessoryDraft.all.map { draft in
            PluginConformanceCase(name: draft.name, excuse: nil, limit: limit) {
                try await draft.body(
                    AccessoryBench(
                        make: {
                            let subject = try make()
                            return (subject, { try await output(subject) })
                        }, gracePeriod: gracePeriod))
            }
        }.excusing(excuses, within: limit)
    }
}

/// A case before it is bound to an accessory.
struct AccessoryDraft: Sendable {
    let name: String
    let body: @Sendable (AccessoryBench) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (AccessoryBench) async throws -> Void) {
        (self.name, self.body) = (name, body)
    }
}

/// The tools of a case: accessories to make, and agents that have them.
struct AccessoryBench: Sendable {
    let make: @Sendable () throws -> (any Accessory, output: @Sendable () async throws -> String)
    let gracePeriod: Duration

    /// The tools for agents and checks; it makes no filter.
    var filters: FilterBench {
        FilterBench(
            make: { .closure { exchange, next in try await next(exchange) } }, secrets: [], gracePeriod: gracePeriod)
    }

    /// An agent on which every scene can be played.
    func agent(_ accessories: any Accessory...) -> NetworkAgent { agent(BenchScene.transport(), accessories) }

    func agent(_ transport: BenchTransport, _ accessories: any Accessory...) -> NetworkAgent {
        agent(transport, accessories)
    }

    private func agent(_ transport: BenchTransport, _ accessories: [any Accessory]) -> NetworkAgent {
        filters.agent(transport, outside: BenchScene.filters, filter: nil, accessories: accessories)
    }

    func expectNoFlood(_ forwarder: BenchForwarder) throws {
        try filters.expect(
            !forwarder.isFlooded, "no event that follows from each event", came: "2,000 events of one activity")
    }
}
