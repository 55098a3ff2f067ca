public import Errand
import ErrandEssentials

/// Whether and by which rules responses are stored: the app's (`.timed`), the server's (`.http`), or both.
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

    /// Nothing is stored and nothing is read. The default.
    public static let off = CachePolicy()

    /// Accepted responses are valid for a time, whatever the server sends. The call is stored as a whole: the response
    /// after redirects, checks and decoding.
    ///
    /// - Parameters:
    ///   - lifetime: a response is valid up to and including this age. Zero or less stores and reads nothing.
    ///   - version: the version of the app's data format; an entry with another version is a miss. 0 by default.
    ///   - partition: the user to whom the response belongs, or another owner; an entry of another partition, or of
    ///     none, is a miss and is replaced. Stored and compared as a keyed hash only.
    public static func timed(_ lifetime: Duration, version: Int = 0, partition: String? = nil) -> CachePolicy {
        var policy = CachePolicy()
        if lifetime > .zero { policy.timed = Timed(lifetime: lifetime, version: version, partition: partition) }
        return policy
    }

    /// A private cache (RFC 9111): the server determines what is stored and for how long.
    public static let http = http(partition: nil)

    /// A private cache (RFC 9111) with a partition, or with stale responses on errors.
    ///
    /// - Parameters:
    ///   - partition: the user to whom responses belong, or another owner; part of the key, as a keyed hash. Without
    ///     one the request's marks of its user separate them.
    ///   - staleIfError: for how long past its lifetime a response may be served if the server cannot be reached or
    ///     responds with 500, 502, 503 or 504; nil, the default, if only the server may allow it. The server's
    ///     `must-revalidate` and `no-cache` take precedence.
    public static func http(partition: String? = nil, staleIfError: Duration? = nil) -> CachePolicy {
        var policy = CachePolicy()
        policy.http = HTTP(partition: partition, staleIfError: staleIfError)
        return policy
    }

    /// Combines two policies: a valid timed entry is the response; otherwise the request continues to the HTTP cache,
    /// which serves or validates its own entry. The response is stored twice.
    public func and(_ other: CachePolicy) -> CachePolicy {
        var policy = self
        policy.timed = policy.timed ?? other.timed
        policy.http = policy.http ?? other.http
        policy.waitsForWrite = waitsForWrite || other.waitsForWrite
        return policy
    }

    /// The same policy with responses that are returned only after they have been written. By default responses are
    /// written in the background, and `await cache.flush()` waits for that.
    public func waitingForWrite() -> CachePolicy {
        var policy = self
        policy.waitsForWrite = true
        return policy
    }

    var isOff: Bool { timed == nil && http == nil }

    /// Whether everything that is stored belongs to a partition.
    var separatesUsers: Bool {
        !isOff && timed.map { $0.partition != nil } != false && http.map { $0.partition != nil } != false
    }

    /// The rules that apply, without the partition.
    var summary: String {
        switch (timed, http) {
        case (nil, nil): "off"
        case (let timed?, nil): "timed for \(duration: timed.lifetime)"
        case (nil, _?): "HTTP"
        case (let timed?, _?): "timed for \(duration: timed.lifetime), then HTTP"
        }
    }
}

/// Thrown when no stored response can be served, with the reason.
public struct CacheMiss: CodedError, ExpectedError, Sendable {
    /// A reason; reasons may be added.
    public typealias Reason = FailureCode<CacheMiss>

    /// The reason.
    public let reason: Reason
    /// The reason, by the name that it has in every error.
    public var code: Reason { reason }

    /// Whether the caller asked what is stored, and a miss is its response: true within `cached`, `cachedThenFresh` and
    /// `removeCached`.
    public internal(set) var isExpected = false

    init(_ reason: Reason) { self.reason = reason }

    /// The reason and what it means, in one line.
    public var description: String {
        let words = reason == .notInstalled ? "the request passes no cache filter" : "the cache has no valid response"
        return "\(reason): \(words)"
    }

    /// That nothing is stored; for a request that the cache does not serve at all, that something is wrong.
    public var failureSentence: FailureSentence {
        reason == .off || reason == .notInstalled ? .failed : .notStored
    }
}

extension FailureCode<CacheMiss> {
    /// The policy stores nothing, or the request cannot be cached: its response is delivered into a file, or its body
    /// is a stream.
    public static var off: Self { Self("off", 1) }
    /// The request passes no cache filter.
    public static var notInstalled: Self { Self("notInstalled", 2) }
    /// Nothing is stored.
    public static var notStored: Self { Self("notStored", 3) }
    /// The entry is older than its lifetime, or from the future.
    public static var expired: Self { Self("expired", 4) }
    /// The entry has another version of the policy.
    public static var versionMismatch: Self { Self("versionMismatch", 5) }
    /// The entry has another partition, or none.
    public static var partitionMismatch: Self { Self("partitionMismatch", 6) }
    /// The entry was stored by another version of the app.
    public static var appVersionMismatch: Self { Self("appVersionMismatch", 7) }
    /// The entry could not be read.
    public static var unreadable: Self { Self("unreadable", 8) }
}
