#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Synchronization
import Testing

@Suite("Reports of the transport over libcurl", .endsInTime, .leakChecked)
struct ReportTests {
    final class Listener: Accessory {
        private let events = Mutex<[TransportEvent]>([])
        var all: [TransportEvent] { events.withLock { $0 } }
        func activity(_ activity: Activity, did event: ActivityEvent) {
            if case .transport(let event) = event { events.withLock { $0.append(event) } }
        }
        var timings: [TransferTimings] {
            all.compactMap { if case .timings(let timings) = $0 { timings } else { nil } }
        }
        var progress: [TransferProgress] {
            all.compactMap { if case .progress(let progress) = $0 { progress } else { nil } }
        }
    }

    struct Get: Request {
        var path: String
        var body: RequestBody = .none
        var method: HTTPMethod { body.isNone ? .get : .post }
    }

    private func agent(_ server: RawServer, _ listener: Listener, _ transport: CurlTransport = CurlTransport())
        -> NetworkAgent
    {
        NetworkAgent(baseURL: server.url(), transport: transport, accessories: [listener])
    }

    @Test("informational responses and trailers are accepted and reported")
    func informational() async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                peer.send(
                    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nLink: </b.css>\r\n\r\n")
                peer.send(
                    "HTTP/1.1 200 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n")
            }
        }
        let listener = Listener()
        let response = try await agent(server, listener).send(Get(path: "a"))
        #expect(response.value == "abc".utf8.asData)
        #expect(response.http.status == 200)
        #expect(response.http.headers["Link"] == nil)
        var early: [(Int, [String])] = []
        var trailers: [String] = []
        for event in listener.all {
            if case .informational(let status, let headers) = event {
                early.append((status, headers.values(of: "Link")))
            }
            if case .trailers(let headers) = event { trailers += headers.values(of: "X-Sum") }
        }
        #expect(early.map(\.0) == [100, 103])
        #expect(early.last?.1 == ["</a.css>", "</b.css>"])
        #expect(trailers == ["7"])
    }

    @Test("timings report what is known, and leave out phases that didn't happen")
    func timings() async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                _ = peer.read(4)
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            }
        }
        let listener = Listener()
        let agent = agent(server, listener)
        for _ in 0..<2 { _ = try await agent.send(Get(path: "a", body: .data("four".utf8.asData))) }
        let timings = listener.timings
        try #require(timings.count == 2)
        #expect(timings[0].isReusedConnection == false)
        #expect(timings[0].connected != nil)
        #expect(timings[1].isReusedConnection == true)
        #expect(timings[1].connected == nil && timings[1].nameLookup == nil)
        for timing in timings {
            #expect(timing.secured == nil)
            #expect(timing.bytesSent == 4 && timing.bytesReceived == 5)
            #expect(timing.httpVersion == "1.1" && timing.remoteAddress == "127.0.0.1")
            let first = try #require(timing.firstByte), total = try #require(timing.total)
            #expect(timing.queued != nil && first > .zero && first <= total)
        }
    }

    @Test("progress goes up to the last byte in both directions")
    func progress() async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            _ = peer.read(2_000_000)
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n")
            peer.send([UInt8](repeating: 0, count: 3_000_000))
        }
        let listener = Listener()
        _ = try await agent(server, listener).send(Get(path: "a", body: .data(pattern(2_000_000))))
        let progress = listener.progress
        #expect(progress.count > 4)
        #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.sent <= $1.sent && $0.received <= $1.received })
        let last = try #require(progress.last)
        #expect(
            last
                == TransferProgress(
                    sent: 2_000_000, totalToSend: 2_000_000, received: 3_000_000, totalToReceive: 3_000_000))
    }

    @Test("a failure has its timings too, without phases that didn't happen")
    func failed() async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.reset()
        }
        let listener = Listener()
        let agent = agent(server, listener)
        let error = try await failure { try await agent.send(Get(path: "a")) }
        #expect(error.code == .connectionLost)
        let timing = try #require(listener.timings.first)
        #expect(timing.firstByte == nil && timing.httpVersion == nil)
    }
}
#endif
