import Errand
import ErrandCookies
import ErrandEssentials
import ErrandTesting
import Foundation
import Testing

@Suite("Cookies beyond the limits", .endsInTime, .leakChecked) struct EvictionTests {
    /// RFC 6265bis, section 5.7, implemented literally: every step examines all cookies.
    private struct Plain {
        struct Entry {
            var cookie: Cookie
            var created: Int
            var used: Int
        }
        var entries: [Entry] = []
        var clock = 0
        let limits: CookieLimits

        init(_ limits: CookieLimits) { self.limits = limits }

        mutating func insert(_ cookie: Cookie, at date: Date) {
            clock += 1
            let old = entries.firstIndex {
                ($0.cookie.name, $0.cookie.domain, $0.cookie.path) == (cookie.name, cookie.domain, cookie.path)
                    && $0.cookie.isHostOnly == cookie.isHostOnly
            }
            let replaced = old.map { entries.remove(at: $0) }
            if let end = cookie.expiry, end <= date { return }
            entries.append(Entry(cookie: cookie, created: replaced?.created ?? clock, used: clock))
            let isCrowded = entries.count { $0.cookie.domain == cookie.domain } > limits.maximumCookiesPerDomain
            if isCrowded || entries.count > limits.maximumCookies {
                entries.removeAll { ($0.cookie.expiry ?? date + 1) <= date }
            }
            remove(beyond: limits.maximumCookiesPerDomain) {
                $0.cookie.domain == cookie.domain ? $0.cookie.isSecure : nil
            }
            remove(beyond: limits.maximumCookies) { _ in false }
        }

        private mutating func remove(beyond limit: Int, _ goesLast: (Entry) -> Bool?) {
            while entries.count(where: { goesLast($0) != nil }) > limit {
                let places = entries.indices.filter { goesLast(entries[$0]) != nil }
                let first = places.min { a, b in
                    let (a, b) = (entries[a], entries[b])
                    let (aLast, bLast) = (goesLast(a) ?? false, goesLast(b) ?? false)
                    return aLast == bLast ? (a.used, a.created) < (b.used, b.created) : bLast
                }
                guard let first else { return }
                entries.remove(at: first)
            }
        }

        mutating func use(_ host: String, _ path: String, at date: Date) -> [String] {
            clock += 1
            for index in entries.indices {
                let cookie = entries[index].cookie
                let isOfPath = cookie.path == "/" || path == cookie.path || path.hasPrefix(cookie.path + "/")
                if cookie.domain == host, isOfPath, (cookie.expiry ?? date + 1) > date { entries[index].used = clock }
            }
            return entries.filter { $0.used == clock }.sorted {
                ($0.cookie.path.count, -$0.created) > ($1.cookie.path.count, -$1.created)
            }.map { "\($0.cookie.name)\($0.cookie.path)" }
        }
    }

    @Test("the jar keeps and sends the same cookies as the RFC's text, over 40 jars and 500 random steps each")
    func order() throws {
        var random = SeededGenerator(seed: 28)
        for _ in 0..<40 {
            var policy = CookiePolicy()
            policy.limits.maximumCookiesPerDomain = Int.random(in: 1...6, using: &random)
            policy.limits.maximumCookies = Int.random(in: 3...14, using: &random)
            let jar = CookieJar(policy: policy)
            var (plain, date) = (Plain(policy.limits), epoch)
            for _ in 0..<500 {
                date += Double.random(in: 0...3, using: &random)
                let host = "h\(Int.random(in: 0..<4, using: &random)).example"
                if Int.random(in: 0..<3, using: &random) > 0 {
                    let ends = Int.random(in: 0..<3, using: &random) == 0
                    let cookie = Cookie(
                        "n\(Int.random(in: 0..<5, using: &random))", "1", domain: host, isHostOnly: true,
                        path: ["/", "/a", "/a/b"].randomElement(using: &random) ?? "/",
                        expiry: ends ? date + Double(Int.random(in: -1...20, using: &random)) + 0.5 : nil,
                        isSecure: Bool.random(using: &random))
                    try jar.insert(cookie, at: date)
                    plain.insert(cookie, at: date)
                } else {
                    let path = ["/", "/a", "/a/b", "/a/bc", "/a//b/c"].randomElement(using: &random) ?? "/"
                    let sent = jar.cookies(for: url("https://\(host)\(path)"), at: date).map { "\($0.name)\($0.path)" }
                    #expect(sent == plain.use(host, path, at: date))
                }
                let alive = { (cookies: [Cookie]) in cookies.filter { ($0.expiry ?? date + 1) > date } }
                let expected = plain.entries.sorted { $0.created < $1.created }.map { $0.cookie }
                try #require(alive(jar.cookies).map(\.description) == alive(expected).map(\.description))
            }
        }
    }

    @Test("a host's cookies are sent in the same order whether it has few or many, and after each change")
    func candidates() throws {
        let jar = CookieJar()
        for number in 1...40 {
            let path = number.isMultiple(of: 2) ? "/" : "/a"
            let domain = number.isMultiple(of: 3) ? "x.example" : "a.x.example"
            try jar.insert(Cookie("n\(number)", "1", domain: domain, path: path), at: epoch)
            let numbers = 1...number
            let expected = numbers.filter { !$0.isMultiple(of: 2) } + numbers.filter { $0.isMultiple(of: 2) }
            #expect(jar.cookies(for: url("https://a.x.example/a"), at: epoch).map(\.name) == expected.map { "n\($0)" })
            #expect(
                jar.cookies(for: url("https://b.x.example/"), at: epoch).count == numbers.count { $0.isMultiple(of: 6) }
            )
        }
        for number in 1...40 {
            jar.remove { $0.name == "n\(number)" }
            #expect(jar.cookies(for: url("https://a.x.example/a"), at: epoch).count == 40 - number)
        }
    }

    @Test(
        "a URL selects the same cookies however it's written",
        arguments: [
            "https://x.example/a/b", "https://x.example:443/a/b?c#d", "HTTPS://X.example/a/b",
            "https://x.example/a/b/%20",
            "https://x.example/a/b/(c)", "https://u@x.example/a/b", "https://x.example/a/b#?",
        ])
    func spellings(text: String) throws {
        let jar = CookieJar()
        try jar.insert(Cookie("s", "1", domain: "x.example", path: "/a/b", isSecure: true), at: epoch)
        try jar.insert(Cookie("t", "1", domain: "x.example", path: "/a/bc"), at: epoch)
        #expect(jar.field(for: text) == "s=1")
        #expect(jar.field(for: text.replacing("https", with: "http").replacing("HTTPS", with: "http")).isEmpty)
    }

    @Test("adding a cookie costs the same in a full jar of 100,000 cookies as in a jar of 1,000, on http and https")
    func fullJars() throws {
        for isSecure in [false, true] {
            let (small, large) = (try cost(ofMoreThan: 1_000, isSecure), try cost(ofMoreThan: 100_000, isSecure))
            #expect(large < max(small, 0.002) * 10, "\(large) s for 1,000 cookies, \(small) s in the small jar")
        }
    }

    /// Returns the CPU time for storing 1,000 cookies in a full jar.
    private func cost(ofMoreThan count: Int, _ isSecure: Bool) throws -> Double {
        var policy = CookiePolicy()
        policy.limits.maximumCookies = count
        let jar = CookieJar(policy: policy)
        for number in 0..<count {
            try jar.insert(Cookie("n", "1", domain: "h\(number).example", isSecure: isSecure), at: epoch)
        }
        let start = processorTime()
        for number in 0..<1_000 {
            jar.set("a=\(number)", from: "\(isSecure ? "https" : "http")://new\(number).example/")
        }
        #expect(jar.count == count)
        return processorTime() - start
    }

    @Test(
        "a request costs the same with 10,000 cookies of its domain as with ten"
    )
    func crowdedDomains() throws {
        var policy = CookiePolicy()
        (policy.limits.maximumCookies, policy.limits.maximumCookiesPerDomain) = (20_000, 10_000)
        var costs: [Double] = []
        for count in [10, 10_000] {
            let jar = CookieJar(policy: policy)
            for number in 0..<count {
                try jar.insert(Cookie("n", "1", domain: "x.example", path: "/\(number)/a"), at: epoch)
            }
            #expect(jar.count == min(count, 1_000))
            let sent = "/\(count - 1)/a/b"
            #expect(jar.cookies(for: url("https://x.example\(sent)"), at: epoch).map(\.path) == ["/\(count - 1)/a"])
            let start = processorTime()
            for _ in 0..<1_000 { #expect(jar.cookies(for: url("https://x.example/none"), at: epoch).isEmpty) }
            costs.append(processorTime() - start)
        }
        #expect(costs[1] < max(costs[0], 0.002) * 5, "\(costs[1]) s for 1,000 requests, \(costs[0]) s with ten cookies")
    }

    @Test("a path of 8,000 slashes and 1,000 cookie paths are compared in linear time")
    func longPaths() throws {
        var policy = CookiePolicy()
        policy.limits.maximumCookiesPerDomain = 1_000
        let jar = CookieJar(policy: policy)
        for number in 0..<1_000 { try jar.insert(Cookie("n", "1", domain: "x.example", path: "/\(number)"), at: epoch) }
        try jar.insert(Cookie("root", "1", domain: "x.example", path: "/"), at: epoch)
        let long = url("https://x.example/7" + String(repeating: "/", count: 8_000) + "7")
        #expect(jar.cookies(for: long, at: epoch).map(\.path) == ["/7", "/"])
    }

    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
