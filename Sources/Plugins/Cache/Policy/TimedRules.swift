import ErrandEssentials

/// The app's own rules, as one function of what is known.
enum TimedRules {
    /// What is stored of an answer beside the answer.
    struct Facts: Sendable, Hashable {
        var version: Int
        /// A keyed hash.
        var partition: String?
        var appVersion: String?
    }

    /// Why a stored answer does not count, nil if it does; the first reason in this order: age, version, partition, app
    /// version. An age that equals the lifetime counts.
    ///
    /// - Parameter wanted: what would be stored now.
    static func refusal(
        of stored: Facts, received: Date, wanted: Facts, lifetime: Duration, takesExpired: Bool = false, now: Date
    ) -> CacheMiss.Reason? {
        let age = now.timeIntervalSince(received)
        if !takesExpired, age < 0 || age > lifetime.interval { return .expired }
        if stored.version != wanted.version { return .versionMismatch }
        if stored.partition != wanted.partition { return .partitionMismatch }
        if stored.appVersion != wanted.appVersion { return .appVersionMismatch }
        return nil
    }
}

extension Duration {
    var interval: TimeInterval { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

    /// Whole seconds, at most 68 years.
    var wholeSeconds: Int64 { min(max(components.seconds, 0), 1 << 31) }

    static func interval(_ interval: TimeInterval) -> Duration {
        .milliseconds(Int64(min(max(interval, 0), 1e10) * 1000))
    }
}
