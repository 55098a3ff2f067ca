#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Synchronization
import Testing

@Suite("Idle connections, and connections in use", .endsInTime, .leakChecked)
struct HeldConnectionTests {
    private func configuration() -> CurlConfiguration {
        var configuration = CurlConfiguration()
        configuration.keepAliveTime = .milliseconds(200)
        return configuration
    }

    /// Lets two connections become idle and be closed, one after the other. After that, any connection that was idle
    /// before has exceeded the idle time, too.
    private func letIdleConnectionsEnd(_ transport: CurlTransport) async throws {
        let ended = Log<Int>()
        let server = try RawServer { peer in
            while peer.readHead() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
            ended.add(1)
        }
        for round in 1...2 {
            _ = try await transport.send(try request(.get, server.url()), options: .of())
            try await eventually { ended.all.count == round }
        }
    }

    @Test("a stream with a stopped reader keeps its connection, while other connections become idle and are closed")
    func pausedStream() async throws {
        let server = try RawServer.sending(bytes: 20 << 20)
        let transport = CurlTransport(configuration())
        let response = try await transport.send(try request(.get, server.url()), options: .of(.stream))
        var chunks = response.body.makeAsyncIterator()
        var count = try await chunks.next()?.count ?? 0
        try await letIdleConnectionsEnd(transport)
        while let chunk = try await chunks.next() { count += chunk.count }
        #expect(count == 20 << 20)
    }

    @Test("an upload whose source is waiting keeps its connection while idle connections are closed")
    func pausedUpload() async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            let body = peer.readChunked()?.count ?? -1
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Count: \(body)\r\n\r\n")
        }
        let transport = CurlTransport(configuration())
        let feed = Feed([pattern(1000)], ends: false)
        let upload = try request(.post, server.url(), body: .stream(HTTPBody(source: feed)))
        let task = Task { try await transport.send(upload, options: .of()) }
        try await eventually { feed.pulls == 2 }
        try await letIdleConnectionsEnd(transport)
        feed.give(pattern(500))
        feed.give(nil)
        #expect(try await task.value.headers["X-Count"] == "1500")
    }

    @Test(
        "a stopped reader on HTTP/2 keeps the shared connection, even after the other streams have ended",
        .enabled(if: Nginx.isInstalled, "nginx or openssl is not installed"))
    func pausedMultiplexed() async throws {
        let nginx = try await Nginx.site([("good", " ssl http2;")])
        var configuration = configuration()
        configuration.tls.roots = .file(URL(filePath: nginx.file("root.pem")))
        let transport = CurlTransport(configuration)
        _ = try await transport.send(try request(.get, nginx.url("good", "/1k")), options: .of())
        let stopped = try await transport.send(try request(.get, nginx.url("good", "/48m")), options: .of(.stream))
        var chunks = stopped.body.makeAsyncIterator()
        var count = try await chunks.next()?.count ?? 0
        for _ in 0..<3 {
            let other = try await transport.send(try request(.get, nginx.url("good", "/1k")), options: .of())
            #expect(other.data.count == 1024)
        }
        try await letIdleConnectionsEnd(transport)
        while let chunk = try await chunks.next() { count += chunk.count }
        #expect(count == 48 << 20)
    }

    @Test("a connection without a transfer is closed after the idle time although another transfer is paused")
    func idle() async throws {
        let server = try RawServer.sending(bytes: 20 << 20)
        let transport = CurlTransport(configuration())
        let response = try await transport.send(try request(.get, server.url()), options: .of(.stream))
        try await letIdleConnectionsEnd(transport)
        response.body.cancel()
    }

    @Test(
        "a deadline ends a wait for a connection that an unread response holds, and cancelling that response frees it")
    func unreadResponse() async throws {
        let server = try RawServer { peer in
            guard let head = peer.readHead() else { return }
            let isHolder = head.contains("GET /held")
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(isHolder ? 64 << 20 : 2)\r\n\r\n")
            if isHolder {
                while peer.send([UInt8](repeating: 7, count: 1 << 16)) {}
            } else {
                peer.send("ok")
            }
        }
        var configuration = configuration()
        configuration.maximumConnectionsPerHost = 1
        let transport = CurlTransport(configuration)
        let agent = NetworkAgent(baseURL: try #require(URL(string: server.url())), transport: transport)
        let held = try await transport.send(try request(.get, server.url("/held")), options: .of(.stream))
        let waiting = Call<String>(.get, "next") {
            $0.timeout = .milliseconds(20)
            $0.deadline = .milliseconds(300)
        }
        #expect(try await failure { try await agent.send(waiting) }.code == .deadlineExceeded)
        held.body.cancel()
        #expect(try await agent.send(Call<String>(.get, "next")).value == "ok")
    }
}
#endif
