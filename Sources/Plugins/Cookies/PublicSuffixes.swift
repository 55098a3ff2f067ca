import ErrandMessageSyntax

/// The domains under which anyone can register a name, so a cookie can't cover them (RFC 6265bis, section 5.7, and
/// publicsuffix.org).
///
/// ```swift
/// var policy = CookiePolicy()
/// policy.publicSuffixes = PublicSuffixes(list: text)      // the file public_suffix_list.dat
/// ```
///
/// The library doesn't include the list, because it changes weekly.
public struct PublicSuffixes: Sendable {
    private let test: @Sendable (String) -> Bool

    /// Creates a rule from a closure that returns whether a domain is a public suffix. The domain is in lowercase,
    /// without leading or trailing dots.
    public init(_ isPublicSuffix: @escaping @Sendable (_ domain: String) -> Bool) { test = isPublicSuffix }

    /// The default rules, which need no list: names with one label, such as `com` or `localhost`, and common
    /// second-level domains of countries, such as `co.uk` and `com.au`.
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
    /// Each line contains one rule: `*.` matches any label, `!` marks an exception, and `//` begins a comment. Write
    /// names in other scripts in Punycode. A name that matches no rule is a public suffix if it has only one label.
    public init(list: String) {
        var (rules, wildcards, exceptions): (Set<String>, Set<String>, Set<String>) = ([], [], [])
        for line in list.split(whereSeparator: \.isNewline) {
            let rule = line.prefix { !$0.isWhitespace }.lowercased()
            if rule.isEmpty || rule.hasPrefix("//") { continue }
            if rule.hasPrefix("!") {
                exceptions.insert(String(rule.dropFirst()))
            } else if rule.hasPrefix("*.") {
                wildcards.insert(String(rule.dropFirst(2)))
            } else {
                rules.insert(rule)
            }
        }
        test = { [rules, wildcards, exceptions] domain in
            if exceptions.contains(domain) { return false }
            guard let dot = domain.firstIndex(of: ".") else { return true }
            return rules.contains(domain) || wildcards.contains(String(domain[domain.index(after: dot)...]))
        }
    }

    /// Returns whether a domain is a public suffix, or isn't a valid name because of an empty label. Ignores the
    /// trailing dot of an absolute name (RFC 1034, section 3.1).
    func contains(_ domain: String) -> Bool {
        let name = domain.utf8.last == UInt8(ascii: ".") ? String(domain.dropLast()) : domain
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.contains(where: \.isEmpty) || test(name)
    }
}
