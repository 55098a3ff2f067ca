#if os(Linux)
import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandCurlTransport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Connections of the transport over libcurl", .endsInTime, .leakChecked)
struct ConnectionTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// A server that records the paths of requests, and responds to `/slow` only after the release.
    private static func server(_ paths: Log<String>, holdingSlowUntil release: Steps) throws -> RawServer {
        try RawServer { peer in
            while let head = peer.readHead() {
                let path = String(head.split(separator: " ")[1])
                paths.add(path)
                if path == "/slow" { release.wait() }
                peer.send(ok)
            }
        }
    }

    @Test("a proxy is asked for the whole URL, and excepted hosts aren't sent to it")
    func proxy() async throws {
        let heads = Log<String>()
        let proxy = try RawServer { peer in
            while let head = peer.readHead() {
                heads.add(head)
                peer.send(Self.ok)
            }
        }
        let server = try RawServer { peer in while peer.readHead() != nil { peer.send(Self.ok) } }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("http://user:secret@127.0.0.1:\(proxy.port)", except: ["localhost"])
        let transport = CurlTransport(configuration)
        _ = try await transport.send(try request(.get, "http://example.invalid/a"), options: .of())
        #expect(heads.all.first?.hasPrefix("GET http://example.invalid/a HTTP/1.1\r\n") == true)
        #expect(heads.all.first?.contains("Proxy-Authorization: Basic ") == true)
        _ = try await transport.send(try request(.get, "http://localhost:\(server.port)/"), options: .of())
        #expect(heads.all.count == 1)
        #expect(!"\(configuration)".contains("secret"))
    }

    @Test("if no server listens at a proxy, the error names the proxy", arguments: ["http", "https"])
    func deadProxy(scheme: String) async throws {
        var configuration = CurlConfiguration()
        configuration.proxy = .url("http://127.0.0.1:1")
        let transport = CurlTransport(configuration)
        let request = try request(.get, "\(scheme)://example.invalid/")
        let error = try await failure { try await transport.send(request, options: .of()) }
        #expect(error.code == .cannotConnect && error.message.hasPrefix("the proxy can't be reached: "))
    }

    @Test("a proxy that refuses to connect is cannotConnect, and never sees the server's credentials")
    func refusedTunnel() async throws {
        let heads = Log<String>()
        let proxy = try RawServer { peer in
            guard let head = peer.readHead() else { return }
            heads.add(head)
            peer.send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("http://127.0.0.1:\(proxy.port)")
        let transport = CurlTransport(configuration)
        let request = try request(.get, "https://example.invalid/", headers: ["Authorization": "Bearer x"])
        let error = try await failure { try await transport.send(request, options: .of()) }
        #expect(error.code == .cannotConnect)
        #expect(error.message.contains("407"))
        #expect(heads.all.first?.hasPrefix("CONNECT example.invalid:443 HTTP/1.1\r\n") == true)
        #expect(heads.all.first?.contains("Bearer") == false)
    }

    @Test(
        "a proxy that refuses each tunnel and closes gets two requests at most, and never the server's credentials",
        arguments: ["", "user:secret@"],
        [
            "407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"p\"",
            "407 Proxy Authentication Required\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"1\", stale=true",
            "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"o\"",
            "302 Found\r\nLocation: https://example.invalid/other",
        ])
    func closingRefusals(credentials: String, refusal: String) async throws {
        let heads = Log<String>()
        let proxy = try RawServer { peer in
            guard let head = peer.readHead() else { return }
            heads.add(head)
            peer.send("HTTP/1.1 \(refusal)\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("http://\(credentials)127.0.0.1:\(proxy.port)")
        let request = try request(.get, "https://example.invalid/", headers: ["Authorization": "Bearer x"])
        let error = try await failure { try await CurlTransport(configuration).send(request, options: .of()) }
        #expect(error.code == .cannotConnect && error.message.contains(refusal.prefix(3)))
        #expect((1...2).contains(heads.count) && heads.all.allSatisfy { !$0.contains("Bearer") })
    }

    @Test(
        "a tunnel opens whatever fields a proxy's 200 has, and the proxy gets an IPv6 address in brackets",
        arguments: ["Transfer-Encoding: chunked", "Content-Length: 0", "Content-Length: 17", "Via: p"],
        ["127.0.0.1", "[::1]"])
    func tunnels(field: String, host: String) async throws {
        let (heads, records) = (Log<String>(), Log<[UInt8]>())
        let proxy = try RawServer { peer in
            guard let head = peer.readHead() else { return }
            heads.add(head)
            peer.send("HTTP/1.1 200 Connection established\r\n\(field)\r\n\r\n")
            records.add(peer.read(3))
        }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("http://127.0.0.1:\(proxy.port)")
        let request = try request(.get, "https://\(host):4443/")
        let error = try await failure { try await CurlTransport(configuration).send(request, options: .of()) }
        #expect(heads.all.first?.hasPrefix("CONNECT \(host):4443 HTTP/1.1\r\n") == true)
        // A TLS handshake begins with a record of type 22.
        #expect(records.all.first?.prefix(2) == [22, 3], "\(error)")
    }

    @Test("the environment's proxies are used, unless the configuration turns them off")
    func environment() async throws {
        await #expect(processExitsWith: .success) {
            let proxy = try RawServer { peer in
                while peer.readHead() != nil { peer.send("HTTP/1.1 299 Proxied\r\nContent-Length: 0\r\n\r\n") }
            }
            let server = try RawServer { peer in while peer.readHead() != nil { peer.send(Self.ok) } }
            for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
                unsetenv(name)
            }
            // A web server running CGI would set this variable from a request header.
            setenv("HTTP_PROXY", "http://127.0.0.1:1", 1)
            let request = try request(.get, server.url())
            func expect(_ status: Int, of transport: CurlTransport) async throws {
                let response = try await transport.send(request, options: .of())
                precondition(response.status == status)
            }
            try await expect(200, of: CurlTransport())
            setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            try await expect(299, of: CurlTransport())
            var configuration = CurlConfiguration()
            configuration.proxy = .off
            try await expect(200, of: CurlTransport(configuration))
            setenv("no_proxy", "127.0.0.1", 1)
            try await expect(200, of: CurlTransport())
        }
    }

    @Test(
        "an empty environment variable counts as unset, as with curl",
        arguments: [
            (["http_proxy": "", "all_proxy": "a"], "a", "a", ""),
            (["http_proxy": "", "ALL_PROXY": "A"], "A", "A", ""),
            (["all_proxy": "", "ALL_PROXY": "A"], "A", "A", ""),
            (["https_proxy": "", "HTTPS_PROXY": "S", "http_proxy": "h"], "h", "S", ""),
            (["https_proxy": "", "HTTPS_PROXY": "", "all_proxy": "a"], "a", "a", ""),
            (["https_proxy": "s", "HTTPS_PROXY": "S", "all_proxy": "a"], "a", "s", ""),
            (["HTTP_PROXY": "H"], "", "", ""),
            (["no_proxy": "", "NO_PROXY": "b.test", "all_proxy": "a"], "a", "a", "b.test"),
            (["no_proxy": "a.test", "NO_PROXY": "b.test", "all_proxy": "a"], "a", "a", "a.test"),
            (["http_proxy": "", "https_proxy": "", "all_proxy": "", "no_proxy": ""], "", "", ""),
        ] as [([String: String], String, String, String)])
    func emptyVariables(variables: [String: String], http: String, https: String, exceptions: String) throws {
        let choice = ProxyChoice(.environment) { variables[$0] }
        #expect(choice.http == http && choice.https == https)
        for host in ["a.test", "b.test"] {
            let isDirect = choice.proxy(for: try #require(URL(string: "http://\(host)/"))).isEmpty
            #expect(isDirect == (http.isEmpty || host == exceptions))
        }
    }

    @Test(
        "a proxy exception may be a host, a domain, an address or an address range, with or without a port",
        arguments: [
            ("http://api.corp.test/", "corp.test", true), ("http://corp.test/", ".corp.test", true),
            ("http://api.corp.test/", "*.corp.test", true), ("http://corp.test/", "*.corp.test", true),
            ("http://API.Corp.Test./", "corp.test", true), ("http://api.corp.test/", "CORP.test.", true),
            ("http://mycorp.test/", "corp.test", false), ("http://corp.test.evil/", "corp.test", false),
            ("http://test/", "*.", false), ("http://corp.test/", "*corp.test", false), ("http://a.test/", ".", false),
            ("http://localhost:8080/", "localhost:8080", true), ("http://localhost:8081/", "localhost:8080", false),
            ("http://localhost/", "localhost:80", true), ("https://localhost/", "localhost:443", true),
            ("https://localhost/", "localhost:80", false), ("http://a.corp.test:1/", "*.corp.test:1", true),
            ("http://localhost:8080/", "localhost:", true), ("http://localhost:8080/", "localhost:x", false),
            ("http://[::1]/", "::1", true), ("http://[::1]:5672/", "[::1]", true),
            ("http://[::1]:80/", "[::1]:80", true), ("http://[::1]:81/", "[::1]:80", false),
            ("http://[0:0:0:0:0:0:0:1]/", "::1", true), ("http://[::1]/", "0:0:0:0:0:0:0:0001", true),
            ("http://[::7f00:1]/", "::127.0.0.1", true), ("http://[::2]/", "::1", false),
            ("http://[::1]/", "::1/64", true), ("http://[fe80::1%25eth0]/", "fe80::/10", true),
            ("http://[fec0::1]/", "fe80::/10", false), ("http://[2001:db8:1::1]/", "[2001:db8::]/33", true),
            ("http://[2001:db8:8000::1]/", "2001:db8::/33", false), ("http://[::1]/", "::1/129", false),
            ("http://127.0.0.1/", "127.0.0.0/8", true), ("http://10.1.2.3/", "10.0.0.0/15", true),
            ("http://10.2.0.1/", "10.0.0.0/15", false), ("http://10.0.0.1/", "10.0.0.0/33", false),
            ("http://10.0.0.1/", "0.0.0.0/0", true), ("http://[::1]/", "0.0.0.0/0", false),
            ("http://10.0.0.1/", "10.0.0.1:80", true), ("http://10.0.0.1/", "0.0.1", false),
            ("http://10.0.0.1/", "10.0.0.1/", false), ("http://a.test/", "b.test , a.test", true),
            ("http://a.test/", "b.test a.test", true), ("http://a.test/", "", false), ("http://a.test/", ",,", false),
            ("http://a.test/", "b.test,*", true),
        ])
    func exceptions(url: String, exceptions: String, isDirect: Bool) throws {
        let choice = ProxyChoice(.environment) {
            ["http_proxy": "http://p.test", "https_proxy": "http://s.test", "no_proxy": exceptions][$0]
        }
        let proxy = choice.proxy(for: try #require(URL(string: url)))
        #expect(proxy == (isDirect ? "" : url.hasPrefix("https") ? "http://s.test" : "http://p.test"))
    }

    @Test("a connection without a request is closed after the idle time, even while other connections are in use")
    func idle() async throws {
        let ended = Log<String>()
        let gate = Steps()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                let path = String(head.split(separator: " ")[1])
                if path == "/long" { gate.wait() }
                peer.send(Self.ok)
                if path == "/short" {
                    _ = peer.drain()
                    ended.add(path)
                }
            }
            ended.add("end")
        }
        var configuration = CurlConfiguration()
        configuration.keepAliveTime = .milliseconds(100)
        let transport = CurlTransport(configuration)
        async let long = transport.send(try request(.get, server.url("/long")), options: .of())
        try await eventually { server.accepted == 1 }
        _ = try await transport.send(try request(.get, server.url("/short")), options: .of())
        try await eventually { ended.all.contains("/short") }
        gate.go()
        #expect(try await long.status == 200)
        try await eventually { ended.all.filter { $0 == "end" }.count == 2 }
        #expect(try await transport.send(try request(.get, server.url("/again")), options: .of()).status == 200)
    }

    @Test("connections start from the local address")
    func localAddress() async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                let address = peer.remoteAddress
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(address.utf8.count)\r\n\r\n\(address)")
            }
        }
        var configuration = CurlConfiguration()
        configuration.localAddress = "127.0.0.9"
        let response = try await CurlTransport(configuration).send(try request(.get, server.url()), options: .of())
        #expect(try response.text() == "127.0.0.9")
    }

    @Test("with a Unix socket, every connection goes there and no proxy is used")
    func unixSocket() async throws {
        let path = "/tmp/errand-\(getpid()).sock"
        let hosts = Log<String>()
        let server = try RawServer(unixSocket: path) { peer in
            while let head = peer.readHead() {
                hosts.add(head)
                peer.send(Self.ok)
            }
        }
        defer { unlink(path) }
        var configuration = CurlConfiguration()
        configuration.unixSocketPath = path
        configuration.proxy = .url("http://127.0.0.1:1")
        let response = try await CurlTransport(configuration).send(
            try request(.get, "http://service.example/x"), options: .of())
        #expect(response.data == "ok".utf8.asData)
        #expect(hosts.all.first?.contains("Host: service.example\r\n") == true)
        _ = server
    }

    @Test("IPv6 is used if the host has it")
    func ipv6() async throws {
        guard let server = try? RawServer(ipv6: true, { peer in while peer.readHead() != nil { peer.send(Self.ok) } })
        else { return }
        var configuration = CurlConfiguration()
        let url = "http://[::1]:\(server.port)/"
        #expect(try await CurlTransport(configuration).send(try request(.get, url), options: .of()).status == 200)
        configuration.addressFamily = .v4
        let transport = CurlTransport(configuration)
        let error = try await failure { try await transport.send(try request(.get, url), options: .of()) }
        #expect(error.code == .nameLookupFailed)
        configuration.addressFamily = .v6
        let other = CurlTransport(configuration)
        #expect(try await other.send(try request(.get, url), options: .of()).status == 200)
        #expect(
            try await failure { try await other.send(try request(.get, "http://127.1/"), options: .of()) }.code
                == .nameLookupFailed)
    }

    @Test("the limit of all connections applies across hosts")
    func totalLimit() async throws {
        let servers = try (0..<4).map { _ in
            try RawServer { peer in while peer.readHead() != nil { peer.send(Self.ok) } }
        }
        var configuration = CurlConfiguration()
        configuration.maximumConnections = 2
        let transport = CurlTransport(configuration)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for count in 0..<200 {
                let url = servers[count % 4].url()
                group.addTask { try await transport.send(try request(.get, url), options: .of()).status }
            }
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test("the limit for all connections also applies after another transfer")
    func totalLimitAgain() async throws {
        let (paths, release) = (Log<String>(), Steps())
        let server = try Self.server(paths, holdingSlowUntil: release)
        var configuration = CurlConfiguration()
        configuration.maximumConnections = 1
        let transport = CurlTransport(configuration)
        _ = try await transport.send(try request(.get, server.url("/first")), options: .of())
        let slow = Task { try await transport.send(try request(.get, server.url("/slow")), options: .of()).status }
        try await eventually { paths.all.contains("/slow") }
        let before = server.accepted
        let other = "http://localhost:\(server.port)/other"
        let waiting = Task { try await transport.send(try request(.get, other), options: .of()).status }
        try await eventually { transport.started.withLock { $0?.runningCount } == 2 }
        // Connections are accepted in order: a connection for the waiting request would come before this one.
        _ = try await CurlTransport().send(try request(.get, server.url("/last")), options: .of())
        #expect(server.accepted == before + 1)
        release.go()
        #expect(try await (slow.value, waiting.value) == (200, 200))
    }

    @Test("a description doesn't show a password or a key")
    func secrets() {
        var configuration = CurlConfiguration()
        configuration.proxy = .url("http://user:geheim@proxy.example:1")
        configuration.tls.identities = [
            "https://e.com": .pkcs12(file: URL(filePath: "/a.p12"), password: "geheim"),
            "*": .pkcs12(Data("geheim".utf8), password: "geheim"),
        ]
        for text in [
            "\(configuration)", String(reflecting: configuration), "\(configuration.tls)",
            String(reflecting: configuration.proxy), "\(configuration.tls.identities, default: "")",
        ] {
            #expect(!text.contains("geheim"), "\(text)")
        }
    }

    @Test("a request that is cancelled while it connects gives its connection back to the limit")
    func cancelledConnecting() async throws {
        let server = try RawServer { peer in while peer.readHead() != nil { peer.send(Self.ok) } }
        let silent = try #require(SilentAddress(21, port: Int(server.port)))
        var configuration = CurlConfiguration()
        configuration.maximumConnections = 1
        let transport = CurlTransport(configuration)
        for _ in 0..<3 {
            let url = "http://\(silent.address):\(server.port)/"
            let stuck = Task { try await transport.send(try request(.get, url), options: .of()).status }
            try await eventually { transport.started.withLock { $0?.runningCount } == 1 }
            stuck.cancel()
            await #expect(throws: (any Error).self) { try await stuck.value }
            #expect(try await transport.send(try request(.get, server.url()), options: .of()).status == 200)
        }
    }

    @Test("requests that are cancelled while they wait for a connection don't block the ones behind them")
    func cancelledWaiting() async throws {
        let release = Steps()
        let paths = Log<String>()
        let server = try Self.server(paths, holdingSlowUntil: release)
        var configuration = CurlConfiguration()
        configuration.maximumConnectionsPerHost = 1
        let transport = CurlTransport(configuration)
        let slow = Task { try await transport.send(try request(.get, server.url("/slow")), options: .of()).status }
        try await eventually { paths.all == ["/slow"] }
        let waiting = (0..<20).map { number in
            Task { try await transport.send(try request(.get, server.url("/\(number)")), options: .of()).status }
        }
        try await eventually { transport.started.withLock { $0?.runningCount } == 21 }
        for (number, task) in waiting.enumerated() where number % 2 == 0 { task.cancel() }
        for (number, task) in waiting.enumerated() where number % 2 == 0 {
            await #expect(throws: (any Error).self) { try await task.value }
        }
        release.go()
        #expect(try await slow.value == 200)
        for (number, task) in waiting.enumerated() where number % 2 == 1 {
            #expect(try await task.value == 200)
        }
        #expect(paths.all.count == 11 && server.accepted == 1)
    }
}
#endif
