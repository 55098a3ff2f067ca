#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

/// Requests over TLS wait for the first connection to their host, because it may turn out to carry all of them.
@Suite("The wait for a first connection", .endsInTime, .leakChecked)
struct FirstConnectionTests {
    private func silentServer() throws -> RawServer { try RawServer { peer in _ = peer.drain() } }

    enum Limit: CaseIterable { case silence, connection }

    @Test(
        "requests that wait for a connection time out independently, not one after the other",
        arguments: Limit.allCases)
    func own(limit: Limit) async throws {
        let server = try silentServer()
        var configuration = CurlConfiguration()
        if limit == .connection { configuration.connectTimeout = .milliseconds(500) }
        let transport = CurlTransport(configuration)
        let url = "https://127.0.0.1:\(server.port)/"
        let timeout = limit == .silence ? Duration.milliseconds(500) : .seconds(120)
        // Uses a separate transport, so only the timing relates the two.
        let slow = Task {
            try await CurlTransport().send(try request(.get, server.url()), options: .of(timeout: .seconds(15)))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    let error = try await failure {
                        try await transport.send(try request(.get, url), options: .of(timeout: timeout))
                    }
                    #expect(error.code == .timedOut)
                }
            }
            try await group.waitForAll()
        }
        // In sequence, they would take 20 seconds, and the slow request would have timed out.
        slow.cancel()
        let error = try await failure { try await slow.value }
        #expect(error.code == .cancelled)
    }

    @Test("a short timeout after a long timeout is kept")
    func shorter() async throws {
        let server = try silentServer()
        let transport = CurlTransport()
        let url = "https://127.0.0.1:\(server.port)/"
        let first = Task { try await transport.send(try request(.get, url), options: .of()) }
        try await eventually { server.accepted >= 1 }
        let error = try await failure {
            try await transport.send(try request(.get, url), options: .of(timeout: .milliseconds(200)))
        }
        #expect(error.code == .timedOut)
        first.cancel()
        _ = await first.result
    }

    @Test("a caller's own time source also ends the wait for a first connection")
    func ownClock() async throws {
        let server = try silentServer()
        let transport = CurlTransport()
        let time = ManualTimeSource()
        let url = "https://127.0.0.1:\(server.port)/"
        let ended = Log<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let options = TransportOptions(timeout: .seconds(3600), time: time)
                    let error = try await failure { try await transport.send(try request(.get, url), options: options) }
                    #expect(error.code == .timedOut)
                    ended.add(1)
                }
            }
            try await time.waitForSleepers(atLeast: 6)
            try await eventually { server.accepted >= 1 }
            time.advance(by: .seconds(3601))
            try await group.waitForAll()
        }
        #expect(ended.all.count == 6)
    }

    @Test(
        "waiting for a free connection over TLS doesn't count as silence",
        .enabled(if: Nginx.isInstalled, "nginx or openssl is not installed"))
    func free() async throws {
        let nginx = try await Nginx.site([("slow", " ssl; limit_rate 200;")])
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: nginx.file("root.pem")))
        configuration.maximumConnectionsPerHost = 1
        // Each takes four seconds, so the last one waits longer than the connect timeout.
        configuration.connectTimeout = .seconds(8)
        let transport = CurlTransport(configuration)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await transport.send(
                        try request(.get, nginx.url("slow", "/1k")), options: .of(timeout: .seconds(8))
                    ).data.count
                }
            }
            for try await count in group { #expect(count == 1024) }
        }
    }
}
#endif
