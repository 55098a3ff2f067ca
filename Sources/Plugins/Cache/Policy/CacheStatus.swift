public import Errand
import ErrandMessageSyntax

/// How the cache handled a request, in the terms of RFC 9211: `hit; ttl=30` or `fwd=stale; fwd-status=304`.
///
/// For a cached response, `response.source` contains this status as its reason. The cache's notes for logs contain it
/// as their details.
public struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a request was forwarded to the server (RFC 9211, section 2.2).
    public struct Forward: Sendable, Hashable, CustomStringConvertible {
        /// The reason's token in RFC 9211, such as "uri-miss".
        public let description: String
        private init(_ name: String) { description = name }

        /// The cache was configured not to handle the request.
        public static let bypass = Forward("bypass")
        /// The cache can't serve this method.
        public static let method = Forward("method")
        /// There was no stored response for the URL.
        public static let uriMiss = Forward("uri-miss")
        /// There are stored responses for the URL, but this request differs in a header field that the responses'
        /// `Vary` names.
        public static let varyMiss = Forward("vary-miss")
        /// The stored entry isn't valid, for example because of another version.
        public static let miss = Forward("miss")
        /// The request's directives or the call's mode required forwarding.
        public static let request = Forward("request")
        /// The stored response is stale.
        public static let stale = Forward("stale")
    }

    /// Whether the stored response was served without contacting the server.
    public var isHit: Bool
    /// Why the request was forwarded, or nil for a hit.
    public var forward: Forward?
    /// The status of the server's response to the forwarded request.
    public var forwardStatus: Int?
    /// The number of seconds for which the response stays fresh, or a negative number if it's stale.
    public var timeToLive: Int64?
    /// Whether the server's response was stored.
    public var isStored: Bool
    /// Whether several requests shared one forwarded request (RFC 9211, section 2.6).
    public var isCollapsed = false
    /// More detail in a few words for logs, or nil.
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

    static func forward(_ reason: Forward, detail: String? = nil) -> CacheStatus {
        CacheStatus(forward: reason, detail: detail)
    }

    /// The status as the parameters of a `Cache-Status` header, such as `hit; ttl=30`.
    public var description: String {
        // Concatenate, because interpolation is much slower.
        var text = isHit ? "hit" : String("fwd=", (forward ?? .miss).description)
        if let forwardStatus { text = String(text, "; fwd-status=", String(forwardStatus)) }
        if let timeToLive { text = String(text, "; ttl=", String(timeToLive)) }
        if isStored { text += "; stored" }
        if isCollapsed { text += "; collapsed" }
        if let detail { text = String(text, "; detail=", QuotedString.quoted(detail)) }
        return text
    }
}

extension ResponseSource {
    /// Creates the source of a cached response with the reason why the cache served it.
    public static func cache(age: Duration, reason: String) -> ResponseSource { .stored(age: age, reason: reason) }

    /// Whether the response came from a cache.
    public var isCache: Bool { isStored && name == "cache" }
}
