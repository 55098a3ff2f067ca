import ErrandEssentials

/// The rules by which a ``CookieJar`` stores cookies.
public struct CookiePolicy: Sendable {
    /// The domains that no cookie may cover as a whole; ``PublicSuffixes/wellKnown`` by default.
    public var publicSuffixes = PublicSuffixes.wellKnown
    /// Whether a cookie without a name is stored even if its value contains a `=`; false by default.
    ///
    /// RFC 6265bis accepts a cookie without a name (section 5.6, step 3), such as that of `Set-Cookie: token`, and
    /// sends its value alone. So `=id=7` reaches the server as a cookie `id` whose name no rule has checked: section
    /// 5.7, step 1, lets a client ignore it, and the Cookie Store API rejects it.
    public var keepsNamelessCookies = false
    /// The maximum time from setting a cookie to its expiry; 400 days by default (RFC 6265bis, section 5.5).
    public var maximumAge: Duration = .seconds(400 * 86_400)
    /// The limits of the jar.
    public var limits = CookieLimits()

    /// The defaults.
    public init() {}

    /// The date at which a cookie expires that was to expire at a date: after the maximum age at the latest, and within
    /// the dates that a file can represent. A date that is no number has expired.
    func end(of date: Date, setAt now: Date) -> Date {
        let latest = now.timeIntervalSince1970 + max(0, maximumAge / .seconds(1))
        let end = min(date.timeIntervalSince1970, latest, Self.lastSecond)
        return end > 0 ? Date(timeIntervalSince1970: end) : .distantPast
    }

    /// 31 December 9999, 23:59:59 UTC.
    private static let lastSecond = 253_402_300_799.0
}

/// The maximum number of cookies in a jar, and their sizes. Removed first are expired cookies, then, in a domain that
/// has too many, those that are not secure, and then the least recently used ones (RFC 6265bis, section 5.7).
public struct CookieLimits: Sendable, Hashable {
    /// The maximum number of cookies of one domain, and so of what a request looks at; 180 by default, from 1 to 1,000.
    public var maximumCookiesPerDomain = 180
    /// The maximum number of cookies; 3,000 by default, at least 1.
    public var maximumCookies = 3_000
    /// The maximum number of bytes of a name and a value together; 4,096 by default.
    public var maximumNameAndValueBytes = 4_096
    /// The maximum number of bytes of an attribute; a longer one counts as absent. 1,024 by default.
    public var maximumAttributeBytes = 1_024

    /// The defaults.
    public init() {}

    var allowedCookies: Int { max(1, maximumCookies) }
    var allowedCookiesOfDomain: Int { min(max(1, maximumCookiesPerDomain), 1_000) }
}
