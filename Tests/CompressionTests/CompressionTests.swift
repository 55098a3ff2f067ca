import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandCompression

@Suite("Compressed request bodies", .endsInTime, .leakChecked) struct CompressionTests {
    /// Echoes each body in the coding it came in; the transport decodes it.
    private static func echo() throws -> TestServer {
        try TestServer { request in
            let response = TestResponse.data(request.body)
            return request.headers[.contentEncoding].map { response.header(.contentEncoding, $0) } ?? response
        }
    }

    private static let text = Data(String(repeating: "The same line again, and again.\n", count: 60_000).utf8)

    private static func noise(_ count: Int) -> Data {
        var random = SeededGenerator(seed: 3)
        return Data(random.bytes(count))
    }

    /// Returns a body that streams data in chunks of this size, and can be opened repeatedly.
    private static func stream(_ data: Data, _ size: Int, length: Bool = false) -> RequestBody {
        .stream(length: length ? Int64(data.count) : nil) {
            let rest = Mutex(data)
            return HTTPBody(next: {
                rest.withLock { rest in
                    if rest.isEmpty { return nil }
                    defer { rest = Data(rest.dropFirst(size)) }
                    return Data(rest.prefix(size))
                }
            })
        }
    }

    @Test(
        "a server decodes the sent bytes: in memory, from a file, as a stream",
        arguments: [ContentCompression.gzip, .gzip(level: 1), .gzip(level: 9), .zstd, .zstd(level: 19)])
    func roundTrip(compression: ContentCompression) async throws {
        try #require(compression.isAvailable)
        let server = try Self.echo()
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.bodyCompression(compression)])
        let folder = try Folder()
        try Self.text.write(to: folder.file("f"))
        let (small, noise) = (Data(Self.text.prefix(100_000)), Self.noise(300_000))
        let bodies: [(RequestBody, Data)] = [
            (.data(small), small), (.data(Self.text), Self.text), (.file(folder.file("f")), Self.text),
            (Self.stream(Self.text, 70_001), Self.text), (Self.stream(small, 7), small),
            (Self.stream(noise, 65_536), noise), (Self.stream(Self.text, 1 << 20, length: true), Self.text),
            (Self.stream(Data(), 1), Data()),
        ]
        for (body, data) in bodies {
            let echoed = try await agent.send(Call<Data>(.put, "echo", body: body)).value
            #expect(echoed == data)
            let came = try await server.nextRequest()
            #expect(came.headers[.contentEncoding] == compression.description)
            #expect(came.headers[.contentType] == body.contentType)
            #expect(came.isChunked == (body.data.map { $0.count > 1 << 20 } ?? true))
            if data == Self.text { #expect(came.body.count < data.count / 20) }
        }
    }

    @Test("a short, incompressible or already encoded body is sent unchanged")
    func untouched() async throws {
        let stub = StubTransport(.status(200))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [.bodyCompression()])
        try await agent.send(Call<Void>(.post, "a", body: .data(Self.noise(5000))))
        try await agent.send(Call<Void>(.post, "a", body: .data(Data(count: 1023))))
        try await agent.send(Call<Void>(.post, "a"))
        try await agent.send(
            Call<Void>(.post, "a", body: .data(Data(count: 5000))) { $0.headers[.contentEncoding] = "br" })
        try await agent.send(Call<Void>(.post, "a", body: .data(Data(count: 1024))))
        #expect(stub.received.map { $0.headers[.contentEncoding] } == [nil, nil, nil, "br", "gzip"])
        #expect(stub.received.dropLast().map(\.body.length) == [5000, 1023, 0, 5000])
        let last = try #require(stub.received.last)
        #expect(last.body.length.map { $0 < 100 } == true)
        #expect(last.body.data?.prefix(3) == Data([0x1F, 0x8B, 8]))
    }

    @Test("a compressed body can be sent again after a 307 and by a retry, if the original could be")
    func replayable() async throws {
        let server = try TestServer { request in
            request.path == "/a" ? .redirect(to: "/b", status: 307) : .status(200)
        }
        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [.bodyCompression()])
        for body in [RequestBody.data(Self.text), Self.stream(Self.text, 50_000)] {
            try await agent.send(Call<Void>(.put, "a", body: body))
            let (first, second) = (try await server.nextRequest(), try await server.nextRequest())
            #expect(first.body == second.body && !first.body.isEmpty)
            #expect(second.headers[.contentEncoding] == "gzip")
        }
        let left = Counter()
        let once = RequestBody.stream(HTTPBody(next: { left.increment() < 4 ? Data(count: 5000) : nil }))
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<Void>(.put, "a", body: once))
        }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test("a 415 that lists codings causes an uncompressed retry, and other 415s are passed on")
    func refused() async throws {
        let server = try TestServer { request in
            if request.headers[.contentEncoding] == nil { return .text("plain") }
            let refusal = TestResponse.status(415)
            return request.path == "/named" ? refusal.header("Accept-Encoding", "identity, deflate;q=0.5") : refusal
        }
        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [.bodyCompression()])
        let call = Call<String>(.put, "named", body: .data(Self.text))
        #expect(try await agent.send(call).value == "plain")
        #expect(server.received.last?.body == Self.text)
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<String>(.put, "other", body: .data(Self.text)))
        }
        #expect(error?.response?.status == 415)
    }

    @Test(
        "a 415 that lists a coding with the weight 0, or lists only other codings, doesn't support the coding",
        arguments: [
            ("gzip;q=0", true), ("identity, gzip; Q=0.000", true), ("notgzip", true), ("bugzipped, x-gzipped", true),
            ("gzip ; q=0 ; x=1", true), ("deflate, *;q=0", true), ("gzip", false), ("gzip;q=0.001", false),
            ("x, GZIP;q=1", false), ("gzip;q=0, gzip", false),
        ])
    func refusedWeights(accepted: String, isSentAgain: Bool) async throws {
        let stub = StubTransport()
        stub.on("/a", response: .status(415).header("Accept-Encoding", accepted), .text("plain"))
        let agent = NetworkAgent(baseURL: "https://a.example", transport: stub, filters: [.bodyCompression()])
        var call = Call<HTTPResponse>(.put, "a", body: .data(Self.text))
        call.acceptableStatuses = .any
        #expect(try await agent.send(call).value.status == (isSentAgain ? 200 : 415))
    }

    @Test("a stream's chunks are sent immediately, and its error fails the request")
    func prompt() async throws {
        struct Own: Error {}
        let (sent, gate) = (Log<Data>(), Gate())
        let stub = StubTransport(.status(200))
        let wire = ClosureFilter(.wire) { exchange, next in
            var iterator = try exchange.http.body.open().makeAsyncIterator()
            while let chunk = try await iterator.next() {
                sent.add(chunk)
                gate.open()
            }
            return HTTPResponse(url: exchange.http.url, status: 200)
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [.bodyCompression(), wire])
        let turn = Counter()
        let body = RequestBody.stream {
            HTTPBody(next: {
                if turn.increment() == 1 { return Data("first".utf8) }
                // The compressed first chunk is sent before the second chunk is requested.
                try await gate.wait()
                throw Own()
            })
        }
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<Void>(.post, "a", body: body))
        }
        #expect(sent.count == 1)
        #expect(error?.code == .encodingFailed)
        #expect(error?.underlying is Own)
    }

    @Test("a body that is cancelled before it is opened is cancelled when it is opened")
    func cancelledEarly() async throws {
        final class Inner: HTTPBodySource {
            let cancellations = Counter()
            func nextChunk() async throws -> Data? { Data("x".utf8) }
            func cancel() { cancellations.increment() }
        }
        let inner = Inner()
        let source = CompressedSource(.gzip) { HTTPBody(source: inner) }
        source.cancel()
        _ = try? await source.nextChunk()
        #expect(inner.cancellations.value == 1)
    }

    @Test("the filter explains itself, and may come before or after signatures and caches")
    func explains() async throws {
        struct Own: Filter {
            let traits: FilterTraits
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
        }
        for traits in [FilterTraits.signs, .caches, .shares, .changesRequest, .authenticates] {
            let (own, compressing): (any Filter, any Filter) = (Own(traits: traits), .bodyCompression(.zstd))
            for filters in [[own, compressing], [compressing, own]] {
                let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub, filters: filters)
                let explanation = agent.explain(Call<Void>(.get, "a"))
                #expect(
                    "\(explanation)".contains("compresses request bodies with zstd") && explanation.problems.isEmpty)
            }
        }
    }

    @Test("work that inner filters stage for the refusal of a coding is discarded")
    func refusedStaging() async throws {
        let (log, stub) = (Log<String>(), StubTransport())
        stub.on("*") { request in
            request.headers.contains(.contentEncoding)
                ? StubResponse.status(415).header("Accept-Encoding", "identity") : .text("plain")
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [.bodyCompression(), StagingFilter(log)])
        #expect(try await agent.send(Call<String>(.put, "a", body: .data(Self.text))).value == "plain")
        #expect(log.all == ["discard 415", "commit 200"])
    }
}
