import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// Stores and retrieves cookies (RFC 6265bis, sections 5.7 and 5.8). The jar guards the store with a lock.
struct CookieStore {
    private var table = CookieTable()
    /// Increases with each change that the cookie file must contain.
    private(set) var version: UInt64 = 0
    let policy: CookiePolicy

    init(_ policy: CookiePolicy) { self.policy = policy }

    var cookies: [Cookie] { table.cookies }

    var count: Int { table.count }

    /// Stores the cookies of a response (section 5.7). Returns the reasons for rejected cookies.
    mutating func store(
        _ cookies: some Sequence<(set: SetCookie, isLatin1: Bool)>, from origin: CookieOrigin, at date: Date
    ) -> [CookieRejection] {
        var rejections: [CookieRejection] = []
        var (secure, changed) = (SecureCookies(), Set<String>())
        for (set, isLatin1) in cookies {
            do throws(CookieRejection) {
                let cookie = try judged(set, isLatin1: isLatin1, from: origin, at: date, &secure)
                keep(cookie, at: date)
                changed.insert(cookie.domain)
            } catch { rejections.append(error) }
        }
        removeExcess(of: changed, at: date)
        return rejections
    }

    private func judged(
        _ set: SetCookie, isLatin1: Bool, from origin: CookieOrigin, at date: Date, _ secure: inout SecureCookies
    ) throws(CookieRejection) -> Cookie {
        var cookie = Cookie(set.name, set.value, domain: origin.host, isHostOnly: true)
        try checkName(of: cookie)
        cookie.isLatin1 = isLatin1
        (cookie.isSecure, cookie.isHTTPOnly, cookie.sameSite) = (set.isSecure, set.isHTTPOnly, set.sameSite)
        if let seconds = set.maxAge {
            cookie.expiry = seconds <= 0 ? .distantPast : policy.end(of: date + Double(seconds), setAt: date)
        } else if let expires = set.expires {
            cookie.expiry = policy.end(of: expires, setAt: date)
        }
        try setDomain(of: &cookie, set.domain, origin)
        cookie.path = set.path ?? origin.defaultPath
        if cookie.isSecure, !origin.isSecure { throw .insecureOrigin }
        if !cookie.isSecure, !origin.isSecure, secure.hide(cookie, in: self) { throw .shadowsSecureCookie }
        if cookie.sameSite == .none, !cookie.isSecure { throw .sameSiteNoneWithoutSecure }
        try CookieRules.checkPrefix(of: cookie, hasPath: set.hasPath && set.path != nil)
        return cookie
    }

    /// Checks a cookie without a name (section 5.7, step 1, and the Cookie Store API).
    private func checkName(of cookie: Cookie) throws(CookieRejection) {
        guard cookie.name.isEmpty else { return }
        if cookie.value.isEmpty { throw .empty }
        if cookie.value.utf8.contains(UInt8(ascii: "=")), !policy.keepsNamelessCookies { throw .namelessPair }
    }

    /// Sets a cookie's domain (section 5.7, steps 7 to 10).
    private func setDomain(
        of cookie: inout Cookie, _ domain: String, _ origin: CookieOrigin
    ) throws(CookieRejection) {
        if domain.isEmpty { return }
        guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { throw .foreignDomain }
        let domain = HostName.comparable(domain)
        if domain == origin.host, policy.publicSuffixes.contains(domain) { return }
        guard CookieRules.matches(host: origin.host, domain: domain) else { throw .foreignDomain }
        if policy.publicSuffixes.contains(domain) { throw .publicSuffix }
        (cookie.domain, cookie.isHostOnly) = (domain, false)
    }

    mutating func insert(_ cookie: Cookie, at date: Date) throws(CookieRejection) {
        try insert(cookie, at: date, removingExcess: true)
    }

    mutating func insert(all cookies: [Cookie], at date: Date) -> Int {
        let kept = cookies.count { cookie in
            var cookie = cookie
            // A host that is itself a public suffix, such as `localhost`, can set cookies for itself (section 5.7, step
            // 9). The file doesn't mark such a cookie, so its domain decides.
            if policy.publicSuffixes.contains(cookie.domain) { cookie.isHostOnly = true }
            do throws(CookieRejection) {
                try insert(cookie, at: date, removingExcess: false)
                return !cookie.isExpired(at: date)
            } catch { return false }
        }
        removeExcess(of: Set(cookies.map(\.domain)), at: date)
        return kept
    }

    private mutating func insert(_ cookie: Cookie, at date: Date, removingExcess: Bool) throws(CookieRejection) {
        var cookie = cookie
        let text = [cookie.name, cookie.value, cookie.domain, cookie.path]
        let isClean = text.allSatisfy { part in
            !part.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F || $0 == UInt8(ascii: ";") }
        }
        if !isClean || cookie.name.utf8.contains(UInt8(ascii: "=")) { throw .controlCharacter }
        try checkName(of: cookie)
        try policy.limits.checkSize(cookie.name, cookie.value)
        if cookie.domain.isEmpty || cookie.domain.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x80 }) { throw .noHost }
        if !cookie.path.hasPrefix("/") { throw .invalidPath }
        if !cookie.isHostOnly, policy.publicSuffixes.contains(cookie.domain) { throw .publicSuffix }
        if cookie.sameSite == .none, !cookie.isSecure { throw .sameSiteNoneWithoutSecure }
        try CookieRules.checkPrefix(of: cookie, hasPath: true)
        cookie.expiry = cookie.expiry.map { policy.end(of: $0, setAt: date) }
        keep(cookie, at: date)
        if removingExcess { removeExcess(of: [cookie.domain], at: date) }
    }

    private mutating func keep(_ cookie: Cookie, at date: Date) {
        let isExpired = cookie.isExpired(at: date)
        let replaced = isExpired ? table.remove(like: cookie)?.cookie : table.insert(cookie)
        if replaced.map({ !$0.isSame(as: cookie) }) ?? !isExpired { version += 1 }
    }

    /// Removes cookies above the limits (the end of section 5.7).
    private mutating func removeExcess(of changed: Set<String>, at date: Date) {
        let (allowed, ofDomain) = (policy.limits.allowedCookies, policy.limits.allowedCookiesOfDomain)
        guard table.count > allowed || changed.contains(where: { table.count(of: $0) > ofDomain }) else { return }
        table.removeExpired(at: date)
        for domain in changed { table.removeExcess(of: domain, beyond: ofDomain) }
        table.removeExcess(beyond: allowed)
    }

    /// Removes cookies and returns how many were removed. Keeps a cookie that has changed since the caller read it.
    mutating func remove(_ cookies: [Cookie]) -> Int {
        let before = count
        for cookie in cookies where table.contains(cookie) { table.remove(like: cookie) }
        if count != before { version += 1 }
        return before - count
    }

    func secureCookies(named name: String) -> some Sequence<Cookie> { table.secureCookies(named: name) }

    /// Returns the cookies in the order of section 5.8.3, and marks them as used.
    mutating func retrieve(for origin: CookieOrigin, at date: Date) -> [CookieTable.Entry] {
        func isIncluded(_ cookie: Cookie) -> Bool {
            (origin.isSecure || !cookie.isSecure) && !cookie.isExpired(at: date)
        }
        var found: [CookieTable.Entry] = []
        if let candidates = table.candidates(for: origin.host) {
            func isSent(_ entry: CookieTable.Entry) -> Bool {
                CookieRules.matches(path: origin.path, cookiePath: entry.cookie.path) && isIncluded(entry.cookie)
            }
            // Most requests receive all cookies of their host.
            let areAllSent = candidates.list.allSatisfy { isSent($0.entry) }
            for candidate in candidates.list where areAllSent || isSent(candidate.entry) {
                table.use(candidate)
                if !areAllSent { found.append(candidate.entry) }
            }
            if areAllSent { return candidates.entries }
        } else {
            for domain in CookieRules.domains(of: origin.host) {
                table.use(domain, at: origin.path, into: &found) { cookie in
                    (domain == origin.host || !cookie.isHostOnly) && isIncluded(cookie)
                }
            }
        }
        return CookieTable.sorted(found)
    }
}

/// Detects insecure cookies that would hide a secure cookie (RFC 6265bis, section 5.7, step 16).
struct SecureCookies {
    private var steps = 0
    /// The maximum number of comparisons per response. After more comparisons, every insecure cookie is rejected.
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
