#if os(Linux)
import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@testable import ErrandCurlTransport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Bytes after the end of a response, over libcurl", .endsInTime, .leakChecked)
struct ExcessTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    enum Excess: String, CaseIterable {
        case text = "what nobody asked for\r\n\r\n"
        case line = "\r\n"
        case response = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }

    @Test(
        "excess bytes on a reused connection don't end the next request",
        arguments: Excess.allCases, [HTTPMethod.get, .post])
    func later(excess: Excess, method: HTTPMethod) async throws {
        let posts = Log<String>()
        let sent = Log<Int>()
        let gate = Steps()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if head.hasPrefix("POST") { posts.add("POST") }
                peer.send(Self.ok)
                if head.contains(" /first ") {
                    gate.wait()
                    peer.send(excess.rawValue)
                    sent.add(1)
                }
            }
        }
        let transport = CurlTransport()
        _ = try await transport.send(try request(.get, server.url("/first")), options: .of())
        gate.go()
        try await eventually { sent.all.count == 1 }
        let response = try await transport.send(try request(method, server.url("/second")), options: .of())
        #expect(response.status == 200 && response.data == Data("ok".utf8))
        #expect(posts.all.count <= 1)
    }

    @Test(
        "excess bytes that arrive with the response don't end the next request", arguments: Excess.allCases,
        [HTTPMethod.get, .post])
    func together(excess: Excess, method: HTTPMethod) async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                peer.send(head.contains(" /first ") ? Self.ok + excess.rawValue : Self.ok)
            }
        }
        let transport = CurlTransport()
        _ = try await transport.send(try request(.get, server.url("/first")), options: .of())
        let response = try await transport.send(try request(method, server.url("/second")), options: .of())
        #expect(response.status == 200 && response.data == Data("ok".utf8))
    }

    @Test(
        "over TLS, excess bytes don't end a later request", .enabled(if: TLSContext.isAvailable),
        arguments: Excess.allCases, [HTTPMethod.get, .post])
    func overTLS(excess: Excess, method: HTTPMethod) async throws {
        let certificates = try await TestCertificates()
        let gate = Steps()
        let sent = Log<Int>()
        let server = try Self.secureServer(certificates) { session, _ in
            session.write(Array(Self.ok.utf8))
            gate.wait()
            session.write(Array(excess.rawValue.utf8))
            sent.add(1)
        }
        let transport = CurlTransport(trusting: certificates)
        let url = "https://localhost:\(server.port)"
        _ = try await transport.send(try request(.get, url + "/first"), options: .of())
        gate.go()
        try await eventually { sent.all.count == 1 }
        let response = try await transport.send(try request(method, url + "/second"), options: .of())
        #expect(response.status == 200 && response.data == Data("ok".utf8))
    }

    @Test(
        "excess bytes in a separate record after the response don't end the next request",
        .enabled(if: TLSContext.isAvailable),
        arguments: Excess.allCases, [HTTPMethod.get, .post])
    func inOneSegment(excess: Excess, method: HTTPMethod) async throws {
        let certificates = try await TestCertificates()
        let server = try Self.secureServer(certificates) { session, descriptor in
            Self.hold(descriptor, true)
            session.write(Array(Self.ok.utf8))
            session.write(Array(excess.rawValue.utf8))
            Self.hold(descriptor, false)
        }
        let transport = CurlTransport(trusting: certificates)
        let url = "https://localhost:\(server.port)"
        let first = try await transport.send(try request(.get, url + "/first"), options: .of())
        #expect(first.data == Data("ok".utf8))
        do {
            let response = try await transport.send(try request(method, url + "/second"), options: .of())
            #expect(response.status == 200 && response.data == Data("ok".utf8))
        } catch let error as ErrandError {
            // If the TLS library has already read the bytes, they show up once the request was sent.
            #expect(method == .post && error.code == .connectionLost, "\(error)")
            #expect(try CurlLibrary.load().avoids(.unseenExcess))
        }
    }

    /// Responds to each request, except that the closure handles `/first`.
    private static func secureServer(
        _ certificates: TestCertificates, _ first: @escaping @Sendable (TLSSession, Int32) -> Void
    ) throws -> RawServer {
        let context = try TLSContext(
            certificate: certificates.file("good.pem"), key: certificates.file("good.key"), choosesHTTP2: false)
        return try RawServer { peer in
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            guard let session = context.accept(peer.descriptor) else { return }
            var head = ""
            while let byte = session.read(1) {
                head += String(decoding: byte, as: UTF8.self)
                guard head.hasSuffix("\r\n\r\n") else { continue }
                if head.contains(" /first ") { first(session, peer.descriptor) } else { session.write(Array(ok.utf8)) }
                head = ""
            }
        }
    }

    /// Holds back written bytes, so they leave in one segment.
    private static func hold(_ descriptor: Int32, _ isHeld: Bool) {
        var value: Int32 = isHeld ? 1 : 0
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
#endif
