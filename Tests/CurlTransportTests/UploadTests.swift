#if os(Linux)
import Errand
import ErrandEssentials
import Testing

@testable import ErrandCurlTransport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Request bodies over libcurl", .endsInTime, .leakChecked)
struct UploadTests {
    struct Seen: Sendable {
        var head: String
        var body: Data?
    }

    /// Reads each request by its framing, and responds with 200.
    private func server(_ seen: Log<Seen>) throws -> RawServer {
        try RawServer { peer in
            while let head = peer.readHead() {
                let fields = head.lowercased()
                if let range = fields.firstRange(of: "content-length: ") {
                    let length = Int(fields[range.upperBound...].prefix { $0.isNumber }) ?? 0
                    let body = peer.read(length)
                    if body.count < length { return seen.add(Seen(head: head, body: nil)) }
                    seen.add(Seen(head: head, body: Data(body)))
                } else if fields.contains("transfer-encoding: chunked") {
                    guard let body = peer.readChunked() else { return seen.add(Seen(head: head, body: nil)) }
                    seen.add(Seen(head: head, body: Data(body)))
                } else {
                    seen.add(Seen(head: head, body: Data()))
                }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + (head.hasPrefix("HEAD ") ? "" : "ok"))
            }
        }
    }

    @Test("a request is sent in the same way after any other request")
    func sequence() async throws {
        let seen = Log<Seen>()
        let server = try server(seen)
        let requests = try [
            request(.get, server.url()), request(.head, server.url()), request(.delete, server.url()),
            request(.get, server.url(), body: .data(pattern(3))), request(.post, server.url(), body: .data(pattern(9))),
            request(.post, server.url(), body: .data(Data())), request(.put, server.url(), body: .data(pattern(5))),
            request(.patch, server.url(), body: .data(pattern(100_000))),
        ]
        func send(_ request: HTTPRequest, over transport: CurlTransport) async throws -> Seen {
            let response = try await transport.send(request, options: .of())
            #expect(response.status == 200)
            return try #require(seen.all.last)
        }
        for second in requests {
            let alone = try await send(second, over: CurlTransport())
            #expect(alone.body == second.body.data ?? Data())
            let transport = CurlTransport()
            for first in requests {
                _ = try await send(first, over: transport)
                let got = try await send(second, over: transport)
                #expect(got.head == alone.head && got.body == alone.body, "\(second.method) after \(first.method)")
            }
        }
    }

    @Test(
        "a body in memory is sent whole with its length", arguments: [1, 1000, 64 << 10, (64 << 10) + 1, 5_000_000],
        ["POST", "PUT", "DELETE", "GET", "PATCH"])
    func data(size: Int, method: String) async throws {
        let seen = Log<Seen>()
        let server = try server(seen)
        let body = pattern(size)
        let response = try await CurlTransport().send(
            try request(HTTPMethod(rawValue: method), server.url(), body: .data(body)), options: .of())
        #expect(response.status == 200)
        let got = try #require(seen.all.first)
        #expect(got.head.hasPrefix("\(method) / HTTP/1.1\r\n"))
        #expect(got.body == body)
        #expect(got.head.contains("\r\nContent-Length: \(size)\r\n"))
        #expect(
            !got.head.contains("Transfer-Encoding") && !got.head.contains("Expect")
                && !got.head.contains("Content-Type"))
    }

    @Test(
        "an empty body sends Content-Length: 0 only for methods with bodies",
        arguments: [
            ("POST", true), ("PUT", true), ("PATCH", true), ("GET", false), ("DELETE", false), ("OPTIONS", false),
        ])
    func empty(method: String, sendsLength: Bool) async throws {
        let seen = Log<Seen>()
        let server = try server(seen)
        let transport = CurlTransport()
        for body in [RequestBody.none, .data(Data(), contentType: nil)] {
            _ = try await transport.send(
                try request(HTTPMethod(rawValue: method), server.url(), body: body), options: .of())
        }
        #expect(seen.all.count == 2)
        for got in seen.all {
            #expect(got.head.contains("\r\nContent-Length: 0\r\n") == sendsLength)
            #expect(!got.head.contains("Content-Type"))
        }
    }

    @Test(
        "a stream is sent with its length, or in chunks if it has no length, but not with both",
        arguments: [nil, Int64(700_000)],
        ["POST", "PUT"])
    func stream(length: Int64?, method: String) async throws {
        let seen = Log<Seen>()
        let server = try server(seen)
        let chunks = (0..<7).map { pattern(100_000, $0) }
        let body = RequestBody.stream(HTTPBody(length: length, source: Feed(chunks)), contentType: nil)
        _ = try await CurlTransport().send(
            try request(HTTPMethod(rawValue: method), server.url(), body: body), options: .of())
        let got = try #require(seen.all.first)
        #expect(got.body == chunks.reduce(Data(), +))
        #expect(got.head.contains("Content-Length: 700000\r\n") == (length != nil))
        #expect(got.head.contains("Transfer-Encoding: chunked\r\n") == (length == nil))
        #expect(!got.head.contains("Expect"))
    }

    /// A new handle costs as much as the rest of a small request.
    @Test("libcurl's handle is used again after a small body")
    func sameHandle() async throws {
        guard try !CurlLibrary.load().avoids(.handleReuse) else {
            try Test.cancel("this libcurl's handles aren't reused")
        }
        let server = try server(Log<Seen>())
        let transport = CurlTransport()
        var handles: Set<UnsafeMutableRawPointer> = []
        for method in [HTTPMethod.post, .get, .put, .post] {
            let body = method == .get ? RequestBody.none : .data(pattern(100))
            _ = try await transport.send(try request(method, server.url(), body: body), options: .of())
            handles.formUnion(Self.idleHandles(of: try await transport.loop(.of())))
        }
        #expect(handles.count == 1)
    }

    private static func idleHandles(of loop: CurlLoop) -> [UnsafeMutableRawPointer] {
        loop.driver.lock()
        defer { loop.driver.unlock() }
        return loop.idleHandles.map(\.easy.raw)
    }

    @Test("a chunk of a stream is sent as soon as it exists, not together with the next chunk")
    func prompt() async throws {
        let first = Log<[UInt8]>()
        let server = try RawServer { peer in
            _ = peer.readHead()
            first.add(peer.read(8))
            _ = peer.read(13)
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let feed = Feed(["abc".utf8.asData], ends: false)
        let transport = CurlTransport()
        let request = try request(.post, server.url(), body: .stream(HTTPBody(source: feed)))
        async let response = transport.send(request, options: .of())
        try await eventually { !first.all.isEmpty }
        #expect(first.all == [Array("3\r\nabc\r\n".utf8)])
        feed.give("defg".utf8.asData)
        feed.give(nil)
        #expect(try await response.status == 200)
    }

    @Test(
        "a stream whose length differs from the announced length fails the request",
        arguments: [[5], [5, 4], [5, 5, 1], [11], [10, 1]])
    func wrongLength(sizes: [Int]) async throws {
        let seen = Log<Seen>()
        let server = try server(seen)
        let body = RequestBody.stream(length: 10) { HTTPBody(source: Feed(sizes.map { pattern($0) })) }
        let transport = CurlTransport()
        let request = try request(.post, server.url(), body: body)
        let error = try await failure { try await transport.send(request, options: .of()) }
        #expect(error.code == .invalidRequest)
        try await eventually { !seen.all.isEmpty }
        #expect(seen.all.first?.body == nil)
    }

    @Test("a stream that fails ends the request with its own error")
    func failing() async throws {
        struct Broken: Error {}
        let seen = Log<Seen>()
        let server = try server(seen)
        let transport = CurlTransport()
        for (thrown, code) in [
            (Broken() as any Error, ErrandError.Code.encodingFailed), (ErrandError(.fileFailed, "gone"), .fileFailed),
        ] {
            let body = RequestBody.stream(HTTPBody(source: Feed([pattern(1000)], failure: thrown)))
            let request = try request(.post, server.url(), body: body)
            let error = try await failure { try await transport.send(request, options: .of()) }
            #expect(error.code == code)
        }
    }

    @Test("a stream is pulled only as fast as the server takes it")
    func backpressure() async throws {
        let goOn = Log<Bool>()
        let server = try RawServer { peer in
            _ = peer.readHead()
            while goOn.all.isEmpty { usleep(1000) }
            _ = peer.readChunked()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let feed = Feed((0..<200).map { pattern(100_000, $0) })
        let transport = CurlTransport()
        let request = try request(.put, server.url(), body: .stream(HTTPBody(source: feed)))
        async let response = transport.send(request, options: .of())
        var pulls = -1
        // Wait until the kernel's buffers are full and the transfer stalls.
        while feed.pulls != pulls || pulls == 0 {
            pulls = feed.pulls
            try await Task.sleep(for: .milliseconds(300))
        }
        #expect(pulls < 150, "what the sockets' buffers take, of 200")
        goOn.add(true)
        #expect(try await response.status == 200)
    }

    @Test("a response that arrives before the body is sent ends the sending")
    func earlyResponse() async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            _ = peer.drain()
        }
        let feed = Feed([pattern(1000)], ends: false)
        let transport = CurlTransport()
        let request = try request(.post, server.url(), body: .stream(HTTPBody(source: feed)))
        let response = try await transport.send(request, options: .of())
        #expect(response.status == 413)
        #expect(response.data == "no".utf8.asData)
        try await eventually { feed.isCancelled }
    }

    @Test(
        "a response that rejects a body ends the exchange even if the body's source is idle",
        arguments: [
            "413 Too Large\r\nContent-Length: 2\r\n", "413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n",
            "413 Too Large\r\nConnection: close\r\n", "303 See Other\r\nLocation: /\r\nContent-Length: 2\r\n",
            "200 OK\r\nContent-Length: 2\r\n", "200 OK\r\nContent-Length: 2\r\nConnection: close\r\n",
        ], [true, false])
    func refusedBody(head: String, isStreamed: Bool) async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            _ = peer.read(1000)
            // The transfer is waiting for the source by then.
            usleep(20_000)
            peer.send("HTTP/1.1 \(head)\r\nno")
            // A response that doesn't refuse the body is finished only when its connection is closed.
            if head.hasPrefix("200") || head.contains("close") { peer.endSending() }
            _ = peer.drain()
        }
        let transport = CurlTransport()
        for length in [nil, 100_000 as Int64?] {
            let body = HTTPBody(length: length, source: Feed([pattern(1000)], ends: false))
            let request = try request(.post, server.url(), body: .stream(body))
            let response = try await transport.send(request, options: .of(isStreamed ? .stream : .data))
            #expect(head.hasPrefix("\(response.status)"))
            var data = Data()
            for try await chunk in response.body { data += chunk }
            #expect(data == "no".utf8.asData)
        }
    }

    @Test("a truncated response that rejects a body is an error")
    func refusedAndTruncated() async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            _ = peer.read(1000)
            usleep(20_000)
            peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno")
            peer.endSending()
            _ = peer.drain()
        }
        let feed = Feed([pattern(1000)], ends: false)
        let request = try request(.post, server.url(), body: .stream(HTTPBody(source: feed)))
        let error = try await failure { try await CurlTransport().send(request, options: .of()) }
        #expect(error.code == .truncated && error.response?.status == 413)
        try await eventually { feed.isCancelled }
    }

    @Test("a body is sent again on a new connection if a reused connection closes during the request")
    func staleConnection() async throws {
        let seen = Log<Int>()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if head.hasPrefix("GET /close") {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    // The second request of this connection gets a reset.
                    _ = peer.readHead()
                    return peer.reset()
                }
                let body = peer.read(1000)
                seen.add(body.count)
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let transport = CurlTransport()
        _ = try await transport.send(try request(.get, server.url("/close")), options: .of())
        let put = try request(.put, server.url(), body: .data(pattern(1000)))
        #expect(try await transport.send(put, options: .of()).status == 200)
        #expect(seen.all == [1000])
        #expect(server.accepted == 2)
    }

    @Test("a large body isn't sent on a kept connection that was closed")
    func closedConnection() async throws {
        let seen = Log<Int>()
        let closed = Log<Bool>()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if head.hasPrefix("PUT") { seen.add(peer.read(1_000_000).count) }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                if head.hasPrefix("GET") {
                    peer.close()
                    return closed.add(true)
                }
            }
        }
        let transport = CurlTransport()
        _ = try await transport.send(try request(.get, server.url()), options: .of())
        try await eventually { !closed.all.isEmpty }
        let put = try request(.put, server.url(), body: .data(pattern(1_000_000)))
        #expect(try await transport.send(put, options: .of()).status == 200)
        #expect(seen.all == [1_000_000])
    }

    @Test("a connection that is reset during a large body is an error or is retried, but never hangs")
    func resetWhileSending() async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if head.hasPrefix("PUT") { _ = peer.read(1_000_000) }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                if head.hasPrefix("PUT") { continue }
                _ = peer.readHead()
                return peer.reset()
            }
        }
        let transport = CurlTransport()
        let put = try request(.put, server.url(), body: .data(pattern(1_000_000)))
        for _ in 0..<100 {
            _ = try? await transport.send(try request(.get, server.url()), options: .of())
            do {
                #expect(try await transport.send(put, options: .of()).status == 200)
            } catch let error as ErrandError {
                #expect(error.code == .connectionLost, "\(error)")
            }
        }
    }

    /// How a server handles a request that expects 100 (RFC 9110, section 10.1.1).
    enum Expectation: String, CaseIterable { case met, refused, refusedForGood }

    @Test(
        "Expect is sent if the request asks for it, and a refused request is sent once more without Expect",
        arguments: Expectation.allCases, [BodyDelivery.data, .stream])
    func expectation(expectation: Expectation, delivery: BodyDelivery) async throws {
        let heads = Log<Bool>()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if head.hasPrefix("GET") {
                    peer.send("HTTP/1.1 204 No Content\r\nX: a\r\n\r\n")
                    continue
                }
                let isExpecting = head.lowercased().contains("\r\nexpect: 100-continue\r\n")
                heads.add(isExpecting)
                if !isExpecting || expectation == .met {
                    if isExpecting { peer.send("HTTP/1.1 100 Continue\r\n\r\n") }
                    _ = peer.read(100_000)
                }
                if expectation == .refusedForGood || isExpecting && expectation == .refused {
                    peer.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 3\r\n\r\nbad")
                } else {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
                }
            }
        }
        let body = RequestBody.data(pattern(100_000))
        for method in [HTTPMethod.put, .post] {
            let transport = CurlTransport()
            // The handle of the second request has received a response before.
            #expect(try await transport.send(try request(.get, server.url()), options: .of()).status == 204)
            let request = try request(method, server.url(), headers: ["expect": "100-continue"], body: body)
            let response = try await transport.send(request, options: .of(delivery))
            #expect(response.status == (expectation == .refusedForGood ? 417 : 200))
            let text = expectation == .refusedForGood ? "bad" : "good"
            #expect(try await response.body.collect(upTo: 100) == text.utf8.asData)
        }
        #expect(heads.all == (expectation == .met ? [true, true] : [true, false, true, false]))
    }

    @Test("HEAD with a body is refused before anything is sent")
    func head() async throws {
        let server = try server(Log<Seen>())
        let transport = CurlTransport()
        let request = try request(.head, server.url(), body: .data(pattern(10)))
        let error = try await failure { try await transport.send(request, options: .of()) }
        #expect(error.code == .invalidRequest)
        #expect(server.accepted == 0)
    }
}
#endif
