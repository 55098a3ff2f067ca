import Errand
import ErrandConformance
import ErrandLoadingIndicatorLog
import ErrandRecording
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandInspector

@Suite("Errand's own accessories pass the conformance suite", .endsInTime, .leakChecked)
struct HouseAccessoryTests {
    @Test("the log passes every case", arguments: HouseAccessory.log)
    func log(each: PluginConformanceCase) async throws { try await each.run() }

    @Test("the loading indicator passes every case", arguments: HouseAccessory.indicator)
    func indicator(each: PluginConformanceCase) async throws { try await each.run() }

    @Test("the inspector passes every case", arguments: HouseAccessory.inspector)
    func inspector(each: PluginConformanceCase) async throws { try await each.run() }

    @Test("the recorder passes every case", arguments: HouseAccessory.recorder)
    func recorder(each: PluginConformanceCase) async throws { try await each.run() }

    @Test("closures for events pass every case", arguments: HouseAccessory.events)
    func events(each: PluginConformanceCase) async throws { try await each.run() }
}

enum HouseAccessory {
    private static let limit = LawBudget.duration
    private static let laws = LawOptions(rounds: 2 * LawBudget.rounds, budget: LawBudget.duration)

    /// An inspector with its server, and the data for its page.
    private final class StartedInspector: Accessory {
        let inspector = TrafficInspector(maximumBodyBytes: 1_000)

        init() {
            do { try inspector.start(inReleaseBuilds: true) { _ in } } catch { Issue.record(error) }
        }

        var maximumBodyBytes: Int { inspector.maximumBodyBytes }
        var observesMessages: Bool { inspector.observesMessages }
        func activity(_ activity: Activity, did event: ActivityEvent) { inspector.activity(activity, did: event) }
    }

    /// The log at its most verbose level, with the output of its sink.
    private final class TestedLog: Accessory {
        private let lines: Log<String>
        private let log: RequestLog

        init() {
            let lines = Log<String>()
            self.lines = lines
            log = RequestLog(.bodies(upTo: 1_000), to: ClosureSink { lines.add("\($0)") })
        }

        var maximumBodyBytes: Int { log.maximumBodyBytes }
        func activity(_ activity: Activity, did event: ActivityEvent) { log.activity(activity, did: event) }

        func text() async -> String {
            await log.flush()
            return lines.all.joined(separator: "\n")
        }
    }

    static let log = AccessoryConformance.cases(
        for: { TestedLog() }, output: { await $0.text() }, laws: laws, within: limit, gracePeriod: limit
    ).filter { LawBudget.includes($0.name) }
    static let indicator = AccessoryConformance.cases(
        for: { LoadingIndicator() }, laws: laws, within: limit, gracePeriod: limit
    ).filter { LawBudget.includes($0.name) }
    static let recorder = AccessoryConformance.cases(
        for: { ExchangeRecorder(maximumBodyBytes: 1_000) },
        output: { recorder in
            "\(String(decoding: try recorder.harFile().encoded(), as: UTF8.self)) \(recorder.waterfallPage(title: "a").html)"
        }, laws: laws, within: limit, gracePeriod: limit
    ).filter { LawBudget.includes($0.name) }
    static let inspector = AccessoryConformance.cases(
        for: { StartedInspector() }, output: { $0.inspector.everything }, laws: laws, within: limit, gracePeriod: limit
    ).filter { LawBudget.includes($0.name) }
    static let events = AccessoryConformance.cases(
        for: { EventAccessory(willStart: {}, success: { _ in }, didStop: {}) }, laws: laws, within: limit,
        gracePeriod: limit
    ).filter { LawBudget.includes($0.name) }
}
