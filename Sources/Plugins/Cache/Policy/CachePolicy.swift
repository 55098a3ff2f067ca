/// Whether and by whose rules answers are kept: the app's (`.timed`), the server's (`.http`), or both.
///
/// ```swift
/// .timed(.seconds(180), version: 3, partition: userID)     // the app's word, whatever the server says
/// .http                                                    // RFC 9111
/// .timed(.seconds(30)).and(.http)                          // the app's first, then a validation with the server's
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

    /// Nothing is kept and nothing is read. The default.
    public static let off = CachePolicy()

    /// Accepted answers are valid for a time after they came, however the server would have it. The whole call is kept
    /// as one: the answer after redirects, checks and decoding.
    ///
    /// - Parameters:
    ///   - lifetime: an answer is valid up to and including this age. Zero and less keep and read nothing.
    ///   - version: of what the app makes of the answer; another one is a miss.
    ///   - partition: whom the answer belongs to; another one, also none, is a miss, and its answer takes the place of the
    ///     old one. Stored and compared as a keyed hash only.
    public static func timed(_ lifetime: Duration, version: Int = 0, partition: String? = nil) -> CachePolicy {
        var policy = CachePolicy()
        if lifetime > .zero { policy.timed = Timed(lifetime: lifetime, version: version, partition: partition) }
        return policy
    }

    /// A private cache by RFC 9111: the server says what is kept and for how long.
    public static let http = http(partition: nil)

    /// A private cache by RFC 9111.
    ///
    /// - Parameters:
    ///   - partition: whom answers belong to; part of the key, as a keyed hash. Without one the value of
    ///     `Authorization` separates them.
    ///   - staleIfError: how long after its lifetime an answer may be used when the server cannot be reached or answers
    ///     500, 502, 503 or 504; not unless the server allows it, by default (nil). The server's `must-revalidate` and
    ///     `no-cache` are stronger.
    public static func http(partition: String? = nil, staleIfError: Duration? = nil) -> CachePolicy {
        var policy = CachePolicy()
        policy.http = HTTP(partition: partition, staleIfError: staleIfError)
        return policy
    }

    /// Both: a valid timed entry is the answer; without one the request goes on, where the HTTP cache answers or
    /// validates. The answer is kept twice.
    public func and(_ other: CachePolicy) -> CachePolicy {
        var policy = self
        policy.timed = policy.timed ?? other.timed
        policy.http = policy.http ?? other.http
        policy.waitsForWrite = waitsForWrite || other.waitsForWrite
        return policy
    }

    /// The same with the answer held back until it is written; by default writing goes on in the background, and
    /// `await cache.flush()` waits for it.
    public func waitingForWrite() -> CachePolicy {
        var policy = self
        policy.waitsForWrite = true
        return policy
    }

    var isOff: Bool { timed == nil && http == nil }
}

/// Why a stored response does not count.
public struct CacheMiss: Error, Sendable, CustomStringConvertible {
    /// The reason, to switch over.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// A word for logs.
        public let description: String
        init(_ description: String) { self.description = description }

        /// The policy keeps nothing, or the request cannot be kept: its body goes to a file or comes from a stream.
        public static let off = Reason("off")
        /// There is no cache filter on the way of the request.
        public static let notInstalled = Reason("notInstalled")
        /// Nothing is stored.
        public static let notStored = Reason("notStored")
        /// Older than its lifetime, or from the future.
        public static let expired = Reason("expired")
        /// Stored under another version of the policy.
        public static let versionMismatch = Reason("versionMismatch")
        /// Stored for another partition, or for none.
        public static let partitionMismatch = Reason("partitionMismatch")
        /// Stored by another version of the app.
        public static let appVersionMismatch = Reason("appVersionMismatch")
        /// There, but it could not be read.
        public static let unreadable = Reason("unreadable")
    }

    /// Why.
    public let reason: Reason

    init(_ reason: Reason) { self.reason = reason }

    /// One line.
    public var description: String {
        reason == .notInstalled
            ? "no cache filter is on the way of the request" : "no valid response in the cache: \(reason)"
    }
}
