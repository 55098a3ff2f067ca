import Errand
import ErrandEssentials

/// The cookies of a jar, by domain: the storage model and the retrieval of RFC 6265bis, sections 5.7 and 5.8. A value; the
/// jar holds it behind a lock.
struct CookieStore {
    private struct Entry {
        var cookie: Cookie
        /// The order of creation; that of the cookie that this one has replaced, if there was one.
        var created: UInt64
        /// The order of the last use.
        var used: UInt64
    }

    private var domains: [String: [Entry]] = [:]
    private var clock: UInt64 = 0
    private(set) var count = 0
    /// Counts changes of what a file holds.
    private(set) var version: UInt64 = 0
    let policy: CookiePolicy

    init(_ policy: CookiePolicy) { self.policy = policy }

    /// In the order of their creation.
    var cookies: [Cookie] { domains.values.joined().sorted { $0.created < $1.created }.map(\.cookie) }

    /// Judges what a server sets, and keeps it (section 5.7).
    mutating func store(_ text: String, isLatin1: Bool, from origin: CookieOrigin, at date: Date)
        throws(CookieRejection)
    {
        let set = try SetCookie(parsing: text, limits: policy.limits)
        if set.name.isEmpty, !policy.keepsNamelessCookies { throw .empty }
        var cookie = Cookie(set.name, set.value, domain: origin.host, isHostOnly: true)
        cookie.isLatin1 = isLatin1
        (cookie.isSecure, cookie.isHTTPOnly, cookie.sameSite) = (set.isSecure, set.isHTTPOnly, set.sameSite)
        if let seconds = set.maxAge {
            cookie.expiry = seconds <= 0 ? .distantPast : date + min(Double(seconds), policy.maximumSeconds)
        } else if let expires = set.expires {
            cookie.expiry = min(expires, date + policy.maximumSeconds)
        }
        try setDomain(of: &cookie, set.domain, origin)
        cookie.path = set.path ?? origin.defaultPath
        if cookie.isSecure, !origin.isSecure { throw .insecureOrigin }
        if !cookie.isSecure, !origin.isSecure, hidesSecure(cookie) { throw .shadowsSecureCookie }
        if cookie.sameSite == .none, !cookie.isSecure { throw .sameSiteNoneWithoutSecure }
        try CookieRules.checkPrefix(of: cookie, hasPath: set.hasPath && set.path != nil)
        keep(cookie, at: date)
    }

    /// Steps 7 to 10.
    private func setDomain(
        of cookie: inout Cookie, _ domain: String, _ origin: CookieOrigin
    ) throws(CookieRejection) {
        if domain.isEmpty { return }
        guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { throw .foreignDomain }
        if domain == origin.host, policy.publicSuffixes.contains(domain) { return }
        guard CookieRules.matches(host: origin.host, domain: domain) else { throw .foreignDomain }
        if policy.publicSuffixes.contains(domain) { throw .publicSuffix }
        (cookie.domain, cookie.isHostOnly) = (domain, false)
    }

    /// Judges a cookie of the app's or of a file, and keeps it.
    mutating func insert(_ cookie: Cookie, at date: Date) throws(CookieRejection) {
        var cookie = cookie
        let text = [cookie.name, cookie.value, cookie.domain, cookie.path]
        let isClean = text.allSatisfy { part in
            !part.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F || $0 == UInt8(ascii: ";") }
        }
        if !isClean || cookie.name.contains("=") { throw .controlCharacter }
        if cookie.name.isEmpty, cookie.value.isEmpty || !policy.keepsNamelessCookies { throw .empty }
        if cookie.name.utf8.count + cookie.value.utf8.count > policy.limits.nameAndValueBytes { throw .tooLong }
        if cookie.domain.isEmpty || cookie.domain.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x80 }) { throw .noHost }
        if !cookie.path.hasPrefix("/") { throw .invalidPath }
        if !cookie.isHostOnly, policy.publicSuffixes.contains(cookie.domain) { throw .publicSuffix }
        if cookie.sameSite == .none, !cookie.isSecure { throw .sameSiteNoneWithoutSecure }
        try CookieRules.checkPrefix(of: cookie, hasPath: true)
        cookie.expiry = cookie.expiry.map { min($0, date + policy.maximumSeconds) }
        keep(cookie, at: date)
    }

    /// Whether a cookie that is not secure would overlay a secure one (section 5.7).
    private func hidesSecure(_ new: Cookie) -> Bool {
        domains.contains { domain, entries in
            (CookieRules.matches(host: domain, domain: new.domain)
                || CookieRules.matches(host: new.domain, domain: domain))
                && entries.contains {
                    $0.cookie.isSecure && $0.cookie.name == new.name
                        && CookieRules.matches(path: new.path, cookiePath: $0.cookie.path)
                }
        }
    }

    private mutating func keep(_ cookie: Cookie, at date: Date) {
        clock += 1
        var entry = Entry(cookie: cookie, created: clock, used: clock)
        let old = domains[cookie.domain]?.firstIndex {
            $0.cookie.name == cookie.name && $0.cookie.path == cookie.path
                && $0.cookie.isHostOnly == cookie.isHostOnly
        }
        if let old, let replaced = domains[cookie.domain]?.remove(at: old) {
            entry.created = replaced.created
            count -= 1
            if replaced.cookie != cookie { version += 1 }
        } else {
            version += 1
        }
        if cookie.isExpired(at: date) {
            if domains[cookie.domain]?.isEmpty ?? false { domains[cookie.domain] = nil }
            if old == nil { version -= 1 }
            return
        }
        domains[cookie.domain, default: []].append(entry)
        count += 1
        removeExcess(of: cookie.domain, at: date)
    }

    /// Section 5.7, at its end: the expired, those of a crowded domain, and then any.
    private mutating func removeExcess(of domain: String, at date: Date) {
        if let crowd = domains[domain]?.count, crowd > max(1, policy.limits.cookiesPerDomain) {
            remove { $0.domain == domain && $0.isExpired(at: date) }
            while let entries = domains[domain], entries.count > max(1, policy.limits.cookiesPerDomain) {
                let open = entries.indices.filter { !entries[$0].cookie.isSecure }
                let oldest = (open.isEmpty ? Array(entries.indices) : open).min { entries[$0].used < entries[$1].used }
                guard let oldest else { break }
                domains[domain]?.remove(at: oldest)
                count -= 1
            }
        }
        guard count > max(1, policy.limits.cookies) else { return }
        remove { $0.isExpired(at: date) }
        while count > max(1, policy.limits.cookies) {
            guard let oldest = domains.values.joined().min(by: { $0.used < $1.used })?.used else { break }
            for key in Array(domains.keys) where domains[key]?.contains(where: { $0.used == oldest }) ?? false {
                domains[key]?.removeAll { $0.used == oldest }
                if domains[key]?.isEmpty ?? false { domains[key] = nil }
                count -= 1
            }
        }
    }

    /// Removes those that match, and returns how many that were.
    @discardableResult
    mutating func remove(where matches: (Cookie) -> Bool) -> Int {
        let before = count
        for (domain, entries) in domains {
            let kept = entries.filter { !matches($0.cookie) }
            if kept.count == entries.count { continue }
            domains[domain] = kept.isEmpty ? nil : kept
            count -= entries.count - kept.count
        }
        if count != before { version += 1 }
        return before - count
    }

    /// Whether a host, or a domain above it, has cookies; cheaper than to look for those of a request.
    func hasCookies(for host: String) -> Bool {
        if domains[host] != nil { return true }
        var domain = host[...]
        while let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) {
            domain = domain[domain.utf8.index(after: dot)...]
            if domains[String(domain)] != nil { return true }
        }
        return false
    }

    /// The cookies for a request, in the order in which they are sent (section 5.8.3).
    mutating func retrieve(for origin: CookieOrigin, at date: Date) -> [Cookie] {
        var found: [Entry] = []
        var domain = origin.host[...]
        clock += 1
        while true {
            found += take(from: String(domain), for: origin, at: date)
            guard let dot = domain.firstIndex(of: ".") else { break }
            domain = domain[domain.index(after: dot)...]
        }
        found.sort {
            let (a, b) = ($0.cookie.path.utf8.count, $1.cookie.path.utf8.count)
            return a == b ? $0.created < $1.created : a > b
        }
        return found.map(\.cookie)
    }

    private mutating func take(from domain: String, for origin: CookieOrigin, at date: Date) -> [Entry] {
        guard let place = domains.index(forKey: domain) else { return [] }
        if domain != origin.host, !CookieRules.matches(host: origin.host, domain: domain) { return [] }
        var found: [Entry] = []
        for index in domains.values[place].indices {
            let cookie = domains.values[place][index].cookie
            if cookie.isHostOnly && domain != origin.host || cookie.isSecure && !origin.isSecure
                || cookie.isExpired(at: date) || !CookieRules.matches(path: origin.path, cookiePath: cookie.path)
            {
                continue
            }
            domains.values[place][index].used = clock
            found.append(domains.values[place][index])
        }
        return found
    }
}
