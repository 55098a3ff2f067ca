import Errand
import ErrandCookies
import ErrandEssentials
import Testing

@Suite("The rules of RFC 6265bis, section 5", .endsInTime, .leakChecked) struct RuleTests {
    @Test(
        "each rule, by its section",
        arguments: [
            Rule.dates, Rule.domains, Rule.paths, Rule.parsing, Rule.attributes, Rule.storage, Rule.retrieval,
        ])
    func rules(rules: [Rule]) {
        var policy = CookiePolicy()
        // Section 5.6 parses these; section 5.7 allows a client to ignore any of them.
        policy.keepsNamelessCookies = true
        for rule in rules {
            let jar = CookieJar(policy: policy)
            for text in rule.set { jar.set(text, from: rule.from) }
            #expect(jar.field(for: rule.to, at: epoch + rule.after) == rule.sent, "\(rule.testDescription)")
        }
    }

    @Test("a server without TLS can't replace or hide a secure cookie (5.7, step 16)")
    func secureCookies() {
        let jar = CookieJar()
        jar.set("a=secret; Secure; Domain=example.com; Path=/login", from: "https://www.example.com/")
        for attempt in ["a=x; Path=/login", "a=x; Domain=example.com; Path=/login", "a=x; Path=/login/en"] {
            #expect(jar.set(attempt, from: "http://www.example.com/") == .shadowsSecureCookie, "\(attempt)")
        }
        #expect(jar.set("a=x; Path=/login", from: "http://example.com/") == .shadowsSecureCookie)
        #expect(jar.set("a=x; Path=/", from: "http://www.example.com/") == nil)
        #expect(jar.set("b=x; Path=/login", from: "http://www.example.com/") == nil)
        #expect(jar.field(for: "https://www.example.com/login") == "a=secret; b=x; a=x")
    }

    @Test("cookies of a host with very many labels are stored and found")
    func longHost() {
        let jar = CookieJar()
        jar.set("a=1; Domain=example.com", from: "https://www.example.com/")
        // Looking up every parent domain would take minutes.
        let page = "https://\(String(repeating: "a.", count: 200_000))example.com/"
        #expect(jar.field(for: page) == "a=1")
        #expect(jar.set("b=2", from: page) == nil && jar.set("c=3; Domain=a.a.example.com", from: page) == nil)
        #expect(jar.set("d=4; Domain=b.example.com", from: page) == .foreignDomain)
        #expect(jar.field(for: page) == "a=1; b=2; c=3")
        #expect(jar.field(for: "https://a.a.a.example.com/") == "a=1; c=3")
        // The longest name, absolute.
        let long = String(repeating: "a.", count: 121) + "example.com."
        #expect(jar.set("e=5; Domain=\(long)", from: "https://b.\(long)/") == nil)
        #expect(jar.field(for: "https://c.\(long)/") == "e=5")
    }

    @Test("cookies whose names or values differ only in the composition of a letter are different cookies")
    func composition() {
        let (jar, page) = (CookieJar(), "https://example.com/")
        func sent() -> [[UInt8]] { jar.cookies(for: url(page), at: epoch).map { Array("\($0.name)=\($0.value)".utf8) } }
        for text in ["\u{E9}=1", "e\u{301}=2", "v=\u{E9}"] { jar.set(text, from: page) }
        #expect(sent() == ["\u{E9}=1", "e\u{301}=2", "v=\u{E9}"].map { Array($0.utf8) })
        jar.set("v=e\u{301}", from: page)
        #expect(sent().last == Array("v=e\u{301}".utf8))
        jar.set("s=1; Secure", from: page)
        jar.set("\u{E9}s=1; Secure", from: page)
        #expect(jar.set("e\u{301}s=2", from: "http://example.com/") == nil)
        #expect(throws: CookieRejection.controlCharacter) {
            try jar.insert(Cookie("a=\u{301}", "b", domain: "example.com"), at: epoch)
        }
    }

    @Test("each rejection names the broken rule, and shows no part of the cookie")
    func rejections() {
        let jar = CookieJar()
        let cases: [(String, String, CookieRejection)] = [
            ("a=canary\u{1}", "https://a.example", .controlCharacter), ("=", "https://a.example", .empty),
            ("a=" + String(repeating: "x", count: 5000), "https://a.example", .tooLong),
            ("a=canary; Domain=b.example", "https://a.example", .foreignDomain),
            ("a=canary; Domain=example", "https://a.example", .publicSuffix),
            ("a=canary; Secure", "http://a.example", .insecureOrigin),
            ("a=canary; SameSite=None", "https://a.example", .sameSiteNoneWithoutSecure),
            ("__Host-a=canary", "https://a.example", .brokenPrefix), ("a=canary", "file:///x", .noHost),
        ]
        for (text, page, expected) in cases {
            #expect(jar.set(text, from: page) == expected, "\(text.prefix(40))")
            #expect(expected.description.hasPrefix("\(expected.rawValue): "))
        }
        #expect(jar.count == 0)
    }

    @Test("a list of public suffixes, or a closure, determines the domains that can't have cookies (5.7, step 9)")
    func publicSuffixes() {
        var policy = CookiePolicy()
        policy.publicSuffixes = PublicSuffixes(
            list: "// comment\ncom\nuk\nco.uk // more\n*.ck\n!www.ck\n\ngithub.io")
        let jar = CookieJar(policy: policy)
        for (domain, host, isKept) in [
            ("co.uk", "shop.co.uk", false), ("shop.co.uk", "www.shop.co.uk", true), ("foo.ck", "bar.foo.ck", false),
            ("www.ck", "a.www.ck", true), ("github.io", "ada.github.io", false), ("net", "a.net", false),
            ("github.io", "github.io", true),
        ] {
            let rejection = jar.set("a=b; Domain=\(domain)", from: "https://\(host)/")
            #expect((rejection == nil) == isKept, "\(domain) from \(host)")
        }
        #expect(jar.field(for: "https://ada.github.io/") == "")
        policy.publicSuffixes = PublicSuffixes(
            list: "公司.cn\n*.ไทย\n!ทดสอบ.ไทย\nxn--p1ai\nестонияё.example\nbücher.example")
        let other = CookieJar(policy: policy)
        for (domain, host, isKept) in [
            ("xn--55qx5d.cn", "shop.xn--55qx5d.cn", false), ("shop.xn--55qx5d.cn", "www.shop.xn--55qx5d.cn", true),
            ("foo.xn--o3cw4h", "bar.foo.xn--o3cw4h", false),
            ("xn--l3cfk7dp.xn--o3cw4h", "a.xn--l3cfk7dp.xn--o3cw4h", true),
            ("xn--p1ai", "a.xn--p1ai", false), ("xn--bcher-kva.example", "a.xn--bcher-kva.example", false),
        ] {
            let rejection = other.set("a=b; Domain=\(domain)", from: "https://\(host)/")
            #expect((rejection == nil) == isKept, "\(domain) from \(host)")
        }
        policy.publicSuffixes = PublicSuffixes { $0 == "example.com" }
        #expect(
            CookieJar(policy: policy).set("a=b; Domain=example.com", from: "https://www.example.com/")
                == .publicSuffix)
    }

    @Test("a list and a closure of public suffixes see a domain without the dot that ends the host")
    func suffixesWithDots() {
        var policy = CookiePolicy()
        let list = PublicSuffixes(list: "com\nuk\nco.uk\n*.ck\n!www.ck")
        let closure = PublicSuffixes { ["com", "co.uk", "foo.ck"].contains($0) }
        for suffixes in [list, closure] {
            policy.publicSuffixes = suffixes
            for (domain, host) in [("com.", "evil.com."), ("co.uk.", "evil.co.uk."), ("foo.ck.", "bar.foo.ck.")] {
                let jar = CookieJar(policy: policy)
                #expect(jar.set("a=b; Domain=\(domain)", from: "https://\(host)/") == .publicSuffix)
                #expect(throws: CookieRejection.publicSuffix) { try jar.insert(Cookie("a", "b", domain: domain)) }
                #expect(jar.count == 0)
            }
        }
    }

    @Test("a cookie without a name keeps a session, unless its value would be read as a name and a value")
    func nameless() {
        let jar = CookieJar()
        for (text, sent) in [
            ("token", "token"), ("=token", "token"), ("  a  ", "a"), ("a; Path=/", "a"), ("\"a\"", "\"a\""),
            ("a b", "a b"),
        ] {
            #expect(jar.set(text, from: "https://a.example") == nil, "\(text)")
            #expect(jar.field(for: "https://a.example/") == sent && jar.count == 1)
        }
        jar.remove()
        for text in ["=a=b", "=__Host-a=b", "=\"a=b\"", "==", "=a="] {
            #expect(jar.set(text, from: "https://a.example") == .namelessPair, "\(text)")
        }
        #expect(jar.set("=", from: "https://a.example") == .empty && jar.set("", from: "https://a.example") == .empty)
        #expect(jar.set("__Host-a", from: "https://a.example") == .brokenPrefix)
        #expect(throws: CookieRejection.namelessPair) { try jar.insert(Cookie("", "a=b", domain: "a.example")) }
        #expect(jar.count == 0)
        #expect(throws: Never.self) { try jar.insert(Cookie("", "a", domain: "a.example")) }
        var policy = CookiePolicy()
        policy.keepsNamelessCookies = true
        let all = CookieJar(policy: policy)
        #expect(all.set("=a=b", from: "https://a.example/") == nil)
        #expect(all.field(for: "https://a.example/") == "a=b")
    }
}
