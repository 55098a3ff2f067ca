#if os(Linux) || os(Android)
import Errand
import ErrandConformance
import Foundation
import Testing

/// Transports that wait, or that share or order requests on purpose.
@Suite("Transports that share or order requests are judged by the suite", .endsInTime)
struct DeclaredTransportTests {
    private static func cases(
        _ effects: [TransportEffect], _ make: @escaping @Sendable () -> any Transport
    ) -> [ConformanceCase] {
        let laws = LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration)
        return TransportConformance.cases(for: make, effects: effects, laws: laws, within: LawBudget.duration)
            .filter { LawBudget.includes($0.name) }
    }

    @Test("a transport that shares equal requests passes every case", arguments: cases([]) { SharingTransport() })
    func sharing(each: ConformanceCase) async throws { try await each.run() }

    @Test(
        "a transport that orders requests passes every case, if it declares that",
        arguments: cases([.ordersRequests]) { OrderedTransport() })
    func ordered(each: ConformanceCase) async throws { try await each.run() }

    @Test("cases about concurrent requests refuse a transport that orders requests without declaring it")
    func undeclared() async throws {
        func all(_ effects: [TransportEffect]) -> [ConformanceCase] {
            TransportConformance.cases(
                for: { OrderedTransport() }, effects: effects, laws: .off, within: .seconds(5))
        }
        let declared = Set(all([.ordersRequests]).map(\.name))
        let cases = all([]).filter { !declared.contains($0.name) }
        #expect(cases.count == 2)
        for each in cases { await #expect(throws: ConformanceFailure.self) { try await each.run() } }
    }

    @Test("a transport that declares an order, but doesn't keep it, is refused")
    func unneeded() async throws {
        let cases = Self.cases([.ordersRequests]) { SharingTransport() }
        let each = try #require(cases.first { $0.name.contains("declares ordersRequests") })
        await #expect(throws: ConformanceFailure.self) { try await each.run() }
    }

    @Test(
        "cases about timeouts end for a transport that waits before bodies",
        arguments: cases([]) { PausingTransport() }.filter { $0.feature == .timeouts })
    func pausing(each: ConformanceCase) async throws { try await each.run() }
}
#endif
