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

@Suite("Requests that are sent again over libcurl", .endsInTime, .leakChecked)
struct ResendTests {
    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// A server that reads each request completely and closes the connection without a response. It answers the warming
    /// requests.
    private static func server(_ seen: Log<String>, warm: Int) throws -> RawServer {
        let gate = Gate(warm)
        return try RawServer { peer in
            while let head = peer.readHead() {
                if head.contains(" /warm ") {
                    gate.arrive()
                    peer.send(ok)
                    continue
                }
                if head.lowercased().contains("transfer-encoding: chunked") {
                    _ = peer.readChunked()
                } else {
                    _ = peer.read(length(in: head))
                }
                return seen.add(String(head.prefix { $0 != " " }))
            }
        }
    }

    private static func length(in head: String) -> Int {
        guard let range = head.lowercased().firstRange(of: "content-length: ") else { return 0 }
        return Int(head[range.upperBound...].prefix { $0.isNumber }) ?? 0
    }

    private static func warm(_ transport: CurlTransport, _ server: RawServer, _ count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    _ = try await transport.send(try request(.get, server.url("/warm")), options: .of())
                }
            }
            try await group.waitForAll()
        }
        #expect(server.accepted == count)
    }

    @Test(
        "a request that isn't idempotent and was read completely is sent once, with any number of kept connections",
        arguments: ["POST", "PATCH", "MERGE"], SampleBody.allCases)
    func once(method: String, body: SampleBody) async throws {
        let seen = Log<String>()
        let server = try Self.server(seen, warm: 6)
        let transport = CurlTransport()
        try await Self.warm(transport, server, 6)
        let request = try request(HTTPMethod(rawValue: method), server.url("/go"), body: body.body)
        let error = try await failure { try await transport.send(request, options: .of()) }
        #expect(error.code == .connectionLost)
        #expect(seen.all == [method])
    }

    @Test(
        "an idempotent request that was read completely is sent at most twice",
        arguments: ["GET", "PUT", "DELETE"], SampleBody.allCases)
    func twice(method: String, body: SampleBody) async throws {
        let seen = Log<String>()
        let server = try Self.server(seen, warm: 6)
        let transport = CurlTransport()
        try await Self.warm(transport, server, 6)
        let request = try request(HTTPMethod(rawValue: method), server.url("/go"), body: body.body)
        let error = try await failure { try await transport.send(request, options: .of()) }
        #expect(error.code == .connectionLost)
        #expect(seen.all.count <= (body == .stream ? 1 : 2) && !seen.all.isEmpty)
    }

    @Test("a POST is sent on another connection if the kept one was closed before", arguments: [1, 6])
    func closedBefore(connections: Int) async throws {
        let posts = Log<String>()
        let closed = Log<Int>()
        let gate = Gate(connections)
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if head.hasPrefix("POST") {
                    _ = peer.read(3)
                    posts.add("POST")
                    peer.send(Self.ok)
                    continue
                }
                gate.arrive()
                peer.send(Self.ok)
                peer.close()
                return closed.add(1)
            }
        }
        let transport = CurlTransport()
        try await Self.warm(transport, server, connections)
        try await eventually { closed.all.count == connections && server.connectedClients == 0 }
        let request = try request(.post, server.url("/go"), body: .data(Data("abc".utf8)))
        #expect(try await transport.send(request, options: .of()).status == 200)
        #expect(posts.all.count == 1)
    }

    @Test(
        "a malformed response after a kept connection that was reset is treated separately",
        arguments: ["GET", "PUT", "DELETE"])
    func malformedAfterReset(method: String) async throws {
        guard try !CurlLibrary.load().avoids(.connectionReuse) else {
            try Test.cancel("this libcurl's connections aren't reused")
        }
        for _ in 0..<8 {
            let heads = Log<String>()
            let server = try RawServer { peer in
                while let head = peer.readHead() {
                    heads.add(head)
                    if heads.all.count == 1 {
                        peer.send(Self.ok)
                    } else if heads.all.count == 2 {
                        return peer.reset()
                    } else {
                        peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n")
                        return
                    }
                }
            }
            let transport = CurlTransport()
            _ = try await transport.send(try request(.get, server.url()), options: .of())
            let again = try request(HTTPMethod(rawValue: method), server.url("/again"))
            let error = try await failure { try await transport.send(again, options: .of()) }
            #expect(error.code == .invalidResponse, "\(error)")
            #expect(error.response?.status == 200)
            #expect(heads.all.count == 3)
        }
    }

    @Test("bytes that arrive with the next request count as a lost connection: a GET is sent again, a POST isn't")
    func excessLater() async throws {
        let heads = Log<String>()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                heads.add(String(head.prefix { $0 != "\r" }))
                let isAgain = head.contains(" /a ") && heads.all.filter { $0.contains(" /a ") }.count == 2
                guard head.contains(" /first ") || isAgain else {
                    peer.send("no response at all\r\n\r\n")
                    return
                }
                peer.send(Self.ok)
            }
        }
        let transport = CurlTransport()
        _ = try await transport.send(try request(.get, server.url("/first")), options: .of())
        let post = try request(.post, server.url("/b"), body: .data(Data("abc".utf8)))
        let error = try await failure { try await transport.send(post, options: .of()) }
        let isReused = try !CurlLibrary.load().avoids(.connectionReuse)
        #expect(error.code == (isReused ? .connectionLost : .invalidResponse))
        #expect(heads.all.filter { $0.hasPrefix("POST") }.count == 1)
        _ = try await transport.send(try request(.get, server.url("/first")), options: .of())
        guard isReused else { return }
        #expect(try await transport.send(try request(.get, server.url("/a")), options: .of()).status == 200)
        #expect(heads.all.filter { $0.contains(" /a ") }.count == 2)
        let fresh = try await failure { try await CurlTransport().send(post, options: .of()) }
        #expect(fresh.code == .invalidResponse)
    }

    @Test("every kept connection that breaks during a GET is replaced, in any number", arguments: [24])
    func diesEachTime(rounds: Int) async throws {
        guard try !CurlLibrary.load().avoids(.connectionReuse) else {
            try Test.cancel("this libcurl's connections aren't reused")
        }
        let heads = Log<String>()
        let server = try RawServer { peer in
            // The first request of a connection gets its response; on the second one the connection is closed.
            guard let first = peer.readHead() else { return }
            heads.add(first)
            peer.send(Self.ok)
            if let second = peer.readHead() { heads.add(second) }
        }
        let transport = CurlTransport()
        for _ in 0..<rounds {
            let response = try await transport.send(try request(.get, server.url("/")), options: .of())
            #expect(response.data == Data("ok".utf8))
        }
        #expect(heads.all.count == 2 * rounds - 1)
    }

    @Test("a reused connection that breaks during a GET is replaced, even if earlier connections couldn't be replaced")
    func diesAfterFailures() async throws {
        guard try !CurlLibrary.load().avoids(.connectionReuse) else {
            try Test.cancel("this libcurl's connections aren't reused")
        }
        let isDown = Atomic(false)
        let server = try RawServer { peer in
            if isDown.load(ordering: .acquiring) { return peer.reset() }
            guard peer.readHead() != nil else { return }
            peer.send(Self.ok)
            guard let second = peer.readHead() else { return }
            if second.contains(" /down ") { isDown.store(true, ordering: .releasing) }
        }
        let transport = CurlTransport()
        for _ in 0..<8 {
            _ = try await transport.send(try request(.get, server.url("/")), options: .of())
            let error = try await failure {
                try await transport.send(try request(.get, server.url("/down")), options: .of())
            }
            #expect(error.code == .connectionLost)
            isDown.store(false, ordering: .releasing)
            for _ in 0..<2 {
                #expect(try await transport.send(try request(.get, server.url("/")), options: .of()).status == 200)
            }
        }
    }

    @Test(
        "a request that was read before its server disappeared has a lost connection, not an unreachable server",
        arguments: [HTTPMethod.get, .post])
    func readBeforeGone(method: HTTPMethod) async throws {
        guard try !CurlLibrary.load().avoids(.connectionReuse) else {
            try Test.cancel("this libcurl's connections aren't reused")
        }
        let folder = try Folder()
        let path = folder.path("socket")
        let seen = Log<String>()
        let server = try RawServer(unixSocket: path) { peer in
            while let head = peer.readHead() {
                seen.add(String(head.prefix { $0 != " " }))
                if head.contains(" /warm ") {
                    peer.send(Self.ok)
                    continue
                }
                unlink(path)
                return
            }
        }
        var configuration = CurlConfiguration()
        configuration.unixSocketPath = path
        let transport = CurlTransport(configuration)
        _ = try await transport.send(try request(.get, "http://localhost/warm"), options: .of())
        let error = try await failure {
            try await transport.send(try request(method, "http://localhost/go"), options: .of())
        }
        #expect(error.code == .connectionLost, "\(error)")
        #expect(seen.all == ["GET", method.rawValue])
        withExtendedLifetime(server) {}
    }

    @Test("waiting for a free connection before sending again doesn't count as the server's inactivity")
    func waitsAgain() async throws {
        guard try !CurlLibrary.load().avoids(.connectionReuse) else {
            try Test.cancel("this libcurl's connections aren't reused")
        }
        let (spoil, release) = (Steps(), Steps())
        let heads = Log<String>()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                let path = String(head.split(separator: " ")[1])
                heads.add(path)
                if path == "/again", heads.all.filter({ $0 == "/again" }).count == 1 {
                    spoil.wait()
                    peer.send("no response at all\r\n\r\n")
                    return
                }
                if path == "/long" { release.wait() }
                peer.send(Self.ok)
            }
        }
        var configuration = CurlConfiguration()
        configuration.maximumConnections = 1
        let transport = CurlTransport(configuration)
        _ = try await transport.send(try request(.get, server.url("/warm")), options: .of())
        let time = ManualTimeSource()
        let again = try request(.get, server.url("/again"))
        let task = Task {
            try await transport.send(again, options: TransportOptions(timeout: .seconds(60), time: time)).data
        }
        try await eventually { heads.all.contains("/again") }
        // A request for another host waits for the only connection, and gets it when the first attempt of the other
        // request fails.
        let other = "http://localhost:\(server.port)/long"
        let long = Task { try await transport.send(try request(.get, other), options: .of()).status }
        try await eventually { transport.started.withLock { $0?.runningCount } == 2 }
        spoil.go()
        try await eventually { heads.all.last == "/long" }
        // The loop has finished the round in which the first attempt failed, so the second attempt waits.
        #expect(transport.started.withLock { $0?.runningCount } == 2)
        try await time.waitForSleepers()
        let next = try #require(time.nextWake)
        time.advance(to: next)
        // The watch has checked and sleeps again.
        try await eventually { time.nextWake.map { $0 > next } ?? false }
        release.go()
        #expect(try await task.value == "ok".utf8.asData)
        #expect(try await long.value == 200)
        #expect(heads.all == ["/warm", "/again", "/long", "/again"])
    }
}

/// Blocks threads of a test's server until this many have arrived.
private final class Gate: Sendable {
    private let size: Int
    private let count = Atomic(0)

    init(_ size: Int) { self.size = size }

    func arrive() {
        count.add(1, ordering: .acquiringAndReleasing)
        while count.load(ordering: .acquiring) < size { usleep(500) }
    }
}
#endif
