import Errand
import ErrandCache
import ErrandCookies
import ErrandEssentials
import ErrandMessageSyntax
import ErrandTesting
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Cookies that other jars got wrong", .endsInTime, .leakChecked) struct CookieLessonsTests {
    @Test(
        "a value is everything up to the first semicolon, with its quotes, equals signs, commas and escapes",
        arguments: [
            ("foo=\"\"", "foo=\"\""), ("foo=\"bar\"", "foo=\"bar\""), ("foo=\"bar\";", "foo=\"bar\""),
            (#"aaa="b\"bb"; Path = "ddd eee" fff"#, #"aaa="b\"bb""#), ("a=\"b; not=2; and\"", "a=\"b"),
            ("a=b=c==", "a=b=c=="), ("a=%3D%20", "a=%3D%20"), ("a=\"x,y\"", "a=\"x,y\""), ("a=b;", "a=b"),
            ("a=b;;;", "a=b"),
            ("a=", "a="), ("a = b ", "a=b"), ("a=b;Secure;HttpOnly;Path=/", "a=b"), ("a=1,b=2", "a=1,b=2"),
            ("a={\"k\":1}", "a={\"k\":1}"), ("a=b c", "a=b c"),
        ])
    func values(text: String, sent: String) {
        let jar = CookieJar()
        jar.set(text, from: "https://example.com/")
        #expect(jar.field(for: "https://example.com/") == sent)
    }

    @Test(
        "every form of expiry that servers send is read, and an unreadable expiry means a session cookie",
        arguments: [
            ("Sunday, 06-Nov-94 08:49:37 GMT", ""), ("Sun, 06 Nov 1994 08:49:37 GMT", ""),
            ("Sun Nov  6 08:49:37 1994", ""),
            ("Sun, 30-Jun-2019 07:35:31 GMT", "a=b"), ("Fri, 09-Feb-2018 13:17:26 GMT", "a=b"),
            ("Thu, 26-Mar-2020 07:55:35 GMT", "a=b"), ("Wed, 23 Nov 2011 01:05:03 GMT", "a=b"),
            ("Fri, 11-Apr-2025 20:23:36 GMT", "a=b"), ("1w", "a=b"), ("not-a-date", "a=b"), ("0", "a=b"), ("-1", "a=b"),
            ("", "a=b"), ("Thu, 01-Jan-1970 00:00:00 GMT", ""), ("Thu, 1 Jan 1970 00:00:00 GMT", ""),
        ])
    func expiries(text: String, sent: String) {
        let jar = CookieJar()
        jar.set("a=b; expires=\(text); path=/", from: "https://example.com/")
        #expect(jar.field(for: "https://example.com/") == sent)
        let cookie = jar.cookies(for: url("https://example.com/"), at: epoch).first
        let isSession = ["1w", "not-a-date", "0", "-1", ""].contains(text)
        #expect(sent.isEmpty || (cookie?.expiry == nil) == isSession)
    }

    @Test(
        "an expiry counts by the server's clock, if its response has a date",
        arguments: [
            // The device's clock is two hours ahead, or behind, or the same.
            (-7200, "Sat, 08 Sep 2001 23:56:40 GMT", true), (-7200, "Sat, 08 Sep 2001 23:36:40 GMT", false),
            (7200, "Sun, 09 Sep 2001 03:36:40 GMT", false), (7200, "Sun, 09 Sep 2001 03:56:40 GMT", true),
            (0, "Sun, 09 Sep 2001 01:56:40 GMT", true), (7200, "Thu, 01 Jan 1970 00:00:00 GMT", false),
            (-86_400_000, "Thu, 01 Jan 1970 00:00:00 GMT", false), (nil, "Sat, 08 Sep 2001 23:56:40 GMT", false),
        ] as [(Int?, String, Bool)])
    func clocks(difference: Int?, expires: String, isKept: Bool) async throws {
        let jar = CookieJar()
        var response = StubResponse.text("ok").header(.setCookie, "a=b; Expires=\(expires)")
        if let difference {
            response = response.header(.date, HTTPDate.format(epoch.addingTimeInterval(Double(difference))))
        }
        let agent = NetworkAgent(
            baseURL: "https://example.com", transport: .stub(response), filters: [.cookies(jar)],
            time: ManualTimeSource(date: epoch))
        _ = try await agent.send(Call<String>(.get, "/"))
        #expect(jar.field(for: "https://example.com/") == (isKept ? "a=b" : ""))
    }

    @Test(
        "a domain with or without a leading dot includes subdomains, and a domain that is only a dot is ignored",
        arguments: [
            ("a=b; domain=example.com", "https://sub.example.com/", "a=b"),
            ("a=b; domain=.example.com", "https://sub.example.com/", "a=b"),
            ("a=b; domain=.example.com", "https://example.com/", "a=b"), ("a=b", "https://sub.example.com/", ""),
            ("a=b; domain=.", "https://example.com/", "a=b"), ("a=b; domain=.", "https://sub.example.com/", ""),
            ("a=b; domain=example.com.", "https://example.com/", ""),
            ("a=b; domain=.example.com", "https://fakeexample.com/", ""),
            ("a=b; domain=.example.com", "https://example.com.org/", ""),
        ])
    func domains(text: String, page: String, sent: String) {
        let jar = CookieJar()
        jar.set(text + "; path=/", from: "https://example.com/")
        #expect(jar.field(for: page) == sent)
        // The same in a file that another program reads.
        #expect(jar.field(for: "https://other.net/").isEmpty)
    }

    @Test(
        "a path is the folder of the page unless one is set, and matches whole segments",
        arguments: [
            ("a=b", "/app/login", "/app/dashboard", "a=b"), ("a=b", "/app/login", "/app", "a=b"),
            ("a=b", "/app/login", "/other", ""),
            ("a=b", "/foo", "/", "a=b"), ("a=b", "/path1/x", "/path2/file2.jsp", ""),
            ("a=b; path=/docs", "/docs", "/docsets", ""),
            ("a=b; path=/docs", "/docs", "/fr/docs", ""), ("a=b; path=/docs", "/docs", "/docs/Web/", "a=b"),
            ("a=b; path=/foo/bar", "/foo/bar", "/foo", ""), ("a=b; path=/cas/", "/cas/", "/cas/", "a=b"),
            ("a=b; path=/cas/", "/cas/", "/cas", ""), ("a=b; path=/blog", "/blog", "/blogroll", ""),
            ("a=b; path=/blog", "/blog", "/blog/roll", "a=b"),
            ("a=b; path=foo", "/x/y", "/x/z", "a=b"), ("a=b; path=", "/x/y", "/z", ""),
            ("a=b; path=/x", "/x?q=/y/z", "/x?q", "a=b"),
            ("a=b", "/x?q=/y/z", "/", "a=b"), ("a=b; path=/", "", "/any", "a=b"),
        ])
    func paths(text: String, from: String, to: String, sent: String) {
        let jar = CookieJar()
        jar.set(text, from: "https://example.com\(from)")
        #expect(jar.field(for: "https://example.com\(to)") == sent)
    }

    @Test("cookies with longer paths come first, then older cookies, and all cookies with the same name are sent")
    func order() {
        let jar = CookieJar()
        for (index, text) in [
            "a=1; Domain=example.com; Path=/bar", "c=1; Domain=example.com; Path=/", "b=2; Path=/bar", "d=2; Path=/",
            "c=3; Path=/",
        ].enumerated() {
            jar.set(text, from: "https://sub.example.com/bar", at: epoch + Double(index))
        }
        #expect(jar.field(for: "https://sub.example.com/bar", at: epoch + 9) == "a=1; b=2; c=1; d=2; c=3")
        // A cookie that is set again keeps its place.
        jar.set("a=9; Domain=example.com; Path=/bar", from: "https://sub.example.com/bar", at: epoch + 6)
        #expect(jar.field(for: "https://sub.example.com/bar", at: epoch + 9) == "a=9; b=2; c=1; d=2; c=3")
    }

    @Test("the limit of a cookie is one of its name and value together, and not of its attributes")
    func sizes() {
        for (name, value, isKept) in [(1, 4095, true), (1, 4096, false), (2000, 2096, true), (2000, 2097, false)] {
            let jar = CookieJar()
            let text = String(repeating: "n", count: name) + "=" + String(repeating: "v", count: value)
            let attributes = "; Path=/\(String(repeating: "p", count: 900)); X=\(String(repeating: "x", count: 900))"
            #expect((jar.set(text + attributes + "; Secure;", from: "https://example.com/") == nil) == isKept)
            let page = "https://example.com/\(String(repeating: "p", count: 900))/"
            #expect(jar.field(for: page).utf8.count == (isKept ? name + value + 1 : 0))
            #expect(jar.field(for: page.replacing("https", with: "http")).isEmpty)
        }
    }

    @Test(
        "a response without TLS can't replace, hide or remove a Secure cookie of the host or of its domain",
        arguments: [
            "a=2", "a=2; Path=/in", "a=2; Domain=example.com", "a=; Max-Age=0",
            "a=2; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "a=2; Path=/in/deeper",
        ])
    func secureStays(text: String) {
        for own in ["a=1; Secure; Path=/in", "a=1; Secure; Path=/in; Domain=example.com"] {
            let jar = CookieJar()
            jar.set(own, from: "https://www.example.com/in/")
            #expect(jar.set(text, from: "http://www.example.com/in/") != nil)
            #expect(jar.field(for: "https://www.example.com/in/deeper/x") == "a=1")
            // A shorter path doesn't overlay it, and another name is another cookie.
            #expect(jar.set("a=3; Path=/", from: "http://www.example.com/in/") == nil)
            #expect(jar.set("b=3", from: "http://www.example.com/in/") == nil)
            #expect(jar.field(for: "https://www.example.com/in/") == "a=1; b=3; a=3")
        }
    }

    @Test(
        "a date with a part out of range is no expiry, and costs no time",
        arguments: [
            "Sat, 00 Jan 2020 00:00:00 GMT", "Sat, 32 Jan 2020 00:00:00 GMT", "Thu, 01 Jan 99999999999 00:00:00 GMT",
            "Thu, 01 Jan 1600 00:00:00 GMT", "Thu, 01 Jan 2020 24:00:00 GMT", "Thu, 01 Jan 2020 00:60:00 GMT",
            "Thu, 01 Jan 2020 00:00:60 GMT", "Thu, 01 Jan 2020 99999999999999999999:00:00 GMT",
            "Thu, 31 Feb 2000 00:00:00 GMT",
        ])
    func datesOutOfRange(text: String) {
        let jar = CookieJar()
        jar.set("a=b; expires=\(text); path=/", from: "https://example.com/")
        let cookie = jar.cookies(for: url("https://example.com/"), at: epoch).first
        #expect(cookie?.value == "b" && cookie?.expiry == nil)
    }

    @Test("a cookie that a redirect sets is sent with the next hop instead of the value that the app has set itself")
    func redirectedLogin() async throws {
        let jar = CookieJar()
        let stub = StubTransport(.text("in"))
        stub.on("/page") { request in
            request.headers[.cookie]?.contains("session=new") == true
                ? .text("in") : .redirect(to: "/page").header(.setCookie, "session=new; Path=/")
        }
        let agent = NetworkAgent(baseURL: "https://shop.example", transport: stub, filters: [.cookies(jar)])
        _ = try await agent.send(
            Call<Data>(.get, "page") { $0.headers = ["Cookie": "session=stale; lang=de"] })
        #expect(stub.received.map { $0.headers[.cookie] } == ["session=stale; lang=de", "lang=de; session=new"])
        _ = try await agent.send(Call<Data>(.get, "other") { $0.headers = ["Cookie": "session=stale"] })
        #expect(stub.received.last?.headers[.cookie] == "session=stale")
    }

    @Test("a request that is sent again has each cookie once, its own and the jar's")
    func resent() async throws {
        let jar = CookieJar()
        jar.set("a=jar", from: "https://shop.example/")
        let again = ClosureFilter { exchange, next in
            for _ in 0..<2 { _ = try await next(exchange) }
            return try await next(exchange)
        }
        for filters in [[again, .cookies(jar)], [.cookies(jar), again]] as [[any Filter]] {
            let stub = StubTransport(.text("ok"))
            let agent = NetworkAgent(baseURL: "https://shop.example", transport: stub, filters: filters)
            _ = try await agent.send(Call<Data>(.get, "page"))
            _ = try await agent.send(Call<Data>(.get, "page") { $0.headers = ["Cookie": "b=own"] })
            let sent = stub.received.map { $0.headers.values(of: .cookie) }
            #expect(sent == Array(repeating: ["a=jar"], count: 3) + Array(repeating: ["b=own; a=jar"], count: 3))
        }
    }

    @Test(
        "a redirect replaces or removes the call's own cookie only if the jar accepts that",
        arguments: [
            ("session=; Max-Age=0", "lang=de"), ("session=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "lang=de"),
            ("session=new; Domain=other.example", "session=old; lang=de"),
            ("session=; Max-Age=0; Domain=other.example", "session=old; lang=de"),
            ("session=new; Path=/elsewhere", "session=old; lang=de"), ("other=1", "session=old; lang=de; other=1"),
        ])
    func redirectedChanges(field: String, sent: String) async throws {
        let stub = StubTransport(.text("in"))
        stub.on("/page", response: .redirect(to: "/there").header(.setCookie, field))
        let agent = NetworkAgent(baseURL: "https://shop.example", transport: stub, filters: [.cookies])
        _ = try await agent.send(Call<Data>(.get, "page") { $0.headers = ["Cookie": "session=old; lang=de"] })
        #expect(stub.received.map { $0.headers[.cookie] } == ["session=old; lang=de", sent])
    }

    @Test("a redirect that comes from a cache is followed with the cookies that the jar has now, and sets none itself")
    func cachedRedirect() async throws {
        let jar = CookieJar()
        let stub = StubTransport(.text("in"))
        stub.on(
            "/old",
            response: .redirect(to: "/new", status: 301).header("Cache-Control", "max-age=1000")
                .header(.setCookie, "session=first; Path=/new"))
        let agent = NetworkAgent(
            baseURL: "https://shop.example", transport: stub,
            filters: [.cookies(jar), .cache(.memory(), policy: .http)], time: ManualTimeSource(date: epoch))
        try await agent.send(Call<Data>(.get, "old"))
        for change in ["session=second; Path=/new", "session=; Path=/new; Max-Age=0"] {
            jar.set(change, from: "https://shop.example/")
            try await agent.send(Call<Data>(.get, "old"))
        }
        #expect(stub.received.map(\.url.path) == ["/old", "/new", "/new", "/new"])
        #expect(stub.received.map { $0.headers[.cookie] } == [nil, "session=first", "session=second", nil])
    }

    @Test("a cookie of the jar that a redirect removes isn't sent with the next hop or later")
    func removedByRedirect() async throws {
        let jar = CookieJar()
        jar.set("session=1; Path=/", from: "https://shop.example/")
        jar.set("lang=de; Path=/", from: "https://shop.example/")
        let stub = StubTransport(.text("out"))
        stub.on("/logout", response: .redirect(to: "/").header(.setCookie, "session=; Path=/; Max-Age=0"))
        let agent = NetworkAgent(
            baseURL: "https://shop.example", transport: stub, filters: [.cookies(jar)],
            time: ManualTimeSource(date: epoch))
        for path in ["logout", "later"] { try await agent.send(Call<Data>(.get, path)) }
        #expect(stub.received.map { $0.headers[.cookie] } == ["session=1; lang=de", "lang=de", "lang=de"])
        #expect(jar.cookies.map(\.name) == ["lang"])
    }

    @Test("the call's own Cookie field stays within its origin, and another origin gets its own cookies only")
    func ownFieldAcrossOrigins() async throws {
        let jar = CookieJar()
        jar.set("jar=1; Path=/", from: "https://shop.example/")
        jar.set("theirs=1; Path=/", from: "https://pay.example/")
        let stub = StubTransport(.text("in"))
        stub.on("/a", response: .redirect(to: "/b"))
        stub.on("/b", response: .redirect(to: "https://shop.example:8443/c"))
        stub.on("/c", response: .redirect(to: "https://pay.example/d"))
        let agent = NetworkAgent(
            baseURL: "https://shop.example", transport: stub, filters: [.cookies(jar)],
            time: ManualTimeSource(date: epoch))
        try await agent.send(Call<Data>(.get, "a") { $0.headers = ["Cookie": "own=canary"] })
        #expect(
            stub.received.map { $0.headers[.cookie] } == [
                "own=canary; jar=1", "own=canary; jar=1", "jar=1", "theirs=1",
            ])
    }

    @Test("an age of hundreds of digits is an age, and keeps the cookie", arguments: [19, 309, 4_000])
    func endlessAge(digits: Int) {
        let jar = CookieJar()
        #expect(jar.set("a=b; Max-Age=" + String(repeating: "9", count: digits), from: "https://shop.example/") == nil)
        #expect(jar.field(for: "https://shop.example/", at: epoch.addingTimeInterval(86_400)) == "a=b")
    }
}
