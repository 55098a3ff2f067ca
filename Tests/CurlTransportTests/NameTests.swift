#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import ErrandTesting
import Testing

/// Hosts whose addresses come from the app, or from a DNS-over-HTTPS server.
@Suite("Names and addresses over libcurl", .endsInTime, .leakChecked) struct NameTests {
    private let hosts = Log<String>()

    private func makeServer() throws -> RawServer {
        try RawServer { [hosts] peer in
            while let head = peer.readHead() {
                hosts.add(head.split(separator: "\r\n").first { $0.hasPrefix("Host: ") }.map { String($0) } ?? "")
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
    }

    private func makeTransport(_ change: (inout CurlConfiguration) -> Void) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.proxy = .off
        change(&configuration)
        return CurlTransport(configuration)
    }

    @Test("a host's configured addresses apply to any spelling and port of the host, and not to other hosts")
    func given() async throws {
        let (first, second) = (try makeServer(), try makeServer())
        let transport = makeTransport {
            $0.addresses = ["API.example.test.": ["127.0.0.1"], "other.example.test": ["127.0.0.1"]]
        }
        for port in [first.port, second.port, first.port] {
            for host in ["api.example.test", "Api.Example.Test", "other.example.test"] {
                let response = try await transport.send(try request(.get, "http://\(host):\(port)/"), options: .of())
                #expect(response.status == 200)
            }
        }
        let own = try await transport.send(try request(.get, first.url()), options: .of())
        #expect(own.status == 200)
        #expect(Set(hosts.all.prefix(3)).count > 1 && hosts.all[0] == "Host: api.example.test:\(first.port)")
        let unknown = try request(.get, "http://unknown.invalid:\(first.port)/")
        let error = try await failure { try await transport.send(unknown, options: .of()) }
        #expect(error.code == .nameLookupFailed)
    }

    @Test(
        "a host's addresses apply whether the host or the configured name ends in a dot",
        arguments: ["shop.test", "shop.test."])
    func finalDot(name: String) async throws {
        let server = try makeServer()
        let transport = makeTransport { $0.addresses = [name: ["127.0.0.1"]] }
        for host in ["shop.test", "shop.test.", "SHOP.test."] {
            let url = "http://\(host):\(server.port)/"
            #expect(try await transport.send(try request(.get, url), options: .of()).status == 200)
            let connection = try await transport.connect(for: try request(.get, url), options: .of())
            connection.close()
        }
    }

    @Test("if an address doesn't connect, the next one is used")
    func several() async throws {
        let server = try makeServer()
        let transport = makeTransport { $0.addresses = ["shop.test": ["127.0.0.77", "127.0.0.1"]] }
        let response = try await transport.send(try request(.get, "http://shop.test:\(server.port)/"), options: .of())
        #expect(response.status == 200)
    }

    @Test("IPv6 addresses are used, and addresses of unknown families aren't")
    func families() async throws {
        guard
            let server = try? RawServer(
                ipv6: true,
                { peer in
                    while peer.readHead() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
                })
        else { return }
        let url = "http://shop.test:\(server.port)/"
        let both = makeTransport { $0.addresses = ["shop.test": ["::1"]] }
        #expect(try await both.send(try request(.get, url), options: .of()).status == 200)
        let v4 = makeTransport {
            $0.addresses = ["shop.test": ["::1", "127.0.0.77"]]
            $0.addressFamily = .v4
        }
        let error = try await failure { try await v4.send(try request(.get, url), options: .of()) }
        #expect(error.code == .cannotConnect)
    }

    @Test(
        "invalid host names and addresses make every request fail, without sending anything",
        arguments: [
            ["http://shop.test": ["127.0.0.1"]], ["shop.test:80": ["127.0.0.1"]], ["127.0.0.1": ["127.0.0.2"]],
            ["shop.test": ["localhost"]], ["shop.test": ["127.0.0.1,127.0.0.2"]], ["shop.test": ["fe80::1%lo"]],
            ["shop.test": []], ["shop.test": ["127.0.0.1"], "SHOP.test.": ["127.0.0.2"]],
        ] as [[String: [String]]])
    func refused(addresses: [String: [String]]) async throws {
        let server = try makeServer()
        let transport = makeTransport { $0.addresses = addresses }
        let error = try await failure { try await transport.send(try request(.get, server.url()), options: .of()) }
        #expect(error.code == .nameLookupFailed && hosts.all.isEmpty)
        #expect(error.message.hasPrefix("the transport's addresses can't be used: "), "\(error.message)")
    }

    @Test(
        "a DNS-over-HTTPS server with another scheme makes every request fail", arguments: ["http://127.0.0.1/", "dns"])
    func insecureNameServer(url: String) async throws {
        let server = try makeServer()
        let transport = makeTransport { $0.dnsOverHTTPS = URL(string: url) }
        let error = try await failure { try await transport.send(try request(.get, server.url()), options: .of()) }
        #expect(error.code == .nameLookupFailed && hosts.all.isEmpty)
    }

    @Test(
        "names are looked up by DNS over HTTPS, without falling back to the system for unknown names",
        .enabled(if: Nginx.isInstalled, "nginx or openssl is not installed"))
    func dnsOverHTTPS() async throws {
        let (names, server) = (Log<String>(), try makeServer())
        let resolver = try TestServer()
        resolver.on(.post, "/dns-query") { request in
            guard let query = DNSQuery(request.body) else { return .status(400) }
            names.add(query.name)
            let isKnown = query.name == "shop.example.test"
            return .data(query.response(isKnown ? [127, 0, 0, 1] : nil)).header(
                "Content-Type", "application/dns-message")
        }
        let nginx = try await Nginx.site(
            [("dns", " ssl; location / { proxy_pass \(resolver.url("")); }")], hasLargeFile: false)
        let transport = makeTransport {
            $0.dnsOverHTTPS = URL(string: nginx.url("dns", "/dns-query"))
            $0.addresses = ["localhost": ["127.0.0.1"]]
            $0.tls.roots = .file(URL(filePath: nginx.file("root.pem")))
        }
        let url = "http://shop.example.test:\(server.port)/"
        #expect(try await transport.send(try request(.get, url), options: .of()).status == 200)
        #expect(names.all.contains("shop.example.test") && hosts.all == ["Host: shop.example.test:\(server.port)"])
        let unknown = try request(.get, "http://localhost.example.test:\(server.port)/")
        let error = try await failure { try await transport.send(unknown, options: .of()) }
        #expect(error.code == .nameLookupFailed && names.all.contains("localhost.example.test"))
        // If the DNS server's certificate isn't trusted, no name can be resolved.
        let distrusting = makeTransport { $0.dnsOverHTTPS = URL(string: nginx.url("dns", "/dns-query")) }
        let refusal = try await failure { try await distrusting.send(try request(.get, url), options: .of()) }
        #expect(refusal.code == .nameLookupFailed)
        #expect(hosts.all.count == 1)
    }

    @Test(
        "a request that waits for DNS over HTTPS can be cancelled, and times out",
        .enabled(if: Nginx.isInstalled, "nginx or openssl is not installed"))
    func silentNameServer() async throws {
        let resolver = try TestServer()
        let gate = Gate()
        resolver.on(.post, "/dns-query", .data(Data()).waiting(for: gate))
        let nginx = try await Nginx.site(
            [("dns", " ssl; location / { proxy_pass \(resolver.url("")); }")], hasLargeFile: false)
        let transport = makeTransport {
            $0.dnsOverHTTPS = URL(string: nginx.url("dns", "/dns-query"))
            $0.tls.roots = .file(URL(filePath: nginx.file("root.pem")))
        }
        let waiting = Task { try await transport.send(try request(.get, "http://shop.test/"), options: .of()) }
        try await eventually { !resolver.received.isEmpty }
        waiting.cancel()
        let error = try await failure { try await waiting.value }
        #expect(error.isCancelled)
        let late = try await failure {
            try await transport.send(
                try request(.get, "http://other.test/"), options: .of(timeout: .milliseconds(50)))
        }
        #expect(late.code == .timedOut || late.code == .nameLookupFailed)
        gate.open()
    }
}

/// The question of a DNS message that has exactly one (RFC 1035, section 4).
private struct DNSQuery {
    let name: String
    private let header: Data
    private let question: Data
    private let type: UInt8

    init?(_ message: Data) {
        let bytes = [UInt8](message)
        var (index, labels) = (12, [String]())
        while index < bytes.count, bytes[index] > 0 {
            let end = index + 1 + Int(bytes[index])
            guard end < bytes.count else { return nil }
            labels.append(String(decoding: bytes[index + 1..<end], as: UTF8.self))
            index = end
        }
        guard index + 5 <= bytes.count else { return nil }
        name = labels.joined(separator: ".")
        header = Data(bytes[..<2])
        question = Data(bytes[12..<index + 5])
        type = bytes[index + 2]
    }

    /// Returns the address if the question is for IPv4. Without an address, the name doesn't exist.
    func response(_ address: [UInt8]?) -> Data {
        let answers = address.flatMap { type == 1 ? $0 : nil }
        let flags: [UInt8] = [0x81, address == nil ? 0x83 : 0x80]
        var message = header + flags + [0, 1, 0, answers == nil ? 0 : 1, 0, 0, 0, 0] + question
        if let answers { message += [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, UInt8(answers.count)] + answers }
        return message
    }
}
#endif
