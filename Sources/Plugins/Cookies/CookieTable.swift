import ErrandEssentials
import ErrandSupport

/// Indexes a jar's cookies by domain, path and name, and orders them by last use and by expiry, so a request never
/// scans all cookies.
struct CookieTable {
    /// A cookie in the table. A class, because a request copies its entries and a cookie has many fields.
    final class Entry: Sendable {
        let cookie: Cookie
        let pair: String
        /// The position in creation order. A replacement inherits the position of the cookie it replaces.
        let created: UInt64
        /// Distinguishes the cookie from earlier cookies in the same slot.
        let stamp: UInt64

        init(_ cookie: Cookie, created: UInt64, stamp: UInt64) {
            (self.cookie, pair) = (cookie, cookie.pair)
            (self.created, self.stamp) = (created, stamp)
        }
    }

    /// A cookie that is sent to a host if the path, scheme and date match.
    struct Candidate {
        fileprivate let slot: Int
        let entry: Entry
        fileprivate let domain: Dictionary<String, Domain>.Index
    }

    struct Candidates {
        /// The candidates, in the order in which the cookies are marked as used.
        let list: [Candidate]
        /// The candidates' entries in the order of section 5.8.3, for requests that receive all candidates.
        let entries: [Entry]

        fileprivate init(_ list: [Candidate]) { (self.list, entries) = (list, CookieTable.sorted(list.map(\.entry))) }
    }

    /// Identifies a cookie within its domain (RFC 6265bis, section 5.7, step 23).
    fileprivate struct Key: Hashable {
        let name: String
        let path: String
        let isHostOnly: Bool

        init(_ cookie: Cookie) { (name, path, isHostOnly) = (cookie.name, cookie.path, cookie.isHostOnly) }

        /// Compares the bytes of the texts, because canonically equivalent strings would be equal.
        static func == (a: Key, b: Key) -> Bool {
            a.isHostOnly == b.isHostOnly && a.name.hasSameBytes(as: b.name)
                && a.path.hasSameBytes(as: b.path)
        }
    }

    fileprivate struct Domain {
        /// Slots by path and key. Canonically equivalent paths share an entry.
        var paths: [String: [Key: Int]] = [:]
        var count = 0
        /// The insecure cookies. If the domain has too many cookies, the insecure cookies are removed first.
        var plain = UseOrder.Ends()
        var secure = UseOrder.Ends()
    }

    private var slots: [Entry?] = []
    private var free: [Int] = []
    private var domains: [String: Domain] = [:]
    private var secureNames: [String: Set<Int>] = [:]
    private var (order, all, domainOrder) = (UseOrder(), UseOrder.Ends(), UseOrder())
    private var expiries = ExpiryOrder()
    private var clock: UInt64 = 0
    /// The candidates for recently used hosts. Each change of the table clears them.
    private var candidates: [String: Candidates] = [:]
    /// The candidates for the last host, because most requests go to the same host as the previous request.
    private var last: (host: String, candidates: Candidates)?
    private static let (maximumHosts, maximumCandidates) = (64, 32)

    var count: Int { slots.count - free.count }

    func count(of domain: String) -> Int { domains[domain]?.count ?? 0 }

    var cookies: [Cookie] { slots.compactMap(\.self).sorted { $0.created < $1.created }.map(\.cookie) }

    func secureCookies(named name: String) -> some Sequence<Cookie> {
        (secureNames[name] ?? []).lazy.compactMap { slots[$0]?.cookie }
            .filter { $0.name.hasSameBytes(as: name) }
    }

    @discardableResult
    mutating func insert(_ cookie: Cookie) -> Cookie? {
        let replaced = remove(like: cookie)
        clock += 1
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(nil) }
        (last, candidates) = (nil, [:])
        slots[slot] = Entry(cookie, created: replaced?.created ?? clock, stamp: clock)
        order.append(slot, to: &all)
        domains[cookie.domain, default: Domain()].paths[cookie.path, default: [:]][Key(cookie)] = slot
        domains[cookie.domain, default: Domain()].count += 1
        if cookie.isSecure {
            secureNames[cookie.name, default: []].insert(slot)
            domainOrder.append(slot, to: &domains[cookie.domain, default: Domain()].secure)
        } else {
            domainOrder.append(slot, to: &domains[cookie.domain, default: Domain()].plain)
        }
        if let expiry = cookie.expiry { expiries.add(ExpiryOrder.Item(date: expiry, slot: slot, stamp: clock)) }
        if expiries.count > 2 * count + 64 { expiries.prune { [slots] in slots[$0.slot]?.stamp == $0.stamp } }
        return replaced?.cookie
    }

    @discardableResult
    mutating func remove(like cookie: Cookie) -> Entry? {
        guard let slot = domains[cookie.domain]?.paths[cookie.path]?[Key(cookie)] else { return nil }
        return remove(slot)
    }

    private mutating func remove(_ slot: Int) -> Entry? {
        guard slot >= 0, let entry = slots[slot] else { return nil }
        let cookie = entry.cookie
        (last, candidates) = (nil, [:])
        slots[slot] = nil
        free.append(slot)
        order.remove(slot, from: &all)
        if cookie.isSecure {
            secureNames[cookie.name]?.remove(slot)
            if secureNames[cookie.name]?.isEmpty ?? false { secureNames[cookie.name] = nil }
            domainOrder.remove(slot, from: &domains[cookie.domain, default: Domain()].secure)
        } else {
            domainOrder.remove(slot, from: &domains[cookie.domain, default: Domain()].plain)
        }
        domains[cookie.domain]?.paths[cookie.path]?[Key(cookie)] = nil
        if domains[cookie.domain]?.paths[cookie.path]?.isEmpty ?? false {
            domains[cookie.domain]?.paths[cookie.path] = nil
        }
        domains[cookie.domain]?.count -= 1
        if count(of: cookie.domain) == 0 { domains[cookie.domain] = nil }
        return entry
    }

    mutating func removeExpired(at date: Date) {
        while let item = expiries.take(until: date) {
            if slots[item.slot]?.stamp == item.stamp { _ = remove(item.slot) }
        }
    }

    /// Removes cookies of a domain above a limit: insecure cookies first, and the least recently used first.
    mutating func removeExcess(of domain: String, beyond limit: Int) {
        while count(of: domain) > limit, let slot = firstToGo(of: domain), remove(slot) != nil {}
    }

    private func firstToGo(of domain: String) -> Int? {
        domains[domain].map { $0.plain.first >= 0 ? $0.plain.first : $0.secure.first }
    }

    mutating func removeExcess(beyond limit: Int) {
        while count > limit, remove(all.first) != nil {}
    }

    func contains(_ cookie: Cookie) -> Bool {
        domains[cookie.domain]?.paths[cookie.path]?[Key(cookie)].map { slots[$0]?.cookie.isSame(as: cookie) ?? false }
            ?? false
    }

    /// Sorts entries as section 5.8.3 requires: longer paths first, and older cookies first if the paths have equal
    /// lengths.
    static func sorted(_ entries: [Entry]) -> [Entry] {
        if entries.count < 2 { return entries }
        return entries.sorted {
            let (a, b) = ($0.cookie.path.utf8.count, $1.cookie.path.utf8.count)
            return a == b ? $0.created < $1.created : a > b
        }
    }

    /// Returns the cookies that a host may receive. Returns nil if there are so many cookies that a lookup by path is
    /// faster.
    mutating func candidates(for host: String) -> Candidates? {
        if let last, last.host.hasSameBytes(as: host) { return last.candidates }
        if let known = candidates[host] {
            last = (host, known)
            return known
        }
        var found: [Candidate] = []
        for domain in CookieRules.domains(of: host) {
            guard let index = domains.index(forKey: domain) else { continue }
            if found.count + domains.values[index].count > Self.maximumCandidates { return nil }
            let slots = domains.values[index].paths.values.flatMap(\.values)
            let entries = slots.compactMap { slot in self.slots[slot].map { (slot, $0) } }
            for (slot, entry) in entries.sorted(by: { $0.1.created < $1.1.created })
            where domain == host || !entry.cookie.isHostOnly {
                found.append(Candidate(slot: slot, entry: entry, domain: index))
            }
        }
        if candidates.count >= Self.maximumHosts { candidates = [:] }
        let new = Candidates(found)
        candidates[host] = new
        last = (host, new)
        return new
    }

    /// Marks a cookie as used. The table must not have changed since it returned the candidate.
    mutating func use(_ candidate: Candidate) {
        order.use(candidate.slot, in: &all)
        if candidate.entry.cookie.isSecure {
            domainOrder.use(candidate.slot, in: &domains.values[candidate.domain].secure)
        } else {
            domainOrder.use(candidate.slot, in: &domains.values[candidate.domain].plain)
        }
    }

    mutating func use(
        _ domain: String, at path: String, into found: inout [Entry], where isIncluded: (Cookie) -> Bool
    ) {
        guard let index = domains.index(forKey: domain) else { return }
        var used: [Candidate] = []
        Self.forEachPath(of: domains.values[index].paths, above: path) { keys in
            for slot in keys.values {
                // Canonically equivalent paths share an entry.
                if let entry = slots[slot], CookieRules.matches(path: path, cookiePath: entry.cookie.path),
                    isIncluded(entry.cookie)
                {
                    used.append(Candidate(slot: slot, entry: entry, domain: index))
                }
            }
        }
        used.sort { $0.entry.created < $1.entry.created }
        for candidate in used {
            use(candidate)
            found.append(candidate.entry)
        }
    }

    /// Calls a closure for each path that matches. Looks up each prefix of the path, or compares all entries if they're
    /// few.
    private static func forEachPath(
        of paths: [String: [Key: Int]], above path: String, _ body: ([Key: Int]) -> Void
    ) {
        let (path, slash) = (path.isEmpty ? "/" : path, UInt8(ascii: "/"))
        if paths.count <= 2 * path.utf8.count(where: { $0 == slash }) + 1 {
            for (cookiePath, keys) in paths
            where CookieRules.matches(path: path, cookiePath: cookiePath) || !cookiePath.utf8.allSatisfy({ $0 < 0x80 })
            {
                body(keys)
            }
            return
        }
        func visit(_ part: Substring) { if let keys = paths[String(part)] { body(keys) } }
        for index in path.utf8.indices where path.utf8[index] == slash {
            if index != path.startIndex, path.utf8[path.utf8.index(before: index)] != slash { visit(path[..<index]) }
            visit(path[...index])
        }
        if path.utf8.last != slash { visit(path[...]) }
    }
}

/// A min-heap of cookies by expiry. Items of removed cookies stay until they reach the top or `prune(keeping:)` runs.
struct ExpiryOrder {
    struct Item {
        let date: Date
        let slot: Int
        let stamp: UInt64
    }

    private var heap: [Item] = []
    var count: Int { heap.count }

    mutating func add(_ item: Item) {
        heap.append(item)
        var index = heap.count - 1
        while index > 0, heap[index].date < heap[(index - 1) / 2].date {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func take(until date: Date) -> Item? {
        guard let first = heap.first, first.date <= date else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink(0)
        }
        return first
    }

    mutating func prune(keeping isCurrent: (Item) -> Bool) {
        heap.removeAll { !isCurrent($0) }
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].date < heap[least].date
            {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}

/// Linked lists of slots in order of last use.
struct UseOrder {
    struct Ends {
        fileprivate(set) var first = -1
        fileprivate var last = -1
    }

    private var links: [(previous: Int, next: Int)] = []

    /// Appends a slot to a list. The slot must not be in a list yet.
    mutating func append(_ slot: Int, to ends: inout Ends) {
        while links.count <= slot { links.append((-1, -1)) }
        links[slot] = (ends.last, -1)
        if ends.last < 0 { ends.first = slot } else { links[ends.last].next = slot }
        ends.last = slot
    }

    mutating func remove(_ slot: Int, from ends: inout Ends) {
        let (previous, next) = links[slot]
        if previous < 0 { ends.first = next } else { links[previous].next = next }
        if next < 0 { ends.last = previous } else { links[next].previous = previous }
    }

    mutating func use(_ slot: Int, in ends: inout Ends) {
        if ends.last == slot { return }
        remove(slot, from: &ends)
        append(slot, to: &ends)
    }
}
