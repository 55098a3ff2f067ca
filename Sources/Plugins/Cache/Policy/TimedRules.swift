import Errand
import ErrandEssentials

/// The rules of the app's own policy, as pure functions.
enum TimedRules {
    /// The attributes of a timed response, which have to match.
    struct Attributes: Sendable, Hashable {
        var version: Int
        /// A keyed hash of the partition.
        var partition: String?
        var appVersion: String?
    }

    /// Returns why a stored response isn't valid, or nil if it is. Checks the age, version, partition and app version
    /// in this order. A response exactly as old as the lifetime is valid.
    ///
    /// - Parameters:
    ///   - expected: The attributes that would be stored now.
    ///   - lifetime: In seconds.
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

    /// Whole seconds, up to 68 years.
    var wholeSeconds: Int64 { min(bounded.components.seconds, 1 << 31) }

    static func interval(_ interval: TimeInterval) -> Duration {
        .milliseconds(Int64(min(max(interval, 0), 1e10) * 1000))
    }
}
