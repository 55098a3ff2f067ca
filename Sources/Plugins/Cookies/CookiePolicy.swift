import ErrandEssentials

/// What a ``CookieJar`` keeps.
public struct CookiePolicy: Sendable {
    /// The domains for the whole of which no cookie is set; ``PublicSuffixes/wellKnown`` by default.
    public var publicSuffixes = PublicSuffixes.wellKnown
    /// Whether a cookie without a name is kept even if its value has a `=`; false by default.
    ///
    /// RFC 6265bis reads a cookie without a name (section 5.6, step 3), such as that of `Set-Cookie: token`, and sends it as its
    /// value alone. So `=id=7` reaches the server as a cookie `id` whose name no rule has checked: section 5.7, step 1, lets a
    /// client ignore it, and the Cookie Store API refuses it.
    public var keepsNamelessCookies = false
    /// The longest time until a cookie ends, from when it is set; 400 days by default (RFC 6265bis, section 5.5).
    public var maximumAge: Duration = .seconds(400 * 86_400)
    /// How much is kept.
    public var limits = CookieLimits()

    /// The defaults.
    public init() {}

    /// When a cookie ends that was to end at a date: after the maximum age at the latest, and within the dates that a file
    /// can hold. What is no number has ended.
    func end(of date: Date, setAt now: Date) -> Date {
        let latest = now.timeIntervalSince1970 + Double(max(0, maximumAge.components.seconds))
        let end = min(date.timeIntervalSince1970, latest, Self.lastSecond)
        return end > 0 ? Date(timeIntervalSince1970: end) : .distantPast
    }

    /// 31 December 9999, 23:59:59 UTC.
    private static let lastSecond = 253_402_300_799.0
}

/// How many cookies a jar keeps, and how long they are. Those that make place are first the expired, then, of a domain that
/// has too many, those that are not secure, and then those that were used the longest ago (RFC 6265bis, section 5.7).
public struct CookieLimits: Sendable, Hashable {
    /// Cookies of one domain; 180 by default.
    public var cookiesPerDomain = 180
    /// Cookies in all; 3,000 by default.
    public var cookies = 3_000
    /// Bytes of a name and a value together; 4,096 by default.
    public var nameAndValueBytes = 4_096
    /// Bytes of an attribute; longer ones count as absent. 1,024 by default.
    public var attributeBytes = 1_024

    /// The defaults.
    public init() {}
}
