public import Errand
import ErrandEssentials

/// How responses are cached: by your app's rules (`.timed`), by the server's rules (`.http`), or by both.
///
/// ```swift
/// .timed(.seconds(180), version: 3, partition: userID)     // the app's lifetime, whatever the server sends
/// .http                                                    // RFC 9111
/// .timed(.seconds(30)).and(.http)                          // the app's lifetime, then HTTP validation
/// .off                                                     // the default
/// ```
public struct CachePolicy: Sendable, Hashable {
    struct Timed: Sendable, Hashable {
        var lifetime: Duration
        var version: Int
        var partition: String?
    }

    struct HTTP: Sendable, Hashable {
        var partition: String?
        var staleIfError: Duration?
    }

    var timed: Timed?
    var http: HTTP?
    var waitsForWrite = false

    /// Disables caching. The default.
    public static let off = CachePolicy()

    /// Stores accepted responses for a fixed time, whatever the server specifies.
    ///
    /// Each call has one entry: the final response, after redirects, checks and decoding.
    ///
    /// - Parameters:
    ///   - lifetime: The maximum age of a valid response, inclusive. If it's zero or negative, the cache isn't used.
    ///   - version: The version of your app's data format. An entry with another version is a miss. Defaults to 0.
    ///   - partition: The user or other owner of the response, of which the cache stores only a MAC. An entry with
    ///     another partition, or without a partition, is a miss and is replaced. Defaults to nil.
    public static func timed(_ lifetime: Duration, version: Int = 0, partition: String? = nil) -> CachePolicy {
        var policy = CachePolicy()
        if lifetime > .zero { policy.timed = Timed(lifetime: lifetime, version: version, partition: partition) }
        return policy
    }

    /// Caches responses as the server specifies (RFC 9111, private caches).
    public static let http = http(partition: nil)

    /// Caches responses as the server specifies (RFC 9111, private caches), with a partition or with stale responses
    /// after errors.
    ///
    /// - Parameters:
    ///   - partition: The user or other owner of responses. The key contains a MAC of the partition. Defaults to nil,
    ///     which separates users by the marks on their requests.
    ///   - staleIfError: How long past its lifetime a response can be served if the server can't be reached or responds
    ///     with 500, 502, 503 or 504. The server's `must-revalidate` and `no-cache` take precedence. Defaults to nil:
    ///     stale responses are served only if the server allows it.
    public static func http(partition: String? = nil, staleIfError: Duration? = nil) -> CachePolicy {
        var policy = CachePolicy()
        policy.http = HTTP(partition: partition, staleIfError: staleIfError)
        return policy
    }

    /// Returns a policy that combines a timed policy with an HTTP policy.
    ///
    /// Without a valid timed entry, the request continues to the HTTP cache, which has its own entry. Responses are
    /// therefore stored twice.
    public func and(_ other: CachePolicy) -> CachePolicy {
        var policy = self
        policy.timed = policy.timed ?? other.timed
        policy.http = policy.http ?? other.http
        policy.waitsForWrite = waitsForWrite || other.waitsForWrite
        return policy
    }

    /// Returns a policy that waits until a response is written before returning it. By default, responses are written
    /// in the background.
    public func waitingForWrite() -> CachePolicy {
        var policy = self
        policy.waitsForWrite = true
        return policy
    }

    var isOff: Bool { timed == nil && http == nil }

    var separatesUsers: Bool {
        !isOff && timed.map { $0.partition != nil } != false && http.map { $0.partition != nil } != false
    }

    var summary: String {
        switch (timed, http) {
        case (nil, nil): "off"
        case (let timed?, nil): "timed for \(duration: timed.lifetime)"
        case (nil, _?): "HTTP"
        case (let timed?, _?): "timed for \(duration: timed.lifetime), then HTTP"
        }
    }
}

/// The error of a call that needs a stored response, if the cache doesn't have a suitable response.
public struct CacheMiss: CodedError, ExpectedError, Sendable {
    /// The type of the reasons. New reasons may be added, so write a `default` in a `switch`.
    public typealias Reason = FailureCode<CacheMiss>

    /// Why the cache didn't return a stored response.
    public let reason: Reason
    /// The same as ``reason``, under the name that all errors use.
    public var code: Reason { reason }

    /// Whether a miss is a regular result for the caller, as in `cached`, `cachedThenFresh` and `removeCached`.
    public internal(set) var isExpected = false

    init(_ reason: Reason) { self.reason = reason }

    /// The reason and its meaning on one line.
    public var description: String {
        let words =
            reason == .notInstalled
            ? "the call needs a cached response, but there is no cache filter"
            : "the call needs a cached response, and the cache has no valid one"
        return "\(reason): \(words)"
    }

    /// The sentence for users: no response is stored. If the cache doesn't serve the request at all, the sentence is
    /// the general one for failures.
    public var failureSentence: FailureSentence {
        reason == .off || reason == .notInstalled ? .failed : .notStored
    }
}

extension FailureCode<CacheMiss> {
    /// The policy doesn't store responses, or the request downloads a file or streams its body.
    public static var off: Self { Self("off", 1) }
    /// The request doesn't pass through a cache filter.
    public static var notInstalled: Self { Self("notInstalled", 2) }
    /// The cache has no response to this request.
    public static var notStored: Self { Self("notStored", 3) }
    /// The entry is past its lifetime, or its date is in the future.
    public static var expired: Self { Self("expired", 4) }
    /// The stored entry has another version than the policy. See ``CachePolicy/timed(_:version:partition:)``.
    public static var versionMismatch: Self { Self("versionMismatch", 5) }
    /// The stored entry has another partition than the policy, or has no partition.
    public static var partitionMismatch: Self { Self("partitionMismatch", 6) }
    /// The stored entry was written by another version of the app.
    public static var appVersionMismatch: Self { Self("appVersionMismatch", 7) }
    /// The store couldn't read the entry.
    public static var unreadable: Self { Self("unreadable", 8) }
}

/// The rules of timed policies, as pure functions.
enum TimedRules {
    struct Attributes: Sendable, Hashable {
        var version: Int
        /// A MAC of the partition.
        var partition: String?
        var appVersion: String?
    }

    /// Returns why an entry can't be served, or nil if it's valid. A response exactly as old as the lifetime is valid.
    ///
    /// - Parameters:
    ///   - expected: The attributes that would be stored now.
    ///   - lifetime: The maximum age in seconds.
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

    var wholeSeconds: Int64 { min(bounded.components.seconds, 1 << 31) }

    static func interval(_ interval: TimeInterval) -> Duration {
        .milliseconds(Int64(min(max(interval, 0), 1e10) * 1000))
    }
}
