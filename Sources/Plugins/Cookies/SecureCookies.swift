/// The cookies of one response that are not secure and would overlay a secure one (RFC 6265bis, section 5.7, step 16).
struct SecureCookies {
    private var steps = 0
    /// The maximum number of comparisons for one response; further cookies count as overlays.
    private static let maximumSteps = 1 << 20

    mutating func hide(_ new: Cookie, in store: CookieStore) -> Bool {
        for cookie in store.secureCookies(named: new.name) {
            steps += 1 + (cookie.path.utf8.count + cookie.domain.utf8.count) / 64
            if steps > Self.maximumSteps { return true }
            let isRelated =
                CookieRules.matches(host: cookie.domain, domain: new.domain)
                || CookieRules.matches(host: new.domain, domain: cookie.domain)
            if isRelated, CookieRules.matches(path: new.path, cookiePath: cookie.path) { return true }
        }
        return false
    }
}
