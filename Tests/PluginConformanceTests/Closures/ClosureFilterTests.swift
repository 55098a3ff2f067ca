import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// Filters whose closures fail, are cancelled, or don't end.
@Suite("Filters that call closures of the app are judged by the suite", .endsInTime)
struct ClosureFilterTests {
    private static func token(_ form: SharedToken.Form) -> [PluginConformanceCase] {
        FilterConformance.closureCases(for: { SharedToken(form, $0) }, gracePeriod: .seconds(3))
    }

    private static func transform(_ form: LimitedTransform.Form) -> [PluginConformanceCase] {
        FilterConformance.closureCases(for: { LimitedTransform(form, $0) }, gracePeriod: .seconds(3))
    }

    private static func failures(of cases: [PluginConformanceCase]) async -> [String] {
        var names: [String] = []
        for each in cases {
            do { try await each.run() } catch { names.append(each.name) }
        }
        return names
    }

    private static let refusals: [(SharedToken.Form, String)] = [
        (.keepsFailure, "the error of a closure reaches the caller, and the next call works"),
        (.endsWithFirst, "a cancelled call ends while its closure waits, and doesn't end other calls"),
        (.ignoresCancellation, "a cancelled call ends while its closure waits, and doesn't end other calls"),
        (.hidesError, "the error of a closure reaches the caller, and the next call works"),
    ]

    @Test("a case refuses a filter that a failing closure disturbs", arguments: refusals.indices)
    func refused(index: Int) async throws {
        let (form, name) = Self.refusals[index]
        let failures = await Self.failures(of: Self.token(form))
        #expect(failures.contains(name), "\(form): \(failures)")
    }

    @Test("a case refuses a place that a failing closure keeps")
    func places() async {
        #expect(await Self.failures(of: Self.transform(.keepsPlace)).count > 1)
    }

    @Test("no case refuses a filter that closures don't disturb")
    func right() async throws {
        for each in Self.token(.right) + Self.transform(.right) { try await each.run() }
    }

    @Test("a filter that doesn't call its closure fails, because no case tests it")
    func uncalled() async throws {
        let cases = FilterConformance.closureCases(for: { _ in .closure { exchange, next in try await next(exchange) } }
        )
        let failure = await #expect(throws: ConformanceFailure.self) { try await cases[0].run() }
        #expect(failure?.came.contains("samples") == true)
    }
}
