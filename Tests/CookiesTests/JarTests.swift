import Errand
import ErrandCache
import ErrandCookies
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("Cookie jars", .endsInTime, .leakChecked) struct JarTests {
    @Test(
        "a jar keeps 180 cookies per domain, 3,000 in all, and drops insecure, least recently used cookies first (5.7)"
    )
    func limits() {
        let jar = CookieJar()
        jar.set("secure=1; Secure", from: "https://a.example/")
        for number in 0..<250 { jar.set("n\(number)=1", from: "https://a.example/", at: epoch + Double(number)) }
        #expect(jar.count == 180 && jar.field(for: "https://a.example/").hasPrefix("secure=1; n71=1;"))
        for number in 0..<3_100 { jar.set("a=1", from: "https://h\(number).example/") }
        #expect(jar.count == 3_000)
        #expect(jar.field(for: "https://h3099.example/") == "a=1" && jar.field(for: "https://h0.example/").isEmpty)
    }

    @Test("the Cookie field for a request is available to other clients, and is nil without matching cookies")
    func field() throws {
        let jar = CookieJar()
        jar.set("a=1; Secure", from: "https://a.example/")
        jar.set("b=2", from: "https://a.example/")
        let url = try #require(URL(string: "https://a.example/x"))
        #expect(jar.cookieField(for: url) == "a=1; b=2")
        let plain = try #require(URL(string: "http://a.example/x"))
        #expect(jar.cookieField(for: plain) == "b=2")
        let other = try #require(URL(string: "https://b.example/"))
        #expect(jar.cookieField(for: other) == nil)
    }

    @Test("expired cookies are removed before valid cookies, and a recently used cookie stays")
    func eviction() {
        var policy = CookiePolicy()
        policy.limits.maximumCookiesPerDomain = 3
        let jar = CookieJar(policy: policy)
        jar.set("a=1", from: "https://x.example/")
        jar.set("old=1; Max-Age=5", from: "https://x.example/")
        jar.set("b=1; Path=/only", from: "https://x.example/")
        jar.set("c=1", from: "https://x.example/", at: epoch + 10)
        #expect(jar.cookies.map(\.name) == ["a", "b", "c"])
        _ = jar.field(for: "https://x.example/", at: epoch + 10)
        jar.set("d=1", from: "https://x.example/", at: epoch + 10)
        #expect(jar.cookies.map(\.name) == ["a", "c", "d"])
    }

    @Test("cookies set on a redirect are kept, and each hop gets its own")
    func redirects() async throws {
        let seen = Mutex<[String]>([])
        let transport = StubTransport { request in
            seen.withLock { $0.append("\(request.url.host ?? ""): \(request.headers[.cookie] ?? "none")") }
            switch request.url.path {
            case "/login": return .redirect(to: "/home").header(.setCookie, "s=1; Path=/").header(.setCookie, "t=2")
            case "/home": return .redirect(to: "https://other.example/land").header(.setCookie, "u=3; Path=/")
            case "/land": return .redirect(to: "https://shop.example/end").header(.setCookie, "theirs=4")
            default: return .text("ok")
            }
        }
        let jar = CookieJar()
        let agent = NetworkAgent(
            baseURL: "https://shop.example", transport: transport, filters: [.cookies(jar)],
            time: ManualTimeSource(date: epoch))
        try await agent.send(Call<Void>(.get, "login"))
        #expect(
            seen.withLock { $0 } == [
                "shop.example: none", "shop.example: s=1; t=2", "other.example: none", "shop.example: s=1; t=2; u=3",
            ])
        #expect(jar.field(for: "https://other.example/x") == "theirs=4")
    }

    @Test("several agents share a jar, and a host doesn't get another host's cookies")
    func shared() async throws {
        let jar = CookieJar()
        let stub = StubTransport { request in
            request.url.path == "/set" ? .text("").header(.setCookie, "a=\(request.url.host ?? "")") : .text("")
        }
        let agents = ["https://one.example", "https://two.example"].map {
            NetworkAgent(baseURL: $0, transport: stub, filters: [.cookies(jar)])
        }
        for agent in agents { try await agent.send(Call<Void>(.get, "set")) }
        for agent in agents { try await agent.send(Call<Void>(.get, "get")) }
        try await agents[1].send(Call<Void>(.get, "https://one.example/get"))
        #expect(
            stub.received.suffix(3).map { $0.headers[.cookie] } == [
                "a=one.example", "a=two.example", "a=one.example",
            ])
    }

    @Test("a request's own cookies take precedence over the jar's")
    func ownCookies() async throws {
        let jar = CookieJar()
        try jar.insert(Cookie("a", "jar", domain: "shop.example"))
        try jar.insert(Cookie("b", "jar", domain: "shop.example"))
        let stub = StubTransport(.text("ok"))
        let agent = NetworkAgent(baseURL: "https://shop.example", transport: stub, filters: [.cookies(jar)])
        try await agent.send(Call<Void>(.get, "") { $0.headers = ["Cookie": "a=own"] })
        try await agent.send(Call<Void>(.get, ""))
        #expect(stub.received.map { $0.headers[.cookie] } == ["a=own; b=jar", "a=jar; b=jar"])
    }

    @Test("several Cookie fields of a request are sent as one field, with and without the jar's cookies")
    func ownFields() async throws {
        let jar = CookieJar()
        try jar.insert(Cookie("b", "jar", domain: "shop.example"))
        try jar.insert(Cookie("c", "jar", domain: "shop.example"))
        let stub = StubTransport(.text("ok"))
        let agent = NetworkAgent(baseURL: "https://shop.example", transport: stub, filters: [.cookies(jar)])
        let call = Call<Void>(.get, "") {
            $0.headers.add("Cookie", "a=1, 2")
            $0.headers.add("cookie", "b=own")
        }
        try await agent.send(call)
        jar.remove()
        try await agent.send(call)
        #expect(stub.received.map { $0.headers[.cookie] } == ["a=1, 2; b=own; c=jar", "a=1, 2; b=own"])
        #expect(stub.received.allSatisfy { $0.headers.values(of: .cookie).count == 1 })
    }

    /// A custom cache that has a stored response and revalidates it.
    private struct Revalidating: Filter {
        let stages: FilterStages = .hop
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            var exchange = exchange
            exchange.http.headers["If-None-Match"] = "\"1\""
            let response = try await next(exchange)
            guard response.status == 304 else { return response }
            return HTTPResponse(
                to: exchange.http, status: 200, headers: ["Set-Cookie": "old=1"], body: HTTPBody(Data("stored".utf8)),
                source: .stored(age: .seconds(9), reason: "validated"))
        }
    }

    @Test("the cookies of a 304 to a cache are kept, and the stored response's cookies aren't")
    func validated() async throws {
        for cache in [.cache(.memory()), Revalidating()] as [any Filter] {
            let count = Counter()
            let stub = StubTransport { request in
                let number = count.increment()
                let response = request.headers.contains("If-None-Match") ? StubResponse.status(304) : .text("body")
                return response.header("ETag", "\"1\"").header("Cache-Control", "max-age=0")
                    .header(.setCookie, "n\(number)=1")
            }
            let jar = CookieJar()
            let agent = NetworkAgent(
                baseURL: "https://x.example", transport: stub, filters: [.cookies(jar), cache],
                time: ManualTimeSource(date: epoch))
            for _ in 0..<3 { try await agent.send(Call<Void>(.get, "a")) }
            #expect(stub.received.count == 3 && jar.cookies.map(\.name) == ["n1", "n2", "n3"], "\(cache.explanation)")
        }
    }

    @Test("the cookies of a validation in the background, and of a refused response that is sent again, are kept")
    func background() async throws {
        let time = ManualTimeSource(date: epoch)
        let stub = StubTransport()
        let head = StubResponse.text("body").header("Cache-Control", "max-age=1, stale-while-revalidate=1000")
        stub.on("/a", response: head.header(.setCookie, "first=1"), head.header(.setCookie, "second=1"))
        let jar = CookieJar()
        let again = ClosureFilter(.hop) { exchange, next in
            let response = try await next(exchange)
            return response.status == 401 ? try await next(exchange) : response
        }
        let agent = NetworkAgent(
            baseURL: "https://x.example", transport: stub, filters: [.cookies(jar), .cache(.memory()), again],
            time: time)
        try await agent.send(Call<Void>(.get, "a"))
        time.advance(by: .seconds(5))
        try await agent.send(Call<Void>(.get, "a"))
        try await eventually { jar.cookies.map(\.name) == ["first", "second"] }
        stub.on("/b", response: .status(401).header(.setCookie, "refused=1"), .text("ok").header(.setCookie, "good=1"))
        try await agent.send(Call<Void>(.get, "b"))
        #expect(jar.cookies.map(\.name) == ["first", "second", "refused", "good"])
    }

    @Test("a filter's own response sets cookies, and a cache hit doesn't")
    func ownResponses() async throws {
        let jar = CookieJar()
        let server = ClosureFilter(.hop) { exchange, _ in
            HTTPResponse(to: exchange.http, status: 200, headers: ["Set-Cookie": "own=1"])
        }
        let stored = ClosureFilter(.hop) { exchange, _ in
            HTTPResponse(
                to: exchange.http, status: 200, headers: ["Set-Cookie": "hit=1"],
                source: .stored(age: .zero, reason: "fresh"))
        }
        for filter in [server, stored] {
            let agent = NetworkAgent(baseURL: "https://x.example", transport: .stub, filters: [.cookies(jar), filter])
            try await agent.send(Call<Void>(.get, "a"))
        }
        #expect(jar.cookies.map(\.name) == ["own"])
    }

    @Test("storing the cookies of a response costs about as much as parsing them, for a jar of any size")
    func manyFields() async throws {
        typealias Field = @Sendable (Int) -> String
        let refused: Field = { "n\($0)=1; Path=/a/b; Domain=other.example" }
        let kinds: [(name: String, scheme: String, field: Field)] = [
            ("many paths", "http", { "a=\($0); Path=/a/b/\($0); Domain=evil.example" }),
            ("many names", "https", { "n\($0)=1; Path=/a/b; Domain=evil.example" }),
            ("many secure names", "https", { "n\($0)=1; Secure; Domain=evil.example" }),
            ("names of other cookies", "http", { "s\($0 % 150)=\($0); Path=/\($0); Domain=evil.example" }),
            ("ended at once", "https", { "n\($0)=1; Max-Age=0; Domain=evil.example" }),
        ]
        for kind in kinds {
            let control = try await cost(of: refused, kind.scheme)
            let found = try await cost(of: kind.field, kind.scheme)
            #expect(found < max(control, 0.002) * 10, "\(kind.name): \(found) s, \(control) s for refused ones")
        }
    }

    /// Returns the CPU time for a response that sets 2,000 cookies, if the jar is full of other hosts' cookies.
    private func cost(of field: @Sendable (Int) -> String, _ scheme: String) async throws -> Double {
        let headers = HTTPHeaders((0..<2_000).map { HTTPHeaders.Field(.setCookie, field($0)) })
        var least = Double.infinity
        for _ in 0..<3 {
            let jar = CookieJar()
            for host in 0..<20 {
                for name in 0..<150 {
                    try jar.insert(Cookie("s\(name)", "1", domain: "h\(host).evil.example", isSecure: true))
                }
            }
            let times = Log<Double>()
            let before = ClosureFilter(.hop) { exchange, next in
                let response = try await next(exchange)
                times.add(Self.processorTime())
                return response
            }
            let server = ClosureFilter(.hop) { exchange, _ in
                times.add(Self.processorTime())
                return HTTPResponse(to: exchange.http, status: 200, headers: headers)
            }
            let agent = NetworkAgent(
                baseURL: "\(scheme)://www.evil.example", transport: .stub, filters: [before, .cookies(jar), server])
            try await agent.send(Call<Void>(.get, "a/b"))
            #expect(times.count == 2 && jar.count <= 3_000)
            least = min(least, times.all[1] - times.all[0])
        }
        return least
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test("cookies expire by the agent's clock")
    func time() async throws {
        let time = ManualTimeSource(date: epoch)
        let stub = StubTransport()
        stub.on("/", response: .text("ok").header(.setCookie, "a=1; Max-Age=60"), .text("ok"))
        let agent = NetworkAgent(baseURL: "https://x.example", transport: stub, filters: [.cookies], time: time)
        try await agent.send(Call<Void>(.get, "/"))
        time.advance(by: .seconds(59))
        try await agent.send(Call<Void>(.get, "/"))
        time.advance(by: .seconds(1))
        try await agent.send(Call<Void>(.get, "/"))
        #expect(stub.received.map { $0.headers[.cookie] } == [nil, "a=1", nil])
    }

    @Test("the app's own cookies are checked like a server's, and removed by a condition")
    func insertion() throws {
        let jar = CookieJar()
        try jar.insert(Cookie("a", "1", domain: ".Example.com", expiry: epoch + 60), at: epoch)
        #expect(jar.cookies.first?.domain == "example.com")
        let wrong: [(Cookie, CookieRejection)] = [
            (Cookie("a;b", "1", domain: "x.example"), .controlCharacter),
            (Cookie("a", "1\r\nSet-Cookie: b=2", domain: "x.example"), .controlCharacter),
            (Cookie("", "", domain: "x.example"), .empty), (Cookie("a", "1", domain: ""), .noHost),
            (Cookie("a", "1", domain: "com"), .publicSuffix),
            (Cookie("a", "1", domain: "x.example", path: "x"), .invalidPath),
            (Cookie("a", "1", domain: "x.example", sameSite: .none), .sameSiteNoneWithoutSecure),
            (Cookie("__Host-a", "1", domain: "x.example", isSecure: true), .brokenPrefix),
        ]
        for (cookie, expected) in wrong {
            let error = #expect(throws: CookieRejection.self) { try jar.insert(cookie, at: epoch) }
            #expect(error == expected, "\(cookie)")
        }
        jar.set("b=2", from: "https://x.example/")
        #expect(jar.remove { $0.expiry == nil } == 1 && jar.count == 1 && jar.remove() == 1 && jar.count == 0)
    }

    @Test("a refused cookie is a note for accessories; no description, dump or log shows a value")
    func secrets() async throws {
        let jar = CookieJar()
        let log = NoteLog()
        let agent = NetworkAgent(
            baseURL: "https://x.example",
            transport: .stub(
                .text("").header(.setCookie, "a=canary").header(.setCookie, "b=canary; Domain=evil.example")),
            filters: [.cookies(jar)], accessories: [log])
        try await agent.send(Call<Void>(.get, ""))
        try await agent.send(Call<Void>(.get, ""))
        var text = "\(jar) \(jar.cookies) \(agent.explain(Call<Void>(.get, "")))"
        dump(jar, to: &text)
        dump(jar.cookies, to: &text)
        #expect(!text.contains("canary") && text.contains("a=•••") && !log.text.contains("canary"))
        #expect(log.text.contains("foreignDomain") && log.text.contains("Cookie: •••"))
    }

    final class NoteLog: Accessory {
        private let lines = Mutex("")
        var text: String { lines.withLock { $0 } }

        func activity(_ activity: Activity, did event: ActivityEvent) {
            if case .sending(let request, _) = event { lines.withLock { $0 += "\(request.headers)\n" } }
            lines.withLock { $0 += "\(event)\n" }
        }
    }

    @Test("a login by a cookie on a real server, with bytes that are not ASCII")
    func realServer() async throws {
        let server = try TestServer()
        server.on("/login", .redirect(to: "/home").header(.setCookie, "name=Zo\u{EB}; HttpOnly; Path=/"))
        server.on("/home") { .text($0.headers[.cookie] ?? "none") }
        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [.cookies])
        #expect(try await agent.send(Call<String>(.get, "login")).value == "name=Zo\u{EB}")
    }

    @Test("10,000 mutated fields don't crash the jar, or send a cookie to another host")
    func mutations() {
        var random = SeededGenerator(seed: 7)
        let seeds = [
            "a=b; Domain=example.com; Path=/x; Secure; HttpOnly; Max-Age=60; SameSite=None",
            "__Host-a=b; Secure; Path=/", "a=b; Expires=Sun, 09 Sep 2029 01:46:40 GMT; Domain=.www.example.com",
            "=x; domain=com; path=", "a=b; Domain=victim.example; Domain=www.example.com.victim.example",
        ]
        let pieces = [
            "=", ";", ".", " ", "Domain=", "victim.example", "com", "\u{0}", "é", "/", "-", "\"", "%2e", "\t",
        ]
        let jar = CookieJar()
        for _ in 0..<10_000 {
            var bytes = Array(seeds[Int(random.next() % UInt64(seeds.count))].utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                switch random.next() % 4 {
                case 0: if place < bytes.count { bytes.remove(at: place) }
                case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                case 2: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &random) }
                default: bytes.insert(contentsOf: pieces[Int(random.next() % UInt64(pieces.count))].utf8, at: place)
                }
            }
            jar.set(String(decoding: bytes, as: UTF8.self), from: "https://www.example.com/x")
        }
        #expect(jar.count > 0 && jar.count <= 180 * 2)
        for host in [
            "victim.example", "evil.com", "com", "www.example.com.victim.example", "xwww.example.com", "example",
        ] {
            let isBelow = host.hasSuffix(".example.com")
            #expect(isBelow || jar.field(for: "https://\(host)/x").isEmpty, "\(host)")
        }
        for cookie in jar.cookies {
            #expect(["example.com", "www.example.com"].contains(cookie.domain), "\(cookie.domain)")
        }
    }

    @Test("many tasks use one jar concurrently")
    func tasks() async {
        let jar = CookieJar()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for step in 0..<500 {
                        jar.set("n\(number)=\(step)", from: "https://x.example/")
                        _ = jar.field(for: "https://x.example/")
                        if step % 100 == 0 { jar.remove { $0.name == "n\(number)" } }
                    }
                }
            }
        }
        #expect(jar.count == 8 && jar.cookies.allSatisfy { $0.value == "499" })
    }
}
