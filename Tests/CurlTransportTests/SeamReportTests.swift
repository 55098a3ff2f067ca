#if os(Linux)
import Errand
import ErrandConformance
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

/// Faults of other libraries between two features; the reports are in Tests/Lessons.md.
@Suite("Two features at once over libcurl", .endsInTime, .leakChecked) struct SeamReportTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// "hello" in gzip.
    private static let gzip: [UInt8] = [
        0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
    ]

    @Test(
        "a compressed body in chunks leaves its connection for the next request, and its trailers are reported",
        arguments: [BodyDelivery.data, .stream])
    func codedChunks(delivery: BodyDelivery) async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                peer.send(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n")
                peer.send(Array("19\r\n".utf8) + Self.gzip + Array("\r\n".utf8))
                // The coded body is complete before its last chunk.
                peer.send("0\r\nX-Sum: 7\r\n\r\n")
            }
        }
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(baseURL: server.url(), transport: CurlTransport(), accessories: [recorder])
        for path in ["first", "second", "third"] {
            let response = try await agent.send(Call<HTTPResponse>(.get, path) { $0.delivery = delivery }).value
            #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
        }
        let sums = recorder.records().compactMap { record -> String? in
            if case .transport(.trailers(let fields)) = record.event { fields["X-Sum"] } else { nil }
        }
        #expect(server.accepted == 1)
        // A call for a stream ends with the head of its response, so its trailers may come too late for a report.
        if delivery == .data { #expect(sums == ["7", "7", "7"]) }
    }

    @Test("a stream that can be read once is sent if the kept connection was closed before it")
    func unreadStream() async throws {
        let (bodies, closed) = (Log<String>(), Log<Int>())
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if head.hasPrefix("POST") {
                    bodies.add(String(decoding: peer.readChunked() ?? [], as: UTF8.self))
                    peer.send(Self.ok)
                    continue
                }
                peer.send(Self.ok)
                peer.close()
                return closed.add(1)
            }
        }
        let transport = CurlTransport()
        _ = try await transport.send(try request(.get, server.url()), options: .of())
        try await eventually { closed.count == 1 && server.connectedClients == 0 }
        let left = Mutex(["once", " only"])
        let body = HTTPBody { left.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) } }
        let response = try await transport.send(
            try request(.post, server.url(), body: .stream(body)), options: .of())
        #expect(response.status == 200 && bodies.all == ["once only"])
    }

    @Test("a redirect from a host behind a proxy to a host that is excepted doesn't take the proxy's credentials along")
    func redirectPastProxy() async throws {
        let (heads, directs) = (Log<String>(), Log<String>())
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                directs.add(head)
                peer.send(Self.ok)
            }
        }
        let target = "http://localhost:\(server.port)/direct"
        let proxy = try RawServer { peer in
            while let head = peer.readHead() {
                heads.add(head)
                peer.send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("http://ada:canary@127.0.0.1:\(proxy.port)", except: ["localhost"])
        let agent = NetworkAgent(baseURL: "http://shop.invalid", transport: CurlTransport(configuration))
        try await agent.send(Call<Data>(.get, "start"))
        #expect(heads.count == 1 && heads.all[0].contains("Proxy-Authorization: Basic "))
        #expect(directs.count == 1 && !directs.all[0].lowercased().contains("proxy-"))
    }

    @Test("with socks5, an IPv6 address is sent as 16 bytes", arguments: ["socks5", "socks5h"])
    func socksAddress(scheme: String) async throws {
        let asked = Log<[UInt8]>()
        let server = try RawServer { peer in
            guard peer.read(1) == [5] else { return }
            _ = peer.read(Int(peer.read(1).first ?? 0))
            peer.send([5, 0])
            guard peer.read(3) == [5, 1, 0], let kind = peer.read(1).first else { return }
            let count = kind == 1 ? 4 : kind == 4 ? 16 : Int(peer.read(1).first ?? 0)
            asked.add([kind] + peer.read(count) + peer.read(2))
            peer.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            _ = peer.readHead()
            peer.send(Self.ok)
        }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("\(scheme)://127.0.0.1:\(server.port)")
        let response = try await CurlTransport(configuration)
            .send(try request(.get, "http://[2001:db8::1]:81/"), options: .of())
        #expect(response.status == 200)
        #expect(asked.all == [[4, 0x20, 1, 0xD, 0xB8] + Array(repeating: 0, count: 11) + [1, 0, 81]])
    }
}

/// The same for connections with TLS.
@Suite(
    "Two features at once over TLS with libcurl", .endsInTime,
    .enabled(if: TLSContext.isAvailable && Nginx.isInstalled, "OpenSSL or nginx isn't installed"), .leakChecked)
struct TLSSeamReportTests {
    private static func blockSignals() {
        // OpenSSL writes without MSG_NOSIGNAL.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private static func context(_ certificates: TestCertificates) throws -> TLSContext {
        try TLSContext(
            certificate: certificates.file("good.pem"), key: certificates.file("good.key"), choosesHTTP2: false)
    }

    /// Opens a tunnel for each CONNECT, and serves as the origin at its end.
    private static func proxy(
        _ context: TLSContext, _ heads: Log<String>, fields: String = "",
        _ serve: @escaping @Sendable (TLSSession, Peer) -> Void
    ) throws -> RawServer {
        try RawServer { peer in
            blockSignals()
            guard let head = peer.readHead() else { return }
            heads.add(head)
            peer.send("HTTP/1.1 200 Connection established\r\n\(fields)\r\n")
            guard let session = context.accept(peer.descriptor) else { return }
            serve(session, peer)
        }
    }

    private static func transport(_ certificates: TestCertificates, proxy: RawServer) -> CurlTransport {
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: certificates.file("root.pem")))
        configuration.proxy = .url("http://ada:canary@127.0.0.1:\(proxy.port)")
        configuration.httpVersion = .http1
        return CurlTransport(configuration)
    }

    @Test("a proxy gets its credentials and the origin gets its own, each only in its own part of a tunnel")
    func credentials() async throws {
        let certificates = try await TestCertificates()
        let (asked, inner) = (Log<String>(), Log<String>())
        let proxy = try Self.proxy(try Self.context(certificates), asked) { session, _ in
            guard let bytes = session.readSome() else { return }
            inner.add(String(decoding: bytes, as: UTF8.self))
            session.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8))
            _ = session.readSome()
        }
        let transport = Self.transport(certificates, proxy: proxy)
        let response = try await transport.send(
            try request(.get, "https://localhost:4433/a", headers: ["Authorization": "Bearer own"]), options: .of())
        #expect(response.status == 200)
        let (outer, origin) = (try #require(asked.all.first), try #require(inner.all.first))
        #expect(outer.hasPrefix("CONNECT localhost:4433 ") && outer.contains("Proxy-Authorization: Basic "))
        #expect(!outer.contains("Bearer"))
        #expect(origin.contains("Authorization: Bearer own\r\n") && !origin.lowercased().contains("proxy-"))
    }

    @Test(
        "a tunnel carries requests although the proxy's 200 says that it closes the connection",
        arguments: [
            "Connection: close\r\n", "Proxy-Connection: close\r\n", "Connection: close\r\nContent-Length: 0\r\n",
        ])
    func closingProxy(fields: String) async throws {
        let certificates = try await TestCertificates()
        let asked = Log<String>()
        let proxy = try Self.proxy(try Self.context(certificates), asked, fields: fields) { session, _ in
            while session.readSome() != nil {
                session.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8))
            }
        }
        let transport = Self.transport(certificates, proxy: proxy)
        for _ in 0..<2 {
            let response = try await transport.send(try request(.get, "https://localhost:4433/a"), options: .of())
            #expect(response.status == 200 && response.data == Data("ok".utf8))
        }
        #expect((1...2).contains(asked.count))
    }

    @Test(
        "a connection that ends after its tunnel was opened is a lost connection and no refusal of the proxy",
        arguments: [HTTPMethod.get, .post], [false, true])
    func lostInTunnel(method: HTTPMethod, isReset: Bool) async throws {
        let certificates = try await TestCertificates()
        let asked = Log<String>()
        let proxy = try Self.proxy(try Self.context(certificates), asked) { session, peer in
            _ = session.readSome()
            if isReset { peer.reset() }
        }
        let body: RequestBody = method == .get ? .none : .data(Data("abc".utf8))
        let error = try await failure {
            try await Self.transport(certificates, proxy: proxy).send(
                try request(method, "https://localhost:4433/a", body: body), options: .of())
        }
        #expect(error.code == .connectionLost && error.isRetryable, "\(error)")
        #expect(!error.message.contains("proxy"))
    }

    @Test("a certificate counts for its host with and without a final dot, and the server sees the host as written")
    func finalDot() async throws {
        let certificates = try await TestCertificates()
        let context = try Self.context(certificates)
        let heads = Log<String>()
        let server = try RawServer { peer in
            Self.blockSignals()
            guard let session = context.accept(peer.descriptor), let bytes = session.readSome() else { return }
            heads.add(String(decoding: bytes, as: UTF8.self))
            session.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8))
            _ = session.readSome()
        }
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: certificates.file("root.pem")))
        configuration.httpVersion = .http1
        configuration.addresses = ["localhost": ["127.0.0.1"]]
        for host in ["localhost", "localhost."] {
            let response = try await CurlTransport(configuration)
                .send(try request(.get, "https://\(host):\(server.port)/"), options: .of())
            #expect(response.status == 200)
            #expect(heads.all.last?.contains("Host: \(host):\(server.port)\r\n") == true)
        }
    }

    @Test(
        "two hosts with one address and one certificate have a connection each, so no request is misdirected",
        .needsHTTP2)
    func separateHosts() async throws {
        let certificates = try await TestCertificates()
        let server = try HTTP2Server(try certificates.context(), waitsForBody: false) { _ in .respond }
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: certificates.file("root.pem")))
        configuration.tls.dangerouslyAcceptsCertificatesOfOtherHosts = true
        configuration.addresses = ["one.test": ["127.0.0.1"], "two.test": ["127.0.0.1"]]
        let transport = CurlTransport(configuration)
        let port = try #require(URL(string: server.url)?.port)
        for host in ["one.test", "two.test", "one.test", "two.test"] {
            _ = try await transport.send(try request(.get, "https://\(host):\(port)/"), options: .of())
        }
        #expect(server.arrivals.map(\.connection) == [1, 2, 1, 2])
    }
}
#endif
