import Errand
import ErrandEssentials
import ErrandPlatform
import ErrandSystemTransport
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandOAuth

@Suite("Signing in over the loopback interface", .endsInTime, .leakChecked) struct LoopbackTests {
    /// Sends a request to the listener and returns the response.
    private static func send(
        _ url: String, _ method: HTTPMethod = .get, host: String? = nil
    ) async throws -> HTTPResponse {
        var call = Call<HTTPResponse>(method, url)
        call.acceptableStatuses = .any
        if let host { call.headers[.host] = host }
        return try await NetworkAgent(baseURL: "", transport: .system).send(call).value
    }

    /// Waits for the listener's redirect while `act` sends requests to it. Returns the redirect and its URI.
    private static func listen(
        _ browser: LoopbackBrowser? = nil, act: @escaping @Sendable (_ redirectURI: String) async throws -> Void
    ) async throws -> (redirect: String, uri: String) {
        let uri = Mutex("")
        var own = LoopbackBrowser { _ in try await act(uri.withLock { $0 }) }
        if let browser {
            (own.path, own.addresses, own.timeout, own.time) = (
                browser.path, browser.addresses, browser.timeout, browser.time
            )
            own.message = browser.message
        }
        let redirect = try await own.redirect(
            from: SignInPage { redirectURI in
                uri.withLock { $0 = redirectURI }
                return try #require(URL(string: "https://id.example.com/authorize"))
            })
        return (redirect, uri.withLock { $0 })
    }

    @Test(
        "a user signs in with a page that redirects to a port of this machine",
        arguments: [
            LoopbackBrowser.Address.ipv4, .ipv6,
        ])
    func signIn(address: LoopbackBrowser.Address) async throws {
        let server = try AuthorizationServer()
        let pages = Log<String>()
        var browser = LoopbackBrowser { url in
            let redirect = try await RobotBrowser.redirect(of: url)
            let page = try await Self.send(redirect)
            #expect(page.status == 200 && page.headers[.cacheControl] == "no-store")
            pages.add(try page.text())
        }
        browser.addresses = [address]
        browser.message = "Done <here> & there"
        let token = try await server.client().signIn(browser: browser)
        #expect(token.kind == .bearer)
        let uri = try #require(server.received("/authorize").first?.query("redirect_uri"))
        #expect(uri.hasPrefix(address == .ipv4 ? "http://127.0.0.1:" : "http://[::1]:") && uri.hasSuffix("/callback"))
        try await eventually { pages.count == 1 }
        #expect(pages.all[0].contains("Done &lt;here&gt; &amp; there"))
    }

    @Test("a server that compares redirect URIs exactly gets the registered port and localhost")
    func exactURI() async throws {
        // Keeps the port from other tests. A socket that doesn't listen leaves it to the browser's listener.
        let (reserved, port) = try LoopbackSocket.bound(to: 0, ipv6: false)
        defer { LoopbackSocket.end(reserved) }
        let server = try AuthorizationServer()
        var browser = LoopbackBrowser { url in
            _ = try await Self.send(try await RobotBrowser.redirect(of: url))
        }
        (browser.port, browser.usesLocalhost) = (port, true)
        #expect(try await server.client().signIn(browser: browser).kind == .bearer)
        let uri = try #require(server.received("/authorize").first?.query("redirect_uri"))
        #expect(uri == "http://localhost:\(port)/callback")
    }

    @Test("a port that is in use is named in the error")
    func takenPort() async throws {
        let server = try AuthorizationServer()
        let (taken, port) = try LoopbackSocket.listen(ipv6: false, port: 0, backlog: 1)
        defer { LoopbackSocket.end(taken) }
        var browser = LoopbackBrowser { _ in }
        (browser.port, browser.addresses) = (port, [.ipv4])
        let error = await failure { [browser] in _ = try await server.client().signIn(browser: browser) }
        #expect(error?.code == .browserFailed && error?.description.contains("port \(port)") == true)
    }

    @Test("other requests are rejected without ending the sign-in, and the port closes after the redirect")
    func others() async throws {
        let statuses = Log<Int>()
        let (redirect, uri) = try await Self.listen { uri in
            let port = try #require(uri.split(separator: ":").last?.split(separator: "/").first)
            let origin = "http://127.0.0.1:\(port)"
            for (url, method, host) in [
                (origin + "/favicon.ico", HTTPMethod.get, nil), (origin + "/callback/", .get, nil),
                (origin + "/", .get, nil), (uri + "?code=evil", .post, nil), (uri + "?code=evil", .head, nil),
                (uri + "?code=evil", .get, "evil.example.com"), (uri + "?code=evil", .get, "localhost:\(port)"),
                (uri + "?code=evil", .get, "127.0.0.1"),
            ] { statuses.add(try await Self.send(url, method, host: host).status) }
            _ = try await Self.send(uri + "?code=good&state=s%20t")
        }
        #expect(redirect == uri + "?code=good&state=s%20t")
        #expect(statuses.all == [404, 404, 404, 405, 405, 421, 421, 421])
        await #expect(throws: ErrandError.self) { try await Self.send(uri + "?code=late") }
    }

    @Test("a redirect of another sign-in is rejected, and doesn't end this sign-in") func foreign() async throws {
        let server = try AuthorizationServer()
        let statuses = Log<Int>()
        let browser = LoopbackBrowser { url in
            let redirect = try await RobotBrowser.redirect(of: url)
            let address = String(redirect.prefix { $0 != "?" })
            for query in [
                "", "?code=evil", "?code=evil&state=other", "?error=access_denied", "?state=%25", "?code=a&code=b",
            ] {
                statuses.add(try await Self.send(address + query).status)
            }
            statuses.add(try await Self.send(redirect).status)
        }
        #expect(try await server.client().signIn(browser: browser).kind == .bearer)
        try await eventually { statuses.count == 7 }
        #expect(statuses.all == [400, 400, 400, 400, 400, 400, 200])
    }

    @Test("connections that send no bytes, too many bytes or invalid HTTP don't block the redirect") func slow()
        async throws
    {
        let (redirect, uri) = try await Self.listen { uri in
            let port = try #require(URL(string: uri)?.port)
            var silent: [Socket] = []
            for _ in 0..<40 { silent.append(try Socket(port: port)) }
            try silent[39].send("GET /callback HTTP/1.1\r\nX: ")
            let long = try Socket(port: port)
            try long.send("GET /callback?code=x HTTP/1.1\r\nX: " + String(repeating: "x", count: 40_000) + "\r\n\r\n")
            #expect(try long.readAll().hasPrefix("HTTP/1.1 431 "))
            for text in ["\r\n\r\n", "GET\r\n\r\n", "GET  /callback HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n"] {
                let strange = try Socket(port: port)
                try strange.send(text)
                #expect(try strange.readAll().hasPrefix("HTTP/1.1 400 "), "\(text.debugDescription)")
            }
            // The request arrives in pieces.
            let slow = try Socket(port: port)
            for piece in ["GET /call", "back?code=x HTT", "P/1.1\r\nHo", "st: 127.0.0.1:\(port)\r\n\r", "\n"] {
                try slow.send(piece)
            }
            #expect(try slow.readAll().hasPrefix("HTTP/1.1 200 OK"))
            withExtendedLifetime(silent) {}
        }
        #expect(redirect == uri + "?code=x")
    }

    @Test("a head is accepted at any length, but answered only when it's complete") func heads() {
        let authority = "127.0.0.1:4711"
        let head = Array("GET /callback?code=a HTTP/1.1\r\nhOsT:  \(authority) \r\nAccept: */*\r\n\r\n".utf8)
        for count in 0..<head.count {
            #expect(
                LoopbackRequest.judge(Array(head[..<count]), path: "/callback", authority: authority) == .incomplete)
        }
        #expect(
            LoopbackRequest.judge(head, path: "/callback", authority: authority) == .redirect("/callback?code=a"))
        #expect(
            LoopbackRequest.judge(head, path: "/call", authority: authority) == .refused("404 Not Found"))
        for hosts in ["", "Host: a\r\nHost: \(authority)\r\n", "Host: \(authority)\r\nHost: \(authority)\r\n"] {
            let bytes = Array("GET /callback HTTP/1.1\r\n\(hosts)\r\n".utf8)
            #expect(
                LoopbackRequest.judge(bytes, path: "/callback", authority: authority)
                    == .refused("421 Misdirected Request"))
        }
        #expect(
            LoopbackRequest.judge(
                Array(head.dropLast(2)) + [0xFF, 13, 10, 13, 10], path: "/callback", authority: authority)
                == .refused("400 Bad Request"))
    }

    @Test("the sign-in ends at its time limit by the clock, or with its task, or if the page can't be opened")
    func ends() async throws {
        let time = ManualTimeSource()
        let shown = Gate()
        var browser = LoopbackBrowser { _ in shown.open() }
        (browser.time, browser.timeout) = (time, .seconds(120))
        let server = try AuthorizationServer(time: time)
        let client = server.client()
        let late = Task { [browser] in await client.failure(browser)?.code }
        try await shown.wait()
        time.advance(by: .seconds(120))
        #expect(await late.value == .signInTimedOut)

        let opened = Gate()
        let cancelled = Task {
            try await client.signIn(browser: LoopbackBrowser { _ in opened.open() })
        }
        try await opened.wait()
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }

        struct NoBrowser: Error {}
        let error = await failure { _ = try await client.signIn(browser: LoopbackBrowser { _ in throw NoBrowser() }) }
        #expect(error?.code == .browserFailed && error?.underlying is NoBrowser)
        var pathless = LoopbackBrowser { _ in }
        for path in ["", "callback", "/a b", "/a?b", "/a#b"] {
            pathless.path = path
            #expect(await client.failure(pathless)?.code == .browserFailed)
        }
        pathless = LoopbackBrowser { _ in }
        pathless.addresses = []
        #expect(await client.failure(pathless)?.code == .browserFailed)
        #expect(server.received("/token").isEmpty)
    }

    @Test("20 people sign in at the same time, each on another port") func many() async throws {
        let server = try AuthorizationServer()
        let client = server.client()
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    let browser = LoopbackBrowser { url in
                        _ = try await Self.send(try await RobotBrowser.redirect(of: url))
                    }
                    _ = try await client.signIn(browser: browser)
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(server.received("/authorize").map { $0.query("redirect_uri") }).count == 20)
        #expect(server.edit { $0.accessTokens.count } == 20)
    }
}
