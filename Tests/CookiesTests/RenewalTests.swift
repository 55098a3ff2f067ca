import Errand
import ErrandCookies
import ErrandTesting
import Foundation
import Testing

@Suite("Renewing and removing cookies", .endsInTime, .leakChecked) struct RenewalTests {
    private let page = "https://shop.example/a/b"

    @Test("a cookie that is set again expires as the new field specifies")
    func sliding() {
        let jar = CookieJar()
        jar.set("s=1; Max-Age=60", from: page)
        jar.set("s=1; Max-Age=60", from: page, at: epoch + 50)
        #expect(jar.field(for: page, at: epoch + 100) == "s=1")
        jar.set("s=1", from: page, at: epoch + 100)
        #expect(jar.field(for: page, at: epoch + 10_000) == "s=1")
        jar.set("s=1; Max-Age=5", from: page, at: epoch + 10_000)
        #expect(jar.field(for: page, at: epoch + 10_005).isEmpty)
    }

    @Test("each day of a leap year is read correctly on any day")
    func days() throws {
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        // 1 January 2024 and 1 February 2023, 00:00:00 UTC.
        let (newYear, today) = (Date(timeIntervalSince1970: 1_704_067_200), Date(timeIntervalSince1970: 1_675_209_600))
        var policy = CookiePolicy()
        policy.maximumAge = .seconds(4_000 * 86_400)
        var past = 0
        for (month, length) in lengths.enumerated() {
            for day in 1...length {
                let jar = CookieJar(policy: policy)
                jar.set("a=b; Expires=Mon, \(day)-\(names[month])-24 15:13:10 GMT", from: page, at: today)
                let expected = newYear + Double(past * 86_400 + 54_790)
                #expect(jar.cookies.first?.expiry == expected, "\(day) \(names[month])")
                past += 1
            }
        }
    }

    @Test("one response sets and removes cookies of the same name for a domain and its parent")
    func removalInOneResponse() async throws {
        let response = StubResponse.text("ok")
            .header(.setCookie, "skey=1; PATH=/; DOMAIN=qq.example;")
            .header(.setCookie, "key=2; PATH=/; DOMAIN=web2.qq.example; ;")
            .header(.setCookie, "key=; EXPIRES=Fri, 02-Jan-1970 00:00:00 GMT; PATH=/; DOMAIN=qq.example;")
            .header(.setCookie, "skey=3; PATH=/; DOMAIN=web2.qq.example;")
        let (jar, stub) = (CookieJar(), StubTransport(response))
        let agent = NetworkAgent(
            baseURL: "https://web2.qq.example", transport: stub, filters: [.cookies(jar)],
            time: ManualTimeSource(date: epoch))
        try await agent.send(Call<Void>(.get, ""))
        try await agent.send(Call<Void>(.get, ""))
        #expect(stub.received.last?.headers[.cookie] == "skey=1; key=2; skey=3")
    }

    @Test("a server removes a cookie that the app has added, with or without the dot before its domain")
    func removalOfAdded() throws {
        for (domain, attribute) in [
            ("shop.example", "shop.example"), ("shop.example", ".shop.example"), (".shop.example", "shop.example"),
            (".shop.example", ".Shop.Example"),
        ] {
            let jar = CookieJar()
            try jar.insert(Cookie("s", "1", domain: domain), at: epoch)
            jar.set("s=; Domain=\(attribute); Path=/; Max-Age=0", from: page)
            #expect(jar.count == 0, "\(domain) \(attribute)")
        }
        let jar = CookieJar()
        try jar.insert(Cookie("s", "1", domain: "localhost", isHostOnly: true), at: epoch)
        jar.set("s=; Domain=localhost; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", from: "http://localhost:8088/")
        #expect(jar.count == 0)
    }
}

@Suite("Names and values that servers write", .endsInTime, .leakChecked) struct UnusualCookieTests {
    private let page = "https://shop.example/"

    @Test(
        "a quote is an ordinary character, alone, in pairs and around a number",
        arguments: ["a=\"", "a=\"\"", "a=\"\"\"", "a=b\"", "a=\"b", "\"=b"])
    func quotes(text: String) {
        let jar = CookieJar()
        #expect(jar.set(text + "; Path=/", from: page) == nil && jar.field(for: page) == text)
    }

    @Test("an age in quotes is ignored, as in browsers: the cookie lasts for the session")
    func quotedAge() {
        let jar = CookieJar()
        jar.set("a=b; Max-Age=\"0\"; Path=\"/x\"", from: page)
        #expect(jar.field(for: page, at: epoch + 1e6) == "a=b" && jar.cookies.first?.expiry == nil)
    }

    @Test("a name with blanks within it is read back unchanged, with a value and without")
    func blanks() {
        let jar = CookieJar()
        for text in ["Shop Of Ada_Language=en-ca; Path=/", "Class Of Ada CMSs=; Path=/; Secure"] {
            #expect(jar.set(text, from: page) == nil)
        }
        #expect(jar.field(for: page) == "Shop Of Ada_Language=en-ca; Class Of Ada CMSs=")
    }
}

@Suite("Secure cookies", .endsInTime, .leakChecked) struct SecureCookieTests {
    @Test(
        "this machine counts as secure like https: its servers set and get Secure cookies and prefixed cookies",
        arguments: ["http://localhost:8080/", "http://LOCALHOST/", "http://127.0.0.1:1/", "http://[::1]/"])
    func loopback(page: String) {
        let jar = CookieJar()
        #expect(jar.set("a=1; Secure; SameSite=None", from: page) == nil)
        #expect(jar.set("__Host-b=2; Secure; Path=/", from: page) == nil)
        #expect(jar.set("__Secure-c=3; Secure", from: page) == nil)
        #expect(jar.field(for: page) == "a=1; __Host-b=2; __Secure-c=3")
        #expect(jar.set("__Host-d=4; Path=/", from: page) == .brokenPrefix)
    }

    @Test(
        "another machine, or a name that only looks like this machine's, doesn't count as secure",
        arguments: [
            "http://192.168.0.7/", "http://localhost.example/", "http://x.localhost/", "http://127.0.0.1.example/",
            "http://10.0.0.1/",
        ])
    func elsewhere(page: String) {
        #expect(CookieJar().set("a=1; Secure", from: page) == .insecureOrigin)
    }

    @Test("a wss URL gets Secure cookies, and a ws URL does not")
    func sockets() throws {
        let jar = CookieJar()
        jar.set("a=1; Secure; Path=/", from: "https://shop.example/")
        jar.set("b=2; Path=/", from: "https://shop.example/")
        #expect(jar.field(for: "wss://shop.example/socket") == "a=1; b=2")
        #expect(jar.field(for: "WSS://shop.example/socket") == "a=1; b=2")
        #expect(jar.field(for: "ws://shop.example/socket") == "b=2")
    }
}
