import ErrandEssentials
import ErrandMessageSyntax
import ErrandPunycode

/// The rules that decide which cookies a ``CookieJar`` stores.
public struct CookiePolicy: Sendable {
    /// The domains that a cookie must not cover as a whole. Defaults to ``PublicSuffixes/wellKnown``.
    public var publicSuffixes = PublicSuffixes.wellKnown
    /// Whether to store a cookie without a name whose value contains a `=`. Defaults to false.
    ///
    /// If a cookie has no name, RFC 6265bis sends only its value (section 5.6, step 3). A cookie `=id=7` would reach
    /// the server as a cookie named `id`, although this name was never checked. Clients may ignore such cookies
    /// (section 5.7, step 1), and the Cookie Store API rejects them.
    public var keepsNamelessCookies = false
    /// The longest lifetime of a cookie. Later expiries are shortened. Defaults to 400 days (RFC 6265bis, section 5.5).
    public var maximumAge: Duration = .seconds(400 * 86_400)
    /// The limits on the number and size of cookies. Each limit has its default.
    public var limits = CookieLimits()

    /// Creates a policy in which every property has its default.
    public init() {}

    /// Returns when a cookie with this expiry ends. `.distantPast` if the expiry is NaN or before 1970.
    func end(of date: Date, setAt now: Date) -> Date {
        let latest = now.timeIntervalSince1970 + max(0, maximumAge / .seconds(1))
        let end = min(date.timeIntervalSince1970, latest, Self.lastSecond)
        return end > 0 ? Date(timeIntervalSince1970: end) : .distantPast
    }

    /// 9999-12-31 23:59:59 UTC.
    private static let lastSecond = 253_402_300_799.0
}

/// The limits on the number and size of the cookies in a jar.
///
/// If a jar is full, it first removes expired cookies, then insecure cookies of a domain that has too many, then the
/// least recently used cookies (RFC 6265bis, section 5.7).
public struct CookieLimits: Sendable, Hashable {
    /// The maximum number of cookies per domain. Defaults to 180; from 1 to 1,000.
    public var maximumCookiesPerDomain = 180
    /// The maximum number of cookies. Defaults to 3,000; at least 1.
    public var maximumCookies = 3_000
    /// The maximum size of a name and value together, in bytes. Defaults to 4,096.
    public var maximumNameAndValueBytes = 4_096
    /// The maximum size of an attribute, in bytes. Longer attributes are ignored. Defaults to 1,024.
    public var maximumAttributeBytes = 1_024

    /// Creates limits in which every property has its default.
    public init() {}

    func checkSize(_ name: String, _ value: String) throws(CookieRejection) {
        if name.utf8.count + value.utf8.count > maximumNameAndValueBytes { throw .tooLong }
    }

    var allowedCookies: Int { max(1, maximumCookies) }
    var allowedCookiesOfDomain: Int { min(max(1, maximumCookiesPerDomain), 1_000) }
}

/// The domains under which anyone can register a name, such as `com` and `co.uk`. A cookie must not cover such a domain
/// (RFC 6265bis, section 5.7, and publicsuffix.org).
///
/// ```swift
/// var policy = CookiePolicy()
/// policy.publicSuffixes = PublicSuffixes(list: text)      // the file public_suffix_list.dat
/// ```
///
/// The library doesn't include the list of publicsuffix.org, because the list changes weekly.
public struct PublicSuffixes: Sendable {
    private let test: @Sendable (String) -> Bool

    /// Creates rules from a closure. It receives a domain in lowercase, without leading or trailing dots.
    public init(_ isPublicSuffix: @escaping @Sendable (_ domain: String) -> Bool) { test = isPublicSuffix }

    /// Rules that work without a list: names with one label, such as `com` or `localhost`, and common second-level
    /// domains of countries, such as `co.uk`.
    public static let wellKnown = PublicSuffixes { domain in
        let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.count < 2 { return true }
        return labels.count == 2 && labels[1].count == 2 && labels[1].allSatisfy(ASCII.isLetter)
            && secondLevels.contains(String(decoding: labels[0], as: UTF8.self))
    }

    private static let secondLevels: Set<String> = [
        "ac", "co", "com", "edu", "gob", "gov", "gouv", "go", "mil", "ne", "net", "or", "org", "sch",
    ]

    /// Creates rules from a list in the format of publicsuffix.org.
    ///
    /// Each line contains one rule. A `*.` at its start matches any label, `!` marks an exception, and `//` starts a
    /// comment. International names can be in Unicode or Punycode. A name that matches no rule is a public suffix if it
    /// has only one label.
    public init(list: String) {
        var (rules, wildcards, exceptions): (Set<String>, Set<String>, Set<String>) = ([], [], [])
        for line in list.split(whereSeparator: \.isNewline) {
            let rule = line.prefix { !$0.isWhitespace }.lowercased()
            if rule.isEmpty || rule.hasPrefix("//") { continue }
            if rule.hasPrefix("!") {
                exceptions.insert(Self.ascii(String(rule.dropFirst())))
            } else if rule.hasPrefix("*.") {
                wildcards.insert(Self.ascii(String(rule.dropFirst(2))))
            } else {
                rules.insert(Self.ascii(rule))
            }
        }
        test = { [rules, wildcards, exceptions] domain in
            if exceptions.contains(domain) { return false }
            guard let dot = domain.firstIndex(of: ".") else { return true }
            return rules.contains(domain) || wildcards.contains(String(domain[domain.index(after: dot)...]))
        }
    }

    /// Returns a name in ASCII, as in the hosts of URLs.
    private static func ascii(_ name: String) -> String {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name }
        return name.split(separator: ".", omittingEmptySubsequences: false).map { label in
            guard label.utf8.contains(where: { $0 >= 0x80 }), let encoding = Punycode.encode(label.unicodeScalars)
            else {
                return String(label)
            }
            return "xn--" + encoding
        }.joined(separator: ".")
    }

    /// Returns whether a domain is a public suffix. Also true for a domain with an empty label. Ignores the trailing
    /// dot of an absolute name (RFC 1034, section 3.1).
    func contains(_ domain: String) -> Bool {
        let name = domain.utf8.last == UInt8(ascii: ".") ? String(domain.dropLast()) : domain
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.contains(where: \.isEmpty) || test(name)
    }
}
