#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Synchronization
import Testing

/// RFC 9113, sections 6.8 and 8.7: if a server refuses a stream, it hasn't acted on the request, so the request is sent
/// again whatever its method. If the server may have acted on it, the rule for every other connection decides.
@Suite(
    "HTTP/2 streams that a server refuses, over libcurl", .endsInTime,
    .needsHTTP2)
struct RefusedStreamTests {
    enum Refusal: CaseIterable, CustomTestStringConvertible {
        case reset, goAway, openGoAway
        var testDescription: String { "\(self)" }
        var reaction: HTTP2Server.Reaction {
            switch self {
            case .reset: .refuse
            case .goAway: .goAway
            case .openGoAway: .goAwayOpen
            }
        }
    }

    /// Whether libcurl reliably reports that a stream was refused. Only some versions report a reset on a kept
    /// connection. And if a connection is closed while part of a body is unread, it's reset, so the GOAWAY may be lost.
    private func isTold(_ refusal: Refusal, isWarm: Bool, readsBody: Bool) -> Bool {
        switch refusal {
        case .reset: !isWarm || Offer.namesRefusals
        case .goAway: readsBody
        case .openGoAway: true
        }
    }

    @Test(
        "a POST whose stream is refused is sent again, on a new connection and on a reused connection",
        arguments: Refusal.allCases, SampleBody.allCases)
    func post(refusal: Refusal, body: SampleBody) async throws {
        let certificates = try await TestCertificates()
        for isWarm in [false, true] {
            for waitsForBody in [false, true] {
                let server = try HTTP2Server(try certificates.context(), waitsForBody: waitsForBody) { arrival in
                    let isRefused = arrival.method == "POST" && arrival.number == (isWarm ? 1 : 0)
                    return isRefused ? refusal.reaction : .respond
                }
                let transport = CurlTransport(trusting: certificates)
                if isWarm { _ = try await transport.send(try request(.get, server.url), options: .of()) }
                let post = try request(.post, server.url, body: body.body)
                // A stream that was partly read isn't sent again. Some versions send a body only over HTTP/1.1, and
                // this server refuses that before it sees a request.
                let isTold = isTold(refusal, isWarm: isWarm, readsBody: waitsForBody || body == .none)
                guard isTold, body == .none || body == .small, !Offer.sendsBodiesInHTTP1 else {
                    _ = try? await transport.send(post, options: .of())
                    #expect(server.arrivals.filter { $0.method == "POST" }.count <= 2)
                    continue
                }
                #expect(try await transport.send(post, options: .of()).status == 200)
                #expect(server.arrivals.filter { $0.method == "POST" }.count == 2)
            }
        }
    }

    @Test("a POST that a server may have processed is sent once", arguments: [false, true])
    func processed(isWarm: Bool) async throws {
        let certificates = try await TestCertificates()
        for steps: [HTTP2Server.Step] in [
            [.goAway(), .close], [.goAway(after: 2), .close], [.goAway(), .reset(8)], [.reset(8)], [.reset(2)],
            [.goAway(), .goAway(code: 2), .close], [.close],
            [.goAway(), .block([0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])],
        ] {
            let server = try HTTP2Server(try certificates.context(), waitsForBody: true) { arrival in
                arrival.method == "GET" ? .respond : .send(steps)
            }
            let transport = CurlTransport(trusting: certificates)
            if isWarm { _ = try await transport.send(try request(.get, server.url), options: .of()) }
            let post = try request(.post, server.url, body: .data(pattern(1000)))
            let error = try await failure { try await transport.send(post, options: .of()) }
            #expect(Offer.sendsBodiesInHTTP1 || !error.isCancelled)
            #expect(server.arrivals.filter { $0.method == "POST" }.count <= 1, "\(steps)")
        }
    }

    @Test(
        "requests at the same time that a server refuses because there are too many end after a few attempts",
        arguments: [0, -2])
    func tooMany(offset: Int) async throws {
        let certificates = try await TestCertificates()
        // ENHANCE_YOUR_CALM.
        let server = try HTTP2Server(try certificates.context(), waitsForBody: true) { _ in
            .send([.goAway(code: 11, after: offset), .close])
        }
        let transport = CurlTransport(trusting: certificates)
        let get = try request(.get, server.url)
        let tasks = (0..<3).map { _ in Task { try await transport.send(get, options: .of()).status } }
        for task in tasks {
            let error = try await failure { try await task.value }
            #expect(error.code == .connectionLost, "\(error)")
        }
        #expect(server.arrivals.count <= 12, "\(server.arrivals.count)")
    }

    @Test("a GET whose stream is refused once is sent again and succeeds", arguments: Refusal.allCases, [false, true])
    func getOnce(refusal: Refusal, isWarm: Bool) async throws {
        let certificates = try await TestCertificates()
        let refused = isWarm ? 1 : 0
        let server = try HTTP2Server(try certificates.context(), waitsForBody: true) { arrival in
            arrival.number == refused ? refusal.reaction : .respond
        }
        let transport = CurlTransport(trusting: certificates)
        let get = try request(.get, server.url)
        for _ in 0...refused { #expect(try await transport.send(get, options: .of()).data == "ok".utf8.asData) }
        #expect(server.arrivals.count == refused + 2)
    }

    @Test(
        "a request whose stream is refused every time fails after a few attempts", arguments: Refusal.allCases,
        [HTTPMethod.get, .post])
    func always(refusal: Refusal, method: HTTPMethod) async throws {
        guard method == .get || !Offer.sendsBodiesInHTTP1 else {
            try Test.cancel("bodies go out over HTTP/1 first with this libcurl")
        }
        let certificates = try await TestCertificates()
        for isWarm in [false, true] {
            let server = try HTTP2Server(try certificates.context(), waitsForBody: true) { arrival in
                isWarm && arrival.number == 0 ? .respond : refusal.reaction
            }
            let transport = CurlTransport(trusting: certificates)
            if isWarm { _ = try await transport.send(try request(.get, server.url), options: .of()) }
            let refused = try request(method, server.url)
            let error = try await failure { try await transport.send(refused, options: .of()) }
            #expect(error.code == .connectionLost, "\(error)")
            let count = server.arrivals.count - (isWarm ? 1 : 0)
            #expect(refusal == .reset ? (1...4).contains(count) : count == 4, "\(count)")
        }
    }

    @Test(
        "many concurrent requests succeed over connections that accept five requests each",
        arguments: [HTTPMethod.get, .post])
    func fiveEach(method: HTTPMethod) async throws {
        let certificates = try await TestCertificates()
        let counts = Mutex<[Int: Int]>([:])
        let server = try HTTP2Server(try certificates.context(), waitsForBody: true) { arrival in
            let count = counts.withLock { counts in
                counts[arrival.connection, default: 0] += 1
                return counts[arrival.connection] ?? 0
            }
            return count < 5 ? .respond : .respondLast
        }
        let transport = CurlTransport(trusting: certificates)
        let body: RequestBody = method == .get ? .none : .data(pattern(300))
        guard method == .get || !Offer.sendsBodiesInHTTP1 else {
            try Test.cancel("bodies go out over HTTP/1 first with this libcurl")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<32 {
                group.addTask {
                    for _ in 0..<10 {
                        let sent = try request(method, server.url, body: body)
                        #expect(try await transport.send(sent, options: .of()).data == "ok".utf8.asData)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(server.responses == 320)
    }

    @Test(
        "a refused stream doesn't affect the other streams of its connection", arguments: [Refusal.reset, .openGoAway])
    func others(refusal: Refusal) async throws {
        let certificates = try await TestCertificates()
        // The first request warms the connection. The next two are held until the fourth is refused.
        let server = try HTTP2Server(try certificates.context(), waitsForBody: true) { arrival in
            switch arrival.number {
            case 1, 2: .hold
            case 3: refusal.reaction
            default: .respond
            }
        }
        let transport = CurlTransport(trusting: certificates)
        let get = try request(.get, server.url)
        _ = try await transport.send(get, options: .of())
        let held = (0..<2).map { _ in Task { try await transport.send(get, options: .of()).data } }
        try await eventually { server.arrivals.count == 3 }
        // The request is sent again on another connection.
        #expect(try await transport.send(get, options: .of()).status == 200)
        for task in held { #expect(try await task.value == "ok".utf8.asData) }
        // If libcurl closes the whole connection after a GOAWAY, the held requests are sent again as well, once.
        let connections = server.arrivals.map(\.connection)
        #expect(refusal == .openGoAway ? connections.count <= 7 : connections == [1, 1, 1, 1, 2])
    }
}
#endif
