import Errand
import ErrandConformance
import ErrandTesting
import Testing

@Suite("Plugins that are wrong on purpose", .endsInTime, .leakChecked)
struct WrongPluginTests {
    @Test("a wrong filter is caught by the case that names its fault", arguments: WrongFilter.all)
    func filters(wrong: WrongFilter) async throws { try await wrong.run() }

    @Test(
        "a filter that grows with its calls, its URLs, its hosts or its users is caught",
        .disabled(if: isDebugBuild, "hundreds of thousands of calls, which CI makes in release"))
    func growing() async {
        await #expect(processExitsWith: .success) {
            for wrong in WrongFilter.growing { try await wrong.run(rounds: 3) }
        }
    }

    @Test(
        "a wrong accessory is caught by the case that names its fault",
        arguments: WrongAccessory.all + WrongAccessory.conduct + WrongAccessory.writing)
    func accessories(wrong: WrongAccessory) async throws { try await wrong.run() }

    @Test(
        "an accessory that grows with its activities, its URLs or its labels is caught",
        .disabled(if: isDebugBuild, "hundreds of thousands of calls, which CI makes in release"))
    func growingAccessories() async {
        await #expect(processExitsWith: .success) {
            for wrong in WrongAccessory.growing { try await wrong.run(rounds: 3) }
        }
    }

    @Test("a limitation covers the case that it names, and a limitation without a case fails")
    func limitations() async throws {
        let cases = FilterConformance.cases(
            for: { .closure { exchange, next in try await next(exchange) } },
            knownLimitations: [
                .named("a redirect is followed", because: "no"), .named("no such case", because: "never"),
            ])
        let excused = try #require(cases.first { $0.name == "a redirect is followed" })
        #expect(excused.limitation == "no")
        await #expect(throws: ConformanceSkipped.self) { try await excused.run() }
        let unknown = try #require(cases.last)
        await #expect(throws: ConformanceFailure.self) { try await unknown.run() }
    }

    @Test("the names of the cases are unique")
    func names() {
        let cases = FilterConformance.cases(for: { .closure { exchange, next in try await next(exchange) } })
        #expect(Set(cases.map(\.name)).count == cases.count)
        let others = AccessoryConformance.cases(for: { WeakAccessory(RecordingAccessory()) })
        #expect(Set(others.map(\.name)).count == others.count)
    }
}

#if DEBUG
private let isDebugBuild = true
#else
private let isDebugBuild = false
#endif
