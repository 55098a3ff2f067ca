import Errand
import ErrandInspector
import ErrandTestSupport
import ErrandTesting
import Foundation
import Testing

@Suite("Who may read the inspector", .endsInTime, .leakChecked)
struct AccessTests {
    @Test("the token opens the page once, sets a strict cookie, and the page permits only its own script and style")
    func firstVisit() throws {
        let visit = try Visit()
        let visitor = try Visitor(port: visit.port)
        visitor.send("GET /?token=\(visit.token) HTTP/1.1\r\nHost: localhost:\(visit.port)\r\n\r\n")
        let reply = try visitor.response()
        #expect(reply.status == 200)
        let cookie = try #require(reply.field("set-cookie"))
        #expect(cookie.hasSuffix("; HttpOnly; SameSite=Strict; Path=/") && !cookie.contains(visit.token))
        let policy = try #require(reply.field("content-security-policy"))
        #expect(policy.hasPrefix("default-src 'none';") && !policy.contains("unsafe") && !policy.contains("http"))
        let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([0-9a-f]+)'/)).1
        #expect(reply.text.matches(of: /<script/).count == 1 && reply.text.contains("<script nonce=\"\(nonce)\">"))
        #expect(!reply.text.contains(" style=") && !reply.text.contains("onclick"))
        #expect(reply.text.firstMatch(of: /(src|href)="(?!data:,)/) == nil && !reply.text.contains("https://"))
        for (name, value) in [
            ("cache-control", "no-store"), ("x-frame-options", "DENY"), ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"), ("cross-origin-resource-policy", "same-origin"),
        ] { #expect(reply.field(name) == value) }
        #expect(!reply.head.lowercased().contains("access-control"))
        // Another visit gets another nonce.
        #expect(try visit.request("GET", "/").field("content-security-policy") != policy)
    }

    @Test(
        "every path needs the cookie or, for the page, the token",
        arguments: ["/", "/events", "/activity?id=1", "/archive"])
    func needsCookie(path: String) throws {
        let visit = try Visit()
        for cookie in [
            "", "errand-inspector-\(visit.port)=", "\(visit.cookie)0", "other=1", String(visit.cookie.dropLast()),
        ] {
            let reply = try visit.request("GET", path, ["Cookie": cookie])
            #expect(reply.status == 403, "\(cookie)")
            #expect(reply.text.contains("Open the address"))
        }
        #expect(try visit.request("GET", "/?token=\(visit.token)0", ["Cookie": ""]).status == 403)
        #expect(try visit.request("GET", "/?token=", ["Cookie": ""]).status == 403)
        #expect(try visit.request("GET", "/activity?token=\(visit.token)", ["Cookie": ""]).status == 403)
        #expect(try visit.request("GET", "/", ["Cookie": "a=b; \(visit.cookie); c=d"]).status == 200)
    }

    @Test("a name that DNS points to this device is refused")
    func rebinding() throws {
        let visit = try Visit()
        for host in [
            "evil.example", "evil.example:\(visit.port)", "127.0.0.1", "127.0.0.1:1", "localhost",
            "localhost.:\(visit.port)", "127.0.0.1:\(visit.port).evil.example", "0.0.0.0:\(visit.port)",
            "[::]:\(visit.port)",
        ] {
            #expect(try visit.request("GET", "/", ["Host": host]).status == 421, "\(host)")
            let withToken = try visit.request("GET", "/?token=\(visit.token)", ["Host": host])
            #expect(withToken.status == 421 && withToken.field("set-cookie") == nil, "\(host)")
        }
        for host in [
            "127.0.0.1:\(visit.port)", "[::1]:\(visit.port)", "localhost:\(visit.port)", "LOCALHOST:\(visit.port)",
        ] {
            #expect(try visit.request("GET", "/", ["Host": host]).status == 200, "\(host)")
        }
    }

    @Test("other origins are rejected, even other ports of the same host")
    func origins() throws {
        let visit = try Visit()
        for origin in [
            "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:\(visit.port)",
            "http://localhost:\(visit.port)", "http://127.0.0.1:\(visit.port)/",
        ] {
            #expect(try visit.request("GET", "/events", ["Origin": origin]).status == 403, "\(origin)")
            #expect(try visit.request("POST", "/clear", ["Origin": origin], body: "{}").status == 403, "\(origin)")
        }
        for site in ["cross-site", "same-site", "other"] {
            #expect(try visit.request("GET", "/archive", ["Sec-Fetch-Site": site]).status == 403, "\(site)")
        }
        #expect(try visit.request("POST", "/clear", ["Origin": ""], body: "{}").status == 403)
        #expect(try visit.request("POST", "/clear", ["Content-Type": "text/plain"], body: "{}").status == 403)
        #expect(try visit.request("POST", "/clear", body: "{}").status == 200)
        #expect(try visit.request("GET", "/", ["Sec-Fetch-Site": "none"]).status == 200)
        let options = try visit.request("OPTIONS", "/tools", ["Origin": "http://evil.example"])
        #expect(options.status == 403 && !options.head.lowercased().contains("access-control"))
    }

    @Test("another origin can't turn tools on, and guessing a token opens nothing")
    func toolsOfOthers() async throws {
        let visit = try Visit()
        let settings = #"{"delay":0,"bandwidth":0,"failures":5,"failureStatus":0,"rules":[]}"#
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            let reply = try visit.request(
                method, "/tools", ["Origin": "http://evil.example", "Content-Type": "application/json"], body: settings)
            #expect(reply.status == 403, "\(method)")
            #expect(!reply.head.lowercased().contains("access-control"))
        }
        #expect(try visit.request("POST", "/tools", ["Cookie": ""], body: settings).status == 403)
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.text("ok")), filters: visit.inspector.filters)
        _ = try await agent.send(Call<Data>(.get, "a"))
        // Random guesses, and tokens that are almost right.
        var guesses = (0..<200).map { _ in (0..<48).map { _ in String("0123456789abcdef".randomElement()!) }.joined() }
        guesses += [String(visit.token.dropLast()), visit.token + "0", visit.token.uppercased() + "g", "%00", "\u{41}"]
        guesses.append(String(visit.token.dropLast()) + (visit.token.last == "0" ? "1" : "0"))
        for guess in guesses {
            let reply = try visit.request("GET", "/?token=\(guess)", ["Cookie": ""])
            #expect(reply.status == 403 && reply.field("set-cookie") == nil, "\(guess)")
        }
    }

    @Test(
        "no path is a file",
        arguments: [
            "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/events/..",
            "/EVENTS", "/index.html", "/favicon.ico", "/activity/1", "/?a=b/../../etc/passwd",
        ])
    func traversal(path: String) throws {
        let visit = try Visit()
        let reply = try visit.request("GET", path)
        #expect(reply.status == (path.hasPrefix("/?") ? 200 : 404))
        #expect(!reply.text.contains("root:"))
    }

    @Test("methods and unknown activities are refused")
    func unknown() throws {
        let visit = try Visit()
        #expect(try visit.request("PUT", "/").status == 405)
        #expect(try visit.request("DELETE", "/clear").status == 405)
        #expect(try visit.request("POST", "/", body: "{}").status == 404)
        for id in ["0", "-1", "x", "99999999999999999999999", "1e3", ""] {
            #expect(try visit.request("GET", "/activity?id=\(id)").status == 404, "\(id)")
            #expect(try visit.request("GET", "/archive?id=\(id)").status == 404, "\(id)")
        }
    }

    @Test("an inspector that isn't started doesn't listen, and each start has its own token")
    func starting() throws {
        let inspector = TrafficInspector()
        #expect(!inspector.isListening)
        let visit = try Visit(inspector)
        #expect(inspector.isListening)
        let second = #expect(throws: InspectorError.self) { try inspector.start(inReleaseBuilds: true) { _ in } }
        #expect(second?.code == .alreadyStarted)
        inspector.stop()
        #expect(!inspector.isListening)
        #expect(throws: Visitor.Refused.self) { try Visitor(port: visit.port) }
        var line = ""
        // The port is free again, and the old cookie and token are worthless.
        let address = try inspector.start(port: visit.port, inReleaseBuilds: true) { line = $0 }
        #expect(address.port == Int(visit.port) && line == "Errand inspector: \(address)")
        #expect(try visit.request("GET", "/").status == 403)
        #expect(try visit.request("GET", "/?token=\(visit.token)").status == 403)
        inspector.stop()
        inspector.stop()
    }

    @Test("a taken port is an error")
    func takenPort() throws {
        let visit = try Visit()
        let error = #expect(throws: InspectorError.self) {
            try TrafficInspector().start(port: visit.port, inReleaseBuilds: true) { _ in }
        }
        #expect(
            error?.code == .listeningFailed && "\(error!)".hasPrefix("listeningFailed: the inspector can't listen: "))
    }

    @Test("releasing the last owner stops the server")
    func lastOwner() throws {
        var visit: Visit? = try Visit(watchForLeaks(TrafficInspector()))
        let port = try #require(visit?.port)
        _ = try Visitor(port: port)
        visit = nil
        #expect(throws: Visitor.Refused.self) { try Visitor(port: port) }
    }

    @Test("a release build starts only if told to")
    func releaseBuild() throws {
        let inspector = TrafficInspector()
        defer { inspector.stop() }
        #if DEBUG
        try inspector.start { _ in }
        #expect(inspector.isListening)
        #else
        let error = #expect(throws: InspectorError.self) { try inspector.start { _ in } }
        #expect(error?.code == .releaseBuild && !inspector.isListening)
        #endif
    }
}
