#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Reports of an upload over libcurl", .endsInTime, .leakChecked)
struct TimingTests {
    enum Kind: CaseIterable { case small, copied, large, stream, chunked, expected }

    private static func upload(_ kind: Kind) -> (body: RequestBody, count: Int, headers: HTTPHeaders) {
        switch kind {
        case .small: (.data(pattern(10)), 10, [:])
        case .copied: (.data(pattern(20_000)), 20_000, [:])
        case .large: (.data(pattern(70_000)), 70_000, [:])
        case .stream:
            (.stream(HTTPBody(length: 100_000, source: Feed([pattern(50_000), pattern(50_000)]))), 100_000, [:])
        case .chunked: (.stream(HTTPBody(source: Feed([pattern(50_000), pattern(50_000)]))), 100_000, [:])
        case .expected: (.data(pattern(70_000)), 70_000, ["Expect": "100-continue"])
        }
    }

    private struct Post: Request {
        var path = "a"
        var body: RequestBody
        var headers: HTTPHeaders
        var method: HTTPMethod { .post }
    }

    @Test(
        "the first byte of the response arrives after the server's wait, for small and large uploads",
        arguments: Kind.allCases)
    func firstByte(kind: Kind) async throws {
        let (body, count, headers) = Self.upload(kind)
        let clock = ContinuousClock()
        let times = Log<ContinuousClock.Instant>()
        let server = try RawServer { peer in
            guard let head = peer.readHead() else { return }
            if kind == .expected { peer.send("HTTP/1.1 100 Continue\r\n\r\n") }
            if head.contains("chunked") { _ = peer.readChunked() } else { _ = peer.read(count) }
            times.add(clock.now)
            peer.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            usleep(200_000)
            times.add(clock.now)
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let listener = ReportTests.Listener()
        let agent = NetworkAgent(baseURL: server.url(), transport: CurlTransport(), accessories: [listener])
        _ = try await agent.send(Post(body: body, headers: headers))
        let timing = try #require(listener.timings.first)
        let sent = try #require(timing.requestSent), first = try #require(timing.firstByte)
        let total = try #require(timing.total)
        #expect(sent <= first && first <= total)
        // The server measured how long it waited.
        try #require(times.all.count == 2)
        #expect(first - sent >= times.all[0].duration(to: times.all[1]) - .milliseconds(5))
        #expect(timing.bytesSent == Int64(count) || kind == .chunked)
    }

    @Test("the bytes of an upload of any size are reported, with their share of the whole", arguments: Kind.allCases)
    func sent(kind: Kind) async throws {
        let (body, count, headers) = Self.upload(kind)
        let server = try RawServer { peer in
            guard let head = peer.readHead() else { return }
            if kind == .expected { peer.send("HTTP/1.1 100 Continue\r\n\r\n") }
            if head.contains("chunked") { _ = peer.readChunked() } else { _ = peer.read(count) }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let listener = ReportTests.Listener()
        let agent = NetworkAgent(baseURL: server.url(), transport: CurlTransport(), accessories: [listener])
        _ = try await agent.send(Post(body: body, headers: headers))
        let last = try #require(listener.progress.last)
        #expect(last.sent == Int64(count))
        #expect(last.totalToSend == Int64(count))
        #expect(last.received == 2 && last.fraction == 1)
        let known = listener.progress.filter { $0.received == 0 }
        if kind == .large || kind == .stream || kind == .expected {
            #expect(known.contains { $0.fraction == 1 })
        }
    }
}
#endif
