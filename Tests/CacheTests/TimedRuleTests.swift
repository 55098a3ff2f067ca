import ErrandHTTP
import Foundation
import Testing

@testable import ErrandCache

@Suite("The rules of the timed policy", .leakChecked)
struct TimedRuleTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private typealias Attributes = TimedRules.Attributes

    private static let rows: [(Double, TimedRules.Attributes, TimedRules.Attributes, String?)] = [
        (0, Attributes(version: 0), Attributes(version: 0), nil),
        (60, Attributes(version: 0), Attributes(version: 0), nil),
        (60.001, Attributes(version: 0), Attributes(version: 0), "expired"),
        (-0.001, Attributes(version: 0), Attributes(version: 0), "expired"),
        (99, Attributes(version: 0), Attributes(version: 1), "expired"),
        (1, Attributes(version: 0, partition: "a", appVersion: "1"), Attributes(version: 1), "versionMismatch"),
        (1, Attributes(version: 1 << 40), Attributes(version: 0), "versionMismatch"),
        (1, Attributes(version: 1, partition: "a", appVersion: "1"), Attributes(version: 1), "partitionMismatch"),
        (1, Attributes(version: 1), Attributes(version: 1, partition: "a"), "partitionMismatch"),
        (1, Attributes(version: 1, partition: "a"), Attributes(version: 1, partition: "b"), "partitionMismatch"),
        (1, Attributes(version: 1, partition: "a"), Attributes(version: 1, partition: "a"), nil),
        (1, Attributes(version: 1, appVersion: "1"), Attributes(version: 1, appVersion: "2"), "appVersionMismatch"),
        (1, Attributes(version: 1, appVersion: "1"), Attributes(version: 1), "appVersionMismatch"),
    ]

    @Test(
        "a miss has the first reason in the order age, version, partition, app version; the exact lifetime is valid",
        arguments: rows.indices)
    func reasons(index: Int) {
        let (age, stored, wanted, expected) = Self.rows[index]
        let reason = TimedRules.refusal(
            of: stored, received: Self.now, expected: wanted, lifetime: 60, now: Self.now + age)
        #expect(reason?.description == expected)
    }

    @Test("an expired response is served if the caller accepts expired responses, but never from another partition")
    func stale() {
        func reason(_ expected: TimedRules.Attributes) -> CacheMiss.Reason? {
            TimedRules.refusal(
                of: Attributes(version: 1, partition: "a"), received: Self.now, expected: expected,
                lifetime: 60, takesExpired: true, now: Self.now + 1e6)
        }
        #expect(reason(Attributes(version: 1, partition: "a")) == nil)
        #expect(reason(Attributes(version: 1, partition: "b")) == .partitionMismatch)
    }

    @Test("with a lifetime of zero or less, entries aren't read or written")
    func off() {
        #expect(CachePolicy.timed(.zero) == .off && CachePolicy.timed(.seconds(-1)) == .off)
        #expect(CachePolicy.timed(.nanoseconds(1)) != .off)
        #expect((.seconds(Int64.max) * 10 as Duration).wholeSeconds == 1 << 31)
        #expect((.seconds(Int64.min) * 10 as Duration).wholeSeconds == 0)
    }
}
