import ErrandConformance
import ErrandEssentials
import Foundation
import Synchronization
import Testing

@Suite("Measure", .enabled(if: ProcessInfo.processInfo.environment["ERRAND_MEASURE"] != nil))
struct MeasureTests {
    @Test(arguments: AlteredTransport.wrong + AlteredTransport.unusual)
    func measure(each: AlteredTransport) async throws {
        let cases = TransportConformance.cases(for: each.make, within: .seconds(30))
        let start = ContinuousClock.now
        var caught: [String] = []
        for one in cases {
            do { try await one.run() } catch { caught.append(one.name) }
        }
        print("MEASURED|\(each.testDescription)|\(caught.count)|\(start.duration(to: .now))|\(caught.prefix(4).joined(separator: "; "))")
    }
}
