/// Which cookies that are not secure would overlay a secure one (RFC 6265bis, section 5.7, step 16), for those of one response.
struct SecureCookies {
    private var byName: [String: [Cookie]]?
    private var steps = 0
    /// Of comparisons for one response; what comes after them counts as an overlay.
    private static let mostSteps = 1 << 20

    mutating func hide(_ new: Cookie, in store: CookieStore) -> Bool {
        let known = byName ?? Dictionary(grouping: store.secureCookies, by: \.name)
        byName = known
        for cookie in known[new.name] ?? [] {
            steps += 1 + cookie.path.utf8.count / 64
            if steps > Self.mostSteps { return true }
            let isRelated =
                CookieRules.matches(host: cookie.domain, domain: new.domain)
                || CookieRules.matches(host: new.domain, domain: cookie.domain)
            if isRelated, CookieRules.matches(path: new.path, cookiePath: cookie.path) { return true }
        }
        return false
    }
}
