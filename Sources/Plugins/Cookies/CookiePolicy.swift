/// What a ``CookieJar`` keeps.
public struct CookiePolicy: Sendable {
    /// The domains for the whole of which no cookie is set; ``PublicSuffixes/wellKnown`` by default.
    public var publicSuffixes = PublicSuffixes.wellKnown
    /// Whether a cookie without a name is kept, such as that of `Set-Cookie: a`; false by default, as RFC 6265 has it.
    ///
    /// RFC 6265bis reads such a cookie (section 5.6, step 3) and lets a client ignore any (section 5.7, step 1). It is sent as
    /// its value alone, so that `=id=7` reaches the server as a cookie `id` whose name no rule has checked.
    public var keepsNamelessCookies = false
    /// The longest time until a cookie ends, from when it is set; 400 days by default (RFC 6265bis, section 5.5).
    public var maximumAge: Duration = .seconds(400 * 86_400)
    /// How much is kept.
    public var limits = CookieLimits()

    /// The defaults.
    public init() {}

    /// The maximum age in seconds.
    var maximumSeconds: Double { Double(max(0, maximumAge.components.seconds)) }
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
