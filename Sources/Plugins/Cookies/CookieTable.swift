import ErrandEssentials
import ErrandSupport

/// The cookies of a jar under their indices: by domain, path and name to find them, by last use and expiry to remove them.
/// Neither a request nor a new cookie makes it look at all of them.
struct CookieTable {
    struct Entry {
        var cookie: Cookie
        /// The order of creation; taken over from the cookie that this one has replaced, if there was one.
        let created: UInt64
        /// Distinguishes the cookie from others that have had its slot.
        let stamp: UInt64
    }

    /// The identity of a cookie among those of its domain (RFC 6265bis, section 5.7, step 23).
    private struct Key: Hashable {
        let name: String
        let path: String
        let isHostOnly: Bool

        init(_ cookie: Cookie) { (name, path, isHostOnly) = (cookie.name, cookie.path, cookie.isHostOnly) }

        /// Compares byte by byte: canonically equivalent names, and paths, are different ones.
        static func == (a: Key, b: Key) -> Bool {
            a.isHostOnly == b.isHostOnly && a.name.hasSameBytes(as: b.name)
                && a.path.hasSameBytes(as: b.path)
        }
    }

    private struct Domain {
        /// By path; canonically equivalent ones are together.
        var paths: [String: [Key: Int]] = [:]
        var count = 0
        /// Those that are not secure go first.
        var plain = UseOrder.Ends()
        var secure = UseOrder.Ends()
    }

    private var slots: [Entry?] = []
    private var free: [Int] = []
    private var domains: [String: Domain] = [:]
    private var secureNames: [String: Set<Int>] = [:]
    /// All cookies by their last use, and those of each domain.
    private var (order, all, domainOrder) = (UseOrder(), UseOrder.Ends(), UseOrder())
    private var expiries = ExpiryOrder()
    private var clock: UInt64 = 0

    /// The number of cookies.
    var count: Int { slots.count - free.count }

    /// The number of cookies of a domain.
    func count(of domain: String) -> Int { domains[domain]?.count ?? 0 }

    /// The cookies in the order of their creation.
    var cookies: [Cookie] { slots.compactMap(\.self).sorted { $0.created < $1.created }.map(\.cookie) }

    /// The secure cookies of a name.
    func secureCookies(named name: String) -> some Sequence<Cookie> {
        (secureNames[name] ?? []).lazy.compactMap { slots[$0]?.cookie }
            .filter { $0.name.hasSameBytes(as: name) }
    }

    /// Stores a cookie, and returns the one that it has replaced.
    @discardableResult
    mutating func insert(_ cookie: Cookie) -> Cookie? {
        let replaced = remove(like: cookie)
        clock += 1
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(nil) }
        slots[slot] = Entry(cookie: cookie, created: replaced?.created ?? clock, stamp: clock)
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

    /// Removes the cookie of the same name, domain and path, if there is one.
    @discardableResult
    mutating func remove(like cookie: Cookie) -> Entry? {
        guard let slot = domains[cookie.domain]?.paths[cookie.path]?[Key(cookie)] else { return nil }
        return remove(slot)
    }

    private mutating func remove(_ slot: Int) -> Entry? {
        guard slot >= 0, let entry = slots[slot] else { return nil }
        let cookie = entry.cookie
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

    /// Removes the cookies that have expired.
    mutating func removeExpired(at date: Date) {
        while let item = expiries.take(until: date) {
            if slots[item.slot]?.stamp == item.stamp { _ = remove(item.slot) }
        }
    }

    /// Removes the cookies of a domain beyond a number: those that are not secure, the longest unused first.
    mutating func removeExcess(of domain: String, beyond limit: Int) {
        while count(of: domain) > limit, let slot = firstToGo(of: domain), remove(slot) != nil {}
    }

    private func firstToGo(of domain: String) -> Int? {
        domains[domain].map { $0.plain.first >= 0 ? $0.plain.first : $0.secure.first }
    }

    /// Removes the cookies beyond a number, the longest unused first.
    mutating func removeExcess(beyond limit: Int) {
        while count > limit, remove(all.first) != nil {}
    }

    /// Whether there is a cookie exactly like that.
    func contains(_ cookie: Cookie) -> Bool {
        domains[cookie.domain]?.paths[cookie.path]?[Key(cookie)].map { slots[$0]?.cookie.isSame(as: cookie) ?? false }
            ?? false
    }

    /// Whether there are cookies of a domain.
    func contains(domain: String) -> Bool { domains[domain] != nil }

    /// The cookies of a domain below whose paths a path lies and that pass a test, as used now.
    mutating func use(
        _ domain: String, at path: String, into found: inout [Entry], where isIncluded: (Cookie) -> Bool
    ) {
        guard let index = domains.index(forKey: domain) else { return }
        var used: [(slot: Int, entry: Entry)] = []
        Self.forEachPath(of: domains.values[index].paths, above: path) { keys in
            for slot in keys.values {
                // By bytes: paths that are canonically equal are one key.
                if let entry = slots[slot], CookieRules.matches(path: path, cookiePath: entry.cookie.path),
                    isIncluded(entry.cookie)
                {
                    used.append((slot, entry))
                }
            }
        }
        used.sort { $0.entry.created < $1.entry.created }
        for (slot, entry) in used {
            order.use(slot, in: &all)
            if entry.cookie.isSecure {
                domainOrder.use(slot, in: &domains.values[index].secure)
            } else {
                domainOrder.use(slot, in: &domains.values[index].plain)
            }
            found.append(entry)
        }
    }

    /// Visits the paths that a path may lie below: looks each part of it up, or compares all where those are fewer.
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

/// The cookies that expire, the earliest first: a heap. What a table has removed stays until its turn comes, or until
/// it makes up most of the heap.
struct ExpiryOrder {
    struct Item {
        let date: Date
        let slot: Int
        /// Distinguishes the cookie from others that have had its slot.
        let stamp: UInt64
    }

    private var heap: [Item] = []
    /// The number of items.
    var count: Int { heap.count }

    mutating func add(_ item: Item) {
        heap.append(item)
        var index = heap.count - 1
        while index > 0, heap[index].date < heap[(index - 1) / 2].date {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Takes the earliest, if its date is not after another.
    mutating func take(until date: Date) -> Item? {
        guard let first = heap.first, first.date <= date else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink(0)
        }
        return first
    }

    /// Removes what is not current any more.
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

/// Lists of a table's slots in the order of their last use. A slot joins and leaves a list without a search.
struct UseOrder {
    /// The ends of a list; -1 where it is empty.
    struct Ends {
        /// The slot that was not used for the longest time.
        fileprivate(set) var first = -1
        fileprivate var last = -1
    }

    private var links: [(previous: Int, next: Int)] = []

    /// Adds a slot that is in no list, as the one used last.
    mutating func append(_ slot: Int, to ends: inout Ends) {
        while links.count <= slot { links.append((-1, -1)) }
        links[slot] = (ends.last, -1)
        if ends.last < 0 { ends.first = slot } else { links[ends.last].next = slot }
        ends.last = slot
    }

    /// Removes a slot from its list.
    mutating func remove(_ slot: Int, from ends: inout Ends) {
        let (previous, next) = links[slot]
        if previous < 0 { ends.first = next } else { links[previous].next = next }
        if next < 0 { ends.last = previous } else { links[next].previous = previous }
    }

    /// Makes a slot the one used last.
    mutating func use(_ slot: Int, in ends: inout Ends) {
        if ends.last == slot { return }
        remove(slot, from: &ends)
        append(slot, to: &ends)
    }
}
