import Errand
import ErrandEssentials

/// The cookies of a jar, by domain: the storage model and the retrieval of RFC 6265bis, sections 5.7 and 5.8. A value; the
/// jar holds it behind a lock.
struct CookieStore {
    struct Entry {
        var cookie: Cookie
        /// The order of creation; that of the cookie that this one has replaced, if there was one.
        var created: UInt64
        /// The order of the last use.
        var used: UInt64
    }

    /// What tells a cookie from the others of its domain (section 5.7, step 23).
    private struct Place: Hashable {
        let name: String
        let path: String
        let isHostOnly: Bool

        init(_ cookie: Cookie) { (name, path, isHostOnly) = (cookie.name, cookie.path, cookie.isHostOnly) }
    }

    private var domains: [String: [Place: Entry]] = [:]
    private var clock: UInt64 = 0
    private(set) var count = 0
    /// Counts changes of what a file holds.
    private(set) var version: UInt64 = 0
    let policy: CookiePolicy

    init(_ policy: CookiePolicy) { self.policy = policy }

    /// In the order of their creation.
    var cookies: [Cookie] {
        domains.values.flatMap(\.values).sorted { $0.created < $1.created }.map(\.cookie)
    }

    /// Judges what a server sets in one response, and keeps it (section 5.7). Returns why some are not kept.
    ///
    /// What is too much is removed once, at the end, so that the work grows with the number of cookies alone.
    mutating func store(
        _ cookies: some Sequence<(set: SetCookie, isLatin1: Bool)>, from origin: CookieOrigin, at date: Date
    ) -> [CookieRejection] {
        var rejections: [CookieRejection] = []
        var (secure, changed) = (SecureCookies(), Set<String>())
        for (set, isLatin1) in cookies {
            do throws(CookieRejection) {
                let cookie = try judged(set, isLatin1, origin, date, &secure)
                keep(cookie, at: date)
                changed.insert(cookie.domain)
            } catch { rejections.append(error) }
        }
        removeExcess(of: changed, at: date)
        return rejections
    }

    private func judged(
        _ set: SetCookie, _ isLatin1: Bool, _ origin: CookieOrigin, _ date: Date, _ secure: inout SecureCookies
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

    /// Section 5.7, step 1, and the Cookie Store API: a cookie without a name is sent as its value alone.
    private func checkName(of cookie: Cookie) throws(CookieRejection) {
        guard cookie.name.isEmpty else { return }
        if cookie.value.isEmpty { throw .empty }
        if cookie.value.utf8.contains(UInt8(ascii: "=")), !policy.keepsNamelessCookies { throw .namelessPair }
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
        try insert(cookie, at: date, removingExcess: true)
    }

    /// Judges the cookies of a file, and keeps them; returns how many.
    mutating func insert(all cookies: [Cookie], at date: Date) -> Int {
        let kept = cookies.count { cookie in
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
        if !isClean || cookie.name.contains("=") { throw .controlCharacter }
        try checkName(of: cookie)
        if cookie.name.utf8.count + cookie.value.utf8.count > policy.limits.nameAndValueBytes { throw .tooLong }
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
        clock += 1
        var entry = Entry(cookie: cookie, created: clock, used: clock)
        let place = Place(cookie)
        let replaced = domains[cookie.domain]?.removeValue(forKey: place)
        let isExpired = cookie.isExpired(at: date)
        if let replaced {
            entry.created = replaced.created
            count -= 1
        }
        if replaced.map({ $0.cookie != cookie }) ?? !isExpired { version += 1 }
        if isExpired {
            if domains[cookie.domain]?.isEmpty ?? false { domains[cookie.domain] = nil }
            return
        }
        domains[cookie.domain, default: [:]][place] = entry
        count += 1
    }

    /// Section 5.7, at its end: the expired, those of a crowded domain, and then any.
    private mutating func removeExcess(of changed: Set<String>, at date: Date) {
        let limit = max(1, policy.limits.cookiesPerDomain)
        for domain in changed where domains[domain]?.count ?? 0 > limit {
            remove { $0.domain == domain && $0.isExpired(at: date) }
            guard let entries = domains[domain], entries.count > limit else { continue }
            let oldest = Self.first(entries.count - limit, of: Array(entries)) { a, b in
                a.value.cookie.isSecure == b.value.cookie.isSecure
                    ? a.value.used < b.value.used : b.value.cookie.isSecure
            }
            for (place, _) in oldest { domains[domain]?[place] = nil }
            count -= oldest.count
        }
        guard count > max(1, policy.limits.cookies) else { return }
        remove { $0.isExpired(at: date) }
        let excess = count - max(1, policy.limits.cookies)
        guard excess > 0 else { return }
        let all = domains.flatMap { domain, entries in entries.map { (domain, place: $0.key, entry: $0.value) } }
        let oldest = Self.first(excess, of: all) { a, b in
            (a.entry.used, a.entry.created) < (b.entry.used, b.entry.created)
        }
        for (domain, place, _) in oldest {
            domains[domain]?[place] = nil
            if domains[domain]?.isEmpty ?? false { domains[domain] = nil }
        }
        count -= oldest.count
    }

    /// The first elements in an order; the first alone without sorting.
    private static func first<Element>(
        _ count: Int, of elements: [Element], by precedes: (Element, Element) -> Bool
    ) -> [Element] {
        count == 1 ? elements.min(by: precedes).map { [$0] } ?? [] : Array(elements.sorted(by: precedes).prefix(count))
    }

    /// Removes those that match, and returns how many that were.
    @discardableResult
    mutating func remove(where matches: (Cookie) -> Bool) -> Int {
        let before = count
        for (domain, entries) in domains {
            let kept = entries.filter { !matches($0.value.cookie) }
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

    /// The cookies that only https carries.
    var secureCookies: [Cookie] { domains.values.flatMap { $0.values.lazy.map(\.cookie).filter(\.isSecure) } }

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
        // By indices, so that nothing is copied.
        for index in domains.values[place].values.indices {
            let cookie = domains.values[place].values[index].cookie
            if cookie.isHostOnly && domain != origin.host || cookie.isSecure && !origin.isSecure
                || cookie.isExpired(at: date) || !CookieRules.matches(path: origin.path, cookiePath: cookie.path)
            {
                continue
            }
            domains.values[place].values[index].used = clock
            found.append(domains.values[place].values[index])
        }
        return found
    }
}
