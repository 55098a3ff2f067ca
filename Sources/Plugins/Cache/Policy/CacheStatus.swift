/// What the cache did with a request and why, in the words of RFC 9211: `hit; ttl=30` or `fwd=stale; fwd-status=304`.
///
/// It is the reason in `response.source` of an answer from the cache, and the details of the cache's notes for logs.
public struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
    /// Why a request went on to the server (RFC 9211, section 2.2).
    public struct Forward: Sendable, Hashable, CustomStringConvertible {
        /// The token of the RFC.
        public let description: String
        private init(_ name: String) { description = name }

        /// The request was not for the cache.
        public static let bypass = Forward("bypass")
        /// The method is none that is answered from a cache.
        public static let method = Forward("method")
        /// Nothing was stored for the URL.
        public static let uriMiss = Forward("uri-miss")
        /// What was stored for the URL answers requests with other headers.
        public static let varyMiss = Forward("vary-miss")
        /// Something was stored that does not count, such as another version's.
        public static let miss = Forward("miss")
        /// The request's own directives or the mode of the call asked for it.
        public static let request = Forward("request")
        /// What was stored is stale.
        public static let stale = Forward("stale")
    }

    /// Whether the stored answer was given without asking the server.
    public var isHit: Bool
    /// Why the server was asked; nil for a hit.
    public var forward: Forward?
    /// The status with which the server answered a forwarded request that led to a stored answer.
    public var forwardStatus: Int?
    /// Seconds that the answer stays fresh; negative if it is stale.
    public var timeToLive: Int64?
    /// Whether the server's answer was kept.
    public var isStored: Bool
    /// Whether the request waited for another one that asked the server for both (RFC 9211, section 2.6).
    public var isCollapsed = false
    /// More, in a few words.
    public var detail: String?

    init(
        isHit: Bool = false, forward: Forward? = nil, forwardStatus: Int? = nil, timeToLive: Int64? = nil,
        isStored: Bool = false, detail: String? = nil
    ) {
        self.isHit = isHit
        self.forward = forward
        self.forwardStatus = forwardStatus
        self.timeToLive = timeToLive
        self.isStored = isStored
        self.detail = detail
    }

    static func hit(ttl: Int64?, detail: String? = nil) -> CacheStatus {
        CacheStatus(isHit: true, timeToLive: ttl, detail: detail)
    }

    static func forward(_ why: Forward, detail: String? = nil) -> CacheStatus {
        CacheStatus(forward: why, detail: detail)
    }

    /// The parameters of a `Cache-Status` header.
    public var description: String {
        var text = isHit ? "hit" : "fwd=\(forward ?? .miss)"
        if let forwardStatus { text += "; fwd-status=\(forwardStatus)" }
        if let timeToLive { text += "; ttl=\(timeToLive)" }
        if isStored { text += "; stored" }
        if isCollapsed { text += "; collapsed" }
        if let detail { text += "; detail=\"\(detail)\"" }
        return text
    }
}
