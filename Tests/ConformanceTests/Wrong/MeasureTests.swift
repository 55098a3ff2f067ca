import ErrandConformance
import ErrandEssentials
import Foundation
import Synchronization
import Testing

@Suite("Measure", .enabled(if: ProcessInfo.processInfo.environment["ERRAND_MEASURE"] != nil))
struct MeasureTests {
    static var isLaws: Bool { ProcessInfo.processInfo.environment["ERRAND_MEASURE"] == "laws" }
    static var subjects: [AlteredTransport] {
        let house = Wire.allCases.map { wire in AlteredTransport("house \(wire)", plain: { wire.transport }) }
        let part = ProcessInfo.processInfo.environment["ERRAND_PART"]
        if part == "session" { return [house[house.count - 1]] }
        return [house[0]] + AlteredTransport.unusual + AlteredTransport.wrong
    }

    @Test func measure() async throws {
        let seed = UInt64(ProcessInfo.processInfo.environment["ERRAND_SEED"] ?? "") ?? 1
        let rounds = Int(ProcessInfo.processInfo.environment["ERRAND_ROUNDS"] ?? "") ?? 100
        for each in Self.subjects {
            let isCurl = each.testDescription != "house urlSession"
            let cases = TransportConformance.cases(
                for: each.make, laws: LawOptions(rounds: rounds, seed: seed),
                knownLimitations: isCurl ? [] : URLSessionConformanceTests.limitations, within: .seconds(120))
            let start = ContinuousClock.now
            var caught: [String] = []
            for one in cases where one.feature == .laws {
                let begin = ContinuousClock.now
                do { try await one.run() } catch {
                    caught.append(one.name)
                    print("DETAIL|\(each.testDescription)\n\(error)")
                }
                if each.testDescription.hasPrefix("house") { print("TIME|\(one.name)|\(begin.duration(to: .now))") }
            }
            print("MEASURED|\(each.testDescription)|\(caught.count)|\(start.duration(to: .now))|\(caught.joined(separator: "; "))")
        }
    }
}
