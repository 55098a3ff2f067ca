import ErrandMessageSyntax

/// The domains below which anybody can register a name, so that no cookie may cover them as a whole (RFC 6265bis,
/// section 5.7, and publicsuffix.org).
///
/// ```swift
/// var policy = CookiePolicy()
/// policy.publicSuffixes = PublicSuffixes(list: text)      // the file public_suffix_list.dat
/// ```
///
/// No list is part of the library, because it changes by the week.
public struct PublicSuffixes: Sendable {
    private let test: @Sendable (String) -> Bool

    /// A rule by closure, which says whether a domain is a public suffix; the domain is in lower case, without a dot at
    /// either end.
    public init(_ isPublicSuffix: @escaping @Sendable (_ domain: String) -> Bool) { test = isPublicSuffix }

    /// The rules that need no list, the default: a name of one label such as `com` or `localhost`, and the usual second
    /// levels of countries, such as `co.uk` and `com.au`.
    public static let wellKnown = PublicSuffixes { domain in
        let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.count < 2 { return true }
        return labels.count == 2 && labels[1].count == 2 && labels[1].allSatisfy(ASCII.isLetter)
            && secondLevels.contains(String(decoding: labels[0], as: UTF8.self))
    }

    private static let secondLevels: Set<String> = [
        "ac", "co", "com", "edu", "gob", "gov", "gouv", "go", "mil", "ne", "net", "or", "org", "sch",
    ]

    /// The rules of a list in the format of publicsuffix.org: one a line, `*.` for every label, `!` for an exception;
    /// comments begin with `//`. Names in other scripts have to be in Punycode. A name that no rule matches is a public
    /// suffix if it has one label.
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

    /// Whether the domain as a whole has no owner. The dot that ends an absolute name (RFC 1034, section 3.1) changes
    /// nothing, and text with an empty label is no name.
    func contains(_ domain: String) -> Bool {
        let name = domain.utf8.last == UInt8(ascii: ".") ? String(domain.dropLast()) : domain
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.contains(where: \.isEmpty) || test(name)
    }
}
