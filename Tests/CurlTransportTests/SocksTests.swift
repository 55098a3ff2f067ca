#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Testing

@Suite("Proxies that speak SOCKS, over libcurl", .endsInTime, .leakChecked) struct SocksTests {
    /// What a client has told the proxy.
    private struct Session: Equatable, Sendable {
        var credentials: [String] = []
        var host = ""
        var head = ""
    }

    /// Reads a handshake (RFC 1928 and RFC 1929) and a request, and responds to it in the server's place.
    private static func session(_ peer: Peer) -> Session? {
        func text(_ count: UInt8?) -> String { String(decoding: peer.read(Int(count ?? 0)), as: UTF8.self) }
        var session = Session()
        guard peer.read(1) == [5] else { return nil }
        let methods = peer.read(Int(peer.read(1).first ?? 0))
        if methods.contains(2) {
            peer.send([5, 2])
            guard peer.read(1) == [1] else { return nil }
            session.credentials = [text(peer.read(1).first), text(peer.read(1).first)]
            peer.send([1, 0])
        } else {
            peer.send([5, 0])
        }
        guard peer.read(3) == [5, 1, 0], let kind = peer.read(1).first else { return nil }
        session.host =
            kind == 3 ? text(peer.read(1).first) : peer.read(kind == 1 ? 4 : 16).map(String.init).joined(separator: ".")
        _ = peer.read(2)
        peer.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        guard let head = peer.readHead() else { return nil }
        session.head = String(head.prefix { $0 != "\r\n" })
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return session
    }

    @Test(
        "the credentials of the proxy's URL are decoded, and with socks5h the proxy looks the host up",
        arguments: [
            ("socks5h", "", [], "app.test"), ("socks5", "", [], "127.0.0.1"),
            ("socks5h", "ada:lovelace@", ["ada", "lovelace"], "app.test"),
            ("socks5h", "ada%40b.test:p%61%3A%2F%25@", ["ada@b.test", "pa:/%"], "app.test"),
            ("socks5h", "%3Ctor%3E0:x@", ["<tor>0", "x"], "app.test"), ("socks5h", "ada:@", ["ada", ""], "app.test"),
            ("socks5h", "ada:a%6q@", ["ada", "a%6q"], "app.test"),
        ] as [(String, String, [String], String)])
    func sessions(scheme: String, credentials: String, expected: [String], host: String) async throws {
        let sessions = Log<Session>()
        let server = try RawServer { peer in if let session = Self.session(peer) { sessions.add(session) } }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("\(scheme)://\(credentials)127.0.0.1:\(server.port)")
        let target = scheme == "socks5h" ? "app.test" : "127.0.0.1"
        let response = try await CurlTransport(configuration)
            .send(try request(.get, "http://\(target):81/x?y=1"), options: .of())
        #expect(response.data == "ok".utf8.asData)
        try await sessions.wait { !$0.isEmpty }
        #expect(sessions.all == [Session(credentials: expected, host: host, head: "GET /x?y=1 HTTP/1.1")])
        sessions.removeAll()
    }

    @Test(
        "a proxy that refuses the credentials or the host is a failure to connect, without the credentials",
        arguments: [true, false])
    func refused(isUser: Bool) async throws {
        let server = try RawServer { peer in
            _ = peer.read(Int(peer.read(2).last ?? 0))
            peer.send([5, 2])
            // The name and the password, and then the host and the port.
            _ = peer.read(12)
            peer.send([1, isUser ? 1 : 0])
            if isUser { return }
            _ = peer.read(15)
            peer.send([5, 2, 0, 1, 0, 0, 0, 0, 0, 0])
        }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("socks5h://ada:canary@127.0.0.1:\(server.port)")
        let error = try await failure {
            try await CurlTransport(configuration).send(try request(.get, "http://app.test:81/"), options: .of())
        }
        #expect(error.code == .cannotConnect && !"\(error)".contains("canary"))
    }
}
#endif
