#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Faults of servers and networks, over libcurl", .endsInTime, .leakChecked)
struct FaultTests {
    private static let bytes = Array("HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 5\r\n\r\nhello".utf8)

    @Test("a connection that ends at any byte of a response is a typed error", arguments: [true, false])
    func endsAtEveryByte(isReset: Bool) async throws {
        let server = try RawServer { peer in
            guard let head = peer.readHead() else { return }
            peer.send(Array(Self.bytes.prefix(Int(head.split(separator: " ")[1].dropFirst()) ?? 0)))
            if isReset {
                // The bytes must arrive before the reset discards them.
                usleep(2000)
                peer.reset()
            }
        }
        let transport = CurlTransport()
        let head = Self.bytes.count - 5
        for cut in 0..<Self.bytes.count {
            let request = try request(.get, server.url("/\(cut)"))
            let error = try await failure { try await transport.send(request, options: .of()) }
            if isReset {
                #expect([.connectionLost, .truncated, .invalidResponse].contains(error.code), "\(cut): \(error)")
            } else if cut >= head {
                #expect(error.code == .truncated, "\(cut): \(error)")
            } else {
                #expect([.connectionLost, .invalidResponse, .truncated].contains(error.code), "\(cut): \(error)")
            }
        }
    }

    /// Responses that a client must reject, however often it asks.
    private static let malformedResponses = [
        "Transfer-Encoding: chunked\r\n\r\nx\r\nok\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\nok-\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nok",
        "Transfer-Encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nno field\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nT: 1\r\n\rX: 2\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nT: \(String(repeating: "a", count: 300_000))\r\n\r\n",
        "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "transfer-encoding:chunked , deflate\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked;q=1\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "\rX-A: 1\r\nContent-Length: 2\r\n\r\nok", "X-A: 1\r\n\rX-B: 2\r\nContent-Length: 2\r\n\r\nok",
        "X-A: 1\r\n\r\r\nok", "\r: 1\r\n\r\n",
    ]

    @Test(
        "invalid chunks, trailers, codings and fields cause invalidResponse, on an open and a closed connection",
        arguments: malformedResponses.indices, [false, true])
    func malformed(index: Int, closes: Bool) async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                peer.send("HTTP/1.1 200 OK\r\n\(Self.malformedResponses[index])")
                if closes { return }
            }
        }
        let transport = CurlTransport()
        for delivery in [BodyDelivery.data, .stream] {
            let error = try await failure {
                let response = try await transport.send(try request(.get, server.url()), options: .of(delivery))
                return try await response.body.collect(upTo: 1000)
            }
            #expect(
                error.code == .invalidResponse,
                "\(Self.malformedResponses[index].prefix(80).debugDescription): \(error)")
            #expect(!error.isRetryable)
        }
    }

    @Test("a new connection without TLS that ends before a byte suggests https in its error")
    func mute() async throws {
        let server = try RawServer { peer in if peer.readHead() != nil { peer.reset() } }
        let error = try await failure {
            try await CurlTransport().send(try request(.get, server.url()), options: .of())
        }
        #expect(error.code == .connectionLost && error.isRetryable)
        #expect(error.message.hasSuffix("before a response: should the URL begin with https?"), "\(error)")
        #expect(error.failureSentence == .connectionLost && error.underlying is CurlError)
    }

    @Test("identity, an empty list and chunked in capitals are handled like a missing field and chunked")
    func knownCodings() async throws {
        for coding in ["Chunked", "chunked", ",chunked"] {
            let server = try RawServer { peer in
                _ = peer.readHead()
                peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n2\r\nok\r\n0\r\n\r\n")
            }
            let response = try await CurlTransport().send(try request(.get, server.url()), options: .of())
            #expect(response.data == Data("ok".utf8), "\(coding)")
        }
    }

    @Test(
        "a request whose head is too long for libcurl throws invalidURL or invalidRequest",
        arguments: [2 << 20, 9_000_000])
    func tooLong(count: Int) async throws {
        let heads = Log<Int>()
        let server = try RawServer { peer in while let head = peer.readHead() { heads.add(head.count) } }
        let path = String(repeating: "a", count: count)
        let url = try await failure {
            try await CurlTransport().send(try request(.get, server.url("/\(path)")), options: .of())
        }
        #expect(url.code == .invalidURL, "\(url)")
        let headers: HTTPHeaders = ["X-Long": path]
        let field = try await failure {
            try await CurlTransport().send(try request(.get, server.url(), headers: headers), options: .of())
        }
        #expect(field.code == .invalidRequest, "\(field)")
        #expect(heads.all.isEmpty)
    }

    @Test("a kept connection that the server closed meanwhile is replaced without an error")
    func staleConnection() async throws {
        let server = try RawServer { peer in
            guard peer.readHead() != nil else { return }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let transport = CurlTransport()
        for _ in 0..<50 {
            #expect(try await transport.send(try request(.get, server.url()), options: .of()).data == "ok".utf8.asData)
        }
        #expect(server.accepted == 50)
    }

    @Test("a missing listener and an unknown name have their own errors, with libcurl's error as the cause")
    func unreachable() async throws {
        let transport = CurlTransport()
        // The stopped server's port stays closed as long as the server object lives.
        let server = try TestServer()
        server.stop()
        let url = server.url("/")
        let error = try await failure { try await transport.send(try request(.get, url), options: .of()) }
        #expect(error.code == .cannotConnect)
        #expect((error.underlying as? CurlError)?.code == 7)
        #expect(error.message.components(separatedBy: "onnect to server").count <= 2, "\(error) says it once")
        #expect(error.isRetryable)
        let name = try await failure {
            try await transport.send(try request(.get, "http://nowhere.invalid/"), options: .of())
        }
        #expect(name.code == .nameLookupFailed)
        #expect((name.underlying as? CurlError)?.code == 6)
        withExtendedLifetime(server) {}
    }

    /// The number of seeds. Set `ERRAND_SEEDS` in the environment to change it.
    private static let seeds = getenv("ERRAND_SEEDS").flatMap { Int(String(cString: $0)) } ?? 1000

    @Test("random bytes are responses or typed errors")
    func garbage() async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                var seed = SeededGenerator(seed: UInt64(head.split(separator: " ")[1].dropFirst()) ?? 0)
                peer.send(seed.response())
                if seed.next() % 3 == 0 { return }
                if seed.next() % 7 == 0 { return peer.reset() }
            }
        }
        let transport = CurlTransport()
        let outcomes = Log<String>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<8 {
                group.addTask {
                    for seed in stride(from: lane, to: Self.seeds, by: 8) {
                        let request = try request(.get, server.url("/\(seed)"))
                        do {
                            let options = TransportOptions.of(
                                seed % 2 == 0 ? .data : .stream, timeout: .milliseconds(150))
                            let response = try await transport.send(request, options: options)
                            _ = try await response.body.collect(upTo: 1 << 20)
                            #expect((100...999).contains(response.status))
                            outcomes.add("response")
                        } catch let error as ErrandError {
                            #expect(
                                error.code != .transportFailed && error.code != .cancelled, "seed \(seed): \(error)")
                            outcomes.add(error.code.description)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(outcomes.all.count == Self.seeds)
        #expect(Set(outcomes.all).count > 2, "responses, and errors of more than one kind")
    }
}

/// Responses that are broken in many ways. The same seed gives the same responses.
extension SeededGenerator {
    mutating func response() -> [UInt8] {
        if next() % 4 == 0 { return bytes(Int(next() % 400)) }
        let parts = [
            "HTTP/1.1 200 OK\r\n", "HTTP/1.0 204\r\n", "HTTP/9.9 700 x\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 099 x\r\n",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n", "HTTP/2 200\r\n", "HTTP/1.1 2000 x\r\n",
            "HTTP/1.1 -20 x\r\n",
            "Content-Length: 5\r\n", "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n",
            "Content-Length: 5, 6\r\n",
            "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Content-Encoding: gzip\r\n",
            "Content-Encoding: br, zstd, deflate, gzip, gzip\r\n", ": nothing\r\n", "\r\n", "\r\n", "\n", "0\r\n\r\n",
            "5\r\nhello\r\n",
            "fffffffffffffffff\r\n", "-1\r\n", "hello", " folded\r\n", "Location: http://127.0.0.1:1/\r\n", "\u{0}",
            "X: \u{0}\r\n",
        ]
        var response: [UInt8] = next() % 8 == 0 ? [] : Array(parts[Int(next() % 9)].utf8)
        for _ in 0..<next() % 12 {
            response += next() % 6 == 0 ? bytes(Int(next() % 40)) : Array(parts[Int(next() % UInt64(parts.count))].utf8)
        }
        return response
    }

}
#endif
