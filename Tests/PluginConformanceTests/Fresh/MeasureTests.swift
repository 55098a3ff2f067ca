import ErrandCacheTesting
import ErrandConformance
import Foundation
import Testing

@Suite("Measure", .serialized)
struct MeasureTests {
    @Test func cases() async throws {
        let only = ProcessInfo.processInfo.environment["ONLY"]
        for fresh in FreshFilter.all where only == nil || only == fresh.name {
            let start = ContinuousClock.now
            var failures: [String] = []
            for each in FilterConformance.cases(
                for: fresh.make, secrets: fresh.secrets, within: .seconds(20), gracePeriod: .milliseconds(400))
            where ProcessInfo.processInfo.environment["LAWS"] == nil || each.name.hasPrefix("law:") {
                do { try await each.run() } catch { failures.append("\(error)") }
            }
            print(
                "MEASURE", (fresh.isWrong ? "wrong" : "right"), fresh.name, failures.count, ContinuousClock.now - start)
            for each in failures { print("    MEASURE", each.prefix(900)) }
        }
    }

    @Test func accessories() async throws {
        let only = ProcessInfo.processInfo.environment["ONLY"]
        for fresh in FreshAccessory.all where only == nil || only == fresh.name {
            let start = ContinuousClock.now
            var failures: [String] = []
            for each in fresh.cases(.milliseconds(400))
            where ProcessInfo.processInfo.environment["LAWS"] == nil || each.name.hasPrefix("law:") {
                do { try await each.run() } catch { failures.append("\(error)") }
            }
            print(
                "ACCESS", (fresh.isWrong ? "wrong" : "right"), fresh.name, failures.count, ContinuousClock.now - start)
            for each in failures { print("    ACCESS", each.prefix(900)) }
        }
    }

    @Test func stores() async throws {
        for fresh in FreshStore.all {
            let start = ContinuousClock.now
            var failures: [String] = []
            for each in CacheStoreSuite.cases {
                do { try await each.run { fresh.make() } } catch { failures.append("\(each): \(error)") }
            }
            print("STORE", (fresh.isWrong ? "wrong" : "right"), fresh.name, failures.count, ContinuousClock.now - start)
            for each in failures { print("    STORE", each.prefix(900)) }
        }
    }
}
