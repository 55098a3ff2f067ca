import Errand
import ErrandEssentials

/// The rules of the app's own policy, as pure functions.
enum TimedRules {
    /// The attributes that are stored beside a timed response, and have to match.
    struct Attributes: Sendable, Hashable {
        var version: Int
        /// A keyed hash of the partition.
        var partition: String?
        var appVersion: String?
    }

    /// The reason why a stored response is not valid, nil if it is; the first in this order: age, version, partition,
    /// app version. A response whose age equals the lifetime is valid.
    ///
    /// - Parameters:
    ///   - expected: the attributes that would be stored now.
    ///   - lifetime: in seconds.
    static func refusal(
        of stored: Attributes, received: Date, expected: Attributes, lifetime: TimeInterval, takesExpired: Bool = false,
        now: Date
    ) -> CacheMiss.Reason? {
        let age = now.timeIntervalSince(received)
        if !takesExpired, age < 0 || age > lifetime { return .expired }
        if stored.version != expected.version { return .versionMismatch }
        if stored.partition != expected.partition { return .partitionMismatch }
        if stored.appVersion != expected.appVersion { return .appVersionMismatch }
        return nil
    }
}

extension Duration {
    var interval: TimeInterval { self / .seconds(1) }

    /// Whole seconds, at most 68 years.
    var wholeSeconds: Int64 { min(bounded.components.seconds, 1 << 31) }

    static func interval(_ interval: TimeInterval) -> Duration {
        .milliseconds(Int64(min(max(interval, 0), 1e10) * 1000))
    }
}
