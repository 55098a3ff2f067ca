#if os(Linux)
import Errand
import ErrandConformance
import ErrandEssentials
import ErrandTesting
import Foundation
import Testing

@testable import ErrandCurlTransport

@Suite("HTTP/3 with a libcurl that doesn't support it", .endsInTime, .leakChecked)
struct WithoutHTTP3Tests {
    private static var isMissing: Bool { (try? CurlLibrary.load())?.speaksHTTP3 == false }

    @Test(
        "without HTTP/3, http3Only is refused with libcurl's version, and http3 still works",
        .enabled(if: isMissing, "this libcurl has HTTP/3"))
    func missing() async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil { peer.send("HTTP/1.1 204 No Content\r\nAlt-Svc: h3=\":1\"\r\n\r\n") }
        }
        var configuration = CurlConfiguration()
        configuration.httpVersion = .http3Only
        let strict = CurlTransport(configuration)
        let error = await #expect(throws: ErrandError.self) {
            try await strict.send(try request(.get, server.url()), options: .of())
        }
        #expect(error?.code == .transportUnavailable)
        let version = try CurlLibrary.load().version.description
        #expect(error?.message.contains(version) == true && error?.message.contains("HTTP/3") == true)
        configuration.httpVersion = .http3
        let response = try await CurlTransport(configuration).send(try request(.get, server.url()), options: .of())
        #expect(response.status == 204 && response.version == "1.1")
    }
}

@Suite(
    "HTTP/3 with a foreign server", .endsInTime,
    .enabled(HTTP3Server.skipReason) { await HTTP3Server.isUsable() }, .leakChecked)
struct HTTP3Tests {
    private static let limitations: [KnownLimitation] =
        [
            "connecting to a port without a listener fails with cannotConnect",
            "a host name that doesn't exist is an error",
            "malformed chunks are invalidResponse, not connectionLost",
            "a transfer coding other than chunked is invalidResponse",
            "a header field that starts with a carriage return is invalidResponse",
            "consecutive requests share a connection",
            "a streamed body of unknown length is sent with exactly one framing",
        ].map { .named($0, because: "it is between the server of HTTP/3 and the one behind it") } + [
            .named(
                "a server that doesn't read makes the body's source pause",
                because: "the server in Python takes in all that comes")
        ]

    @Test("a transport over HTTP/3 passes the transport conformance suite")
    func conformance() async throws {
        let server = try await HTTP3Server()
        // The laws compare bytes of HTTP/1.1, which the server of HTTP/3 doesn't pass on.
        let cases = TransportConformance.cases(
            for: { HTTP3Transport(server) }, laws: .off, knownLimitations: Self.limitations, within: .seconds(500))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, each) in cases.enumerated() {
                if index >= 8 { try await group.next() }
                group.addTask {
                    do { try await each.run() } catch is ConformanceSkipped {} catch {
                        Issue.record("\(each.name): \(error)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("wrong Content-Lengths are sent unchanged over TCP", arguments: BodyDelivery.wire)
    func lengths(delivery: BodyDelivery) async throws {
        let server = try await HTTP3Server()
        let transport = CurlTransport(server.configuration(.http3Only))
        for fault in [HTTP3Server.Fault.short, .long, .cut] {
            let error = try await failure {
                let response = try await transport.send(
                    try request(.get, server.url(fault.path)), options: .of(delivery))
                return try await response.body.collect(upTo: 100)
            }
            // Bytes beyond the length are rejected along with the bytes before them, or after those were delivered.
            let isTooLong = fault == .long && error.code == .invalidResponse
            #expect(error.code == .truncated || isTooLong, "\(fault): \(error)")
        }
        let good = try await transport.send(try request(.get, server.url("/quic/good")), options: .of(delivery))
        #expect(try await good.body.collect(upTo: 100) == "quic".utf8.asData)
    }

    @Test("concurrent requests share a connection, with bodies in both directions, and the version is reported")
    func exchange() async throws {
        let (server, origin) = (try await HTTP3Server(), try TestServer())
        origin.on("/echo") { .data($0.body) }
        let transport = CurlTransport(server.configuration(.http3Only))
        let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let body = number == 0 ? content : Data("\(number)".utf8)
                    let request = try request(
                        .post, server.url("/echo"), headers: ["X-Port": "\(origin.port)"], body: .data(body))
                    let response = try await transport.send(request, options: .of())
                    #expect(response.version == "3" && response.data == body)
                }
            }
            try await group.waitForAll()
        }
        let refused = await #expect(throws: ErrandError.self) {
            try await transport.send(try request(.get, "https://localhost:1/"), options: .of())
        }
        #expect(refused?.code == .cannotConnect)
        let plain = try await transport.send(try request(.get, origin.url("/plain")), options: .of())
        #expect(plain.status == 404 && plain.version == "1.1")
    }
}

@Suite(
    "Servers that offer HTTP/3", .endsInTime,
    .enabled(HTTP3Server.skipReason) { await HTTP3Server.isUsable() }, .leakChecked)
struct OfferedHTTP3Tests {
    private struct Site {
        let nginx: Nginx
        let quic: HTTP3Server
        let origin = try? TestServer()

        init() async throws {
            quic = try await HTTP3Server()
            let offer = "add_header Alt-Svc 'h3=\":\(quic.port)\"; ma=600';"
            nginx = try await Nginx.site(
                [
                    (
                        "site",
                        " ssl http2; ssl_certificate \(quic.folder.path("named.pem")); ssl_certificate_key \(quic.folder.path("named.key")); \(offer) location / { return 200 tcp; }"
                    )
                ],
                hasLargeFile: false)
            origin?.on("/", .text("quic"))
            origin?.on("/clear", .text("quic").header("Alt-Svc", "clear"))
        }

        func configuration(_ file: URL? = nil) -> CurlConfiguration {
            var configuration = quic.configuration(.http3)
            configuration.alternativeServicesFile = file
            return configuration
        }

        func version(
            _ transport: CurlTransport, _ path: String = "/", _ method: HTTPMethod = .get, body: RequestBody = .none
        ) async throws -> String {
            let headers: HTTPHeaders = ["X-Port": "\(origin?.port ?? 0)"]
            let request = try request(method, nginx.url("site", path), headers: headers, body: body)
            let response = try await transport.send(request, options: .of())
            #expect(try response.text() == (response.version == "3" ? "quic" : "tcp"))
            return response.version ?? ""
        }

        /// Returns a transport whose requests use QUIC. On a busy machine, several attempts may connect over TCP first.
        func transportOverQUIC() async throws -> CurlTransport {
            for _ in 0..<50 {
                let transport = CurlTransport(configuration())
                #expect(try await version(transport) == "2")
                if try await version(transport) == "3" { return transport }
            }
            throw NoQUIC()
        }
    }

    private struct NoQUIC: Error {}

    @Test("after the offer, requests use QUIC until the offer is withdrawn")
    func offered() async throws {
        let site = try await Site()
        let transport = try await site.transportOverQUIC()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await site.version(transport) } }
            for try await version in group { #expect(version == "3") }
        }
        #expect(try await site.version(transport, "/clear") == "3")
        #expect(try await site.version(transport) == "2")
    }

    @Test("an offer at another port uses the addresses that the app gives for the host")
    func givenAddresses() async throws {
        let folder = try Folder()
        try await Nginx.makeCertificates(in: folder.url)
        for end in ["pem", "key"] { try folder.data("elsewhere.\(end)").write(to: folder.file("named.\(end)")) }
        let quic = try await HTTP3Server(in: folder)
        let certificate = "\(folder.path("named.pem")); ssl_certificate_key \(folder.path("named.key"))"
        let offer = "add_header Alt-Svc 'h3=\":\(quic.port)\"'"
        let nginx = try await Nginx.site(
            [("site", " ssl http2; ssl_certificate \(certificate); \(offer); location / { return 200 tcp; }")],
            hasLargeFile: false)
        let origin = try TestServer()
        origin.on("/", .text("quic"))
        var configuration = quic.configuration(.http3)
        configuration.addresses = ["elsewhere.example": ["127.0.0.1"]]
        let url = nginx.url("site", "/", host: "elsewhere.example")
        for _ in 0..<50 {
            let transport = CurlTransport(configuration)
            for _ in 1...2 {
                let request = try request(.get, url, headers: ["X-Port": "\(origin.port)"])
                if try await transport.send(request, options: .of()).version == "3" { return }
            }
        }
        throw NoQUIC()
    }

    @Test("if a server stops supporting QUIC, one attempt fails, and later requests use TCP")
    func stopped() async throws {
        let site = try await Site()
        let transport = try await site.transportOverQUIC()
        try await site.quic.kill()
        for _ in 0..<3 { #expect(try await site.version(transport) == "2") }
        // nginx has repeated the offer; the transport ignores it.
        #expect(try await site.version(transport, "/", .post) == "2")
    }

    @Test("an offer with an unreachable server or a wrong certificate costs only the attempt")
    func nowhere() async throws {
        let other = try await HTTP3Server()
        for port in [1, other.port] {
            let nginx = try await Nginx.site(
                [("site", " ssl http2; add_header Alt-Svc 'h3=\":\(port)\"'; location / { return 200 tcp; }")],
                hasLargeFile: false)
            var configuration = CurlConfiguration()
            configuration.httpVersion = .http3
            configuration.tls.roots = .file(URL(filePath: nginx.file("root.pem")))
            let transport = CurlTransport(configuration)
            for _ in 0..<4 {
                let response = try await transport.send(try request(.get, nginx.url("site", "/")), options: .of())
                #expect(response.version == "2" && response.data == Data("tcp".utf8))
            }
        }
    }

    @Test(
        "a request that is lost on QUIC is sent over TCP if it may be sent again",
        arguments: [HTTPMethod.get, .put, .post])
    func lost(method: HTTPMethod) async throws {
        let site = try await Site()
        let transport = try await site.transportOverQUIC()
        let path = HTTP3Server.Fault.closed.path
        if method.isIdempotent {
            #expect(try await site.version(transport, path, method) == "2")
        } else {
            let error = try await failure { try await site.version(transport, path, method) }
            #expect(error.code == .connectionLost, "\(error)")
        }
        #expect(try site.quic.methods(.closed) == [method.rawValue])
        #expect(try await site.version(transport) == "2")
    }

    @Test("a request that is lost while trying an offer over QUIC is sent over TCP")
    func lostProbe() async throws {
        let site = try await Site()
        for _ in 0..<50 {
            let transport = CurlTransport(site.configuration())
            #expect(try await site.version(transport) == "2")
            #expect(try await site.version(transport, HTTP3Server.Fault.closed.path) == "2")
            // A busy machine may connect over TCP first.
            if try !site.quic.methods(.closed).isEmpty { return #expect(try site.quic.methods(.closed) == ["GET"]) }
        }
        throw NoQUIC()
    }

    @Test(
        "a request that is rejected on QUIC wasn't processed, and is sent again", arguments: [HTTPMethod.get, .post],
        [RequestBody.none, .data(pattern(1000))])
    func rejected(method: HTTPMethod, body: RequestBody) async throws {
        let site = try await Site()
        let transport = try await site.transportOverQUIC()
        let once = try await site.version(transport, HTTP3Server.Fault.rejectedOnce.path, method, body: body)
        #expect(once == "3")
        #expect(try site.quic.methods(.rejectedOnce) == [method.rawValue, method.rawValue])
        // If the server keeps rejecting it, the request may go over TCP.
        #expect(try await site.version(transport, HTTP3Server.Fault.rejected.path, method, body: body) == "2")
        #expect(try site.quic.methods(.rejected).count == 2)
    }

    @Test(
        "after a 421 over QUIC, a request with any method is sent over TCP", arguments: [HTTPMethod.get, .post])
    func misdirected(method: HTTPMethod) async throws {
        let site = try await Site()
        let transport = try await site.transportOverQUIC()
        let path = HTTP3Server.Fault.misdirected.path
        for _ in 1...2 {
            #expect(try await site.version(transport, path, method, body: .data(pattern(1000))) == "2")
        }
        #expect(try site.quic.methods(.misdirected).count == 1)
    }

    @Test(
        "a stream that its server resets with an error counts as possibly processed",
        arguments: [HTTPMethod.get, .post])
    func failed(method: HTTPMethod) async throws {
        let site = try await Site()
        let transport = try await site.transportOverQUIC()
        let path = HTTP3Server.Fault.failed.path
        if method.isIdempotent {
            #expect(try await site.version(transport, path, method) == "2")
        } else {
            let error = try await failure { try await site.version(transport, path, method) }
            #expect(error.code == .connectionLost, "\(error)")
        }
        #expect(try site.quic.methods(.failed) == [method.rawValue])
    }

    @Test("the configured file has the offer for the next transport, and only its owner can read it")
    func kept() async throws {
        let (site, folder) = (try await Site(), try Folder())
        let file = folder.file("offers")
        let first = CurlTransport(site.configuration(file))
        #expect(try await site.version(first) == "2")
        try await eventually { FileManager.default.fileExists(atPath: file.path) }
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let kept = try folder.data("offers")
        for _ in 0..<50 {
            try kept.write(to: file)
            if try await site.version(CurlTransport(site.configuration(file))) == "3" { return }
        }
        throw NoQUIC()
    }
}

extension BodyDelivery {
    fileprivate static var wire: [BodyDelivery] { [.data, .stream] }
}

extension HTTP3Server {
    static func isUsable() async -> Bool {
        guard (try? CurlLibrary.load())?.speaksHTTP3 == true else { return false }
        return await isInstalled.value
    }
}
#endif
