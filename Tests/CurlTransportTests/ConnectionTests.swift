#if os(Linux)
import Errand
import ErrandEssentials
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

    @Test("the environment names proxies, unless the configuration wants none")
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
        "a variable of the environment without a value is one that is not set, as for curl",
        arguments: [
            (["http_proxy": "", "all_proxy": "a"], "a", "a", ""),
            (["http_proxy": "", "ALL_PROXY": "A"], "A", "A", ""),
            (["all_proxy": "", "ALL_PROXY": "A"], "A", "A", ""),
            (["https_proxy": "", "HTTPS_PROXY": "S", "http_proxy": "h"], "h", "S", ""),
            (["https_proxy": "", "HTTPS_PROXY": "", "all_proxy": "a"], "a", "a", ""),
            (["https_proxy": "s", "HTTPS_PROXY": "S", "all_proxy": "a"], "a", "s", ""),
            (["HTTP_PROXY": "H"], "", "", ""),
            (["no_proxy": "", "NO_PROXY": "b.test"], "", "", "b.test"),
            (["no_proxy": "a.test", "NO_PROXY": "b.test"], "", "", "a.test"),
            (["http_proxy": "", "https_proxy": "", "all_proxy": "", "no_proxy": ""], "", "", ""),
        ] as [([String: String], String, String, String)])
    func emptyVariables(variables: [String: String], http: String, https: String, exceptions: String) {
        let choice = ProxyChoice(.environment) { variables[$0] }
        #expect(choice.http == http && choice.https == https && choice.exceptions == exceptions)
    }

    @Test("a connection without a request is closed after the idle time, also while others work")
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

    @Test("the limit of all connections applies, whatever the hosts are")
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

    @Test("the limit of all connections holds for a transfer after another one")
    func totalLimitAgain() async throws {
        let (paths, release) = (Log<String>(), Steps())
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                let path = String(head.split(separator: " ")[1])
                paths.add(path)
                if path == "/slow" { release.wait() }
                peer.send(Self.ok)
            }
        }
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

    @Test("a description shows neither a password nor a key")
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
}
#endif
