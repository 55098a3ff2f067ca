import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Evidence in errors", .leakChecked) struct EvidenceTests {
    struct Save: Request {
        typealias Output = URL
        let file: URL
        var delivery: BodyDelivery { .file(file) }
    }

    private func failure(_ body: () async throws -> Void) async throws -> ErrandError {
        do { try await body() } catch { return try #require(error as? ErrandError) }
        throw Missing()
    }

    struct Missing: Error {}

    /// Reads the same response into memory, as a stream, and into a file.
    private func failures(
        _ response: StubResponse, _ change: (inout AgentConfiguration) -> Void = { _ in }
    ) async throws -> [String: ErrandError] {
        var configuration = AgentConfiguration(baseURL: base)
        change(&configuration)
        let agent = NetworkAgent(configuration: configuration, transport: .stub(response))
        let file = FileManager.default.temporaryDirectory.appending(path: "errand-\(UInt64.random(in: 0 ... .max))")
        return [
            "data": try await failure { _ = try await agent.send(Plain()) },
            "stream": try await failure {
                let body = try await agent.send(Plain<HTTPBody>.streamed()).value
                _ = try await body.collect(upTo: configuration.maximumBodyBytes)
            },
            "file": try await failure { _ = try await agent.send(Save(file: file)) },
        ]
    }

    @Test(
        "an error in a body keeps the head and the received part of the body, for every delivery",
        arguments: [ErrandError.Code.connectionLost, .timedOut, .invalidResponse, .truncated])
    func midBody(code: ErrandError.Code) async throws {
        let response = StubResponse.chunks(
            [Data("first ".utf8), Data("second".utf8)], failure: ErrandError(code, "the cable was pulled")
        ).header("X-Trace", "7")
        for (delivery, error) in try await failures(response) {
            #expect(error.code == code && error.response?.status == 200, "\(delivery)")
            #expect(error.response?.headers["X-Trace"] == "7", "\(delivery)")
            #expect(error.response.map { String(decoding: $0.data, as: UTF8.self) } == "first second", "\(delivery)")
            #expect(error.request != nil, "\(delivery)")
        }
    }

    @Test("a body that is shorter or longer than announced keeps its head and its beginning")
    func lengths() async throws {
        for (length, code) in [("9", ErrandError.Code.truncated), ("3", .invalidResponse), ("x", .invalidResponse)] {
            let responses = [
                StubResponse.chunks([Data("he".utf8), Data("llo".utf8)]), .data(Data("hello".utf8)),
            ].map { $0.header(.contentLength, length) }
            for response in responses {
                for (delivery, error) in try await failures(response) {
                    #expect(error.code == code && error.response?.status == 200, "\(delivery) \(length)")
                    #expect(error.response?.headers[.contentLength] == length, "\(delivery)")
                }
            }
        }
    }

    @Test("a body that is too large keeps its head and its beginning, at most as much as errors keep")
    func tooLarge() async throws {
        let chunks = StubResponse.chunks((0..<10).map { Data(repeating: UInt8($0), count: 10) })
        var configuration = AgentConfiguration(baseURL: base)
        (configuration.maximumBodyBytes, configuration.maximumErrorBodyBytes) = (50, 15)
        for (response, kept) in [
            (chunks, 15), (.data(Data(count: 100)), 15), (.data(Data(count: 100)).header(.contentLength, "100"), 15),
            // The announced length exceeds the limit before the first byte is read.
            (chunks.header(.contentLength, "100"), 0),
        ] {
            let agent = NetworkAgent(configuration: configuration, transport: .stub(response))
            var errors = [try await failure { _ = try await agent.send(Plain()) }]
            let body = try await agent.send(Plain<HTTPBody>.streamed()).value
            if body.data == nil { errors.append(try await failure { _ = try await body.collect(upTo: 50) }) }
            for error in errors {
                #expect(error.code == .bodyTooLarge && error.response?.status == 200)
                #expect(error.response?.data.count == kept)
            }
        }
    }

    @Test("a second reader's error has the response, too")
    func secondReader() async throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(.chunks([Data("a".utf8)])))
        let body = try await agent.send(Plain<HTTPBody>.streamed()).value
        _ = try await body.collect(upTo: 9)
        let error = try await failure { _ = try await body.collect(upTo: 9) }
        #expect(error.code == .bodyAlreadyRead && error.response?.status == 200)
    }

    @Test(
        "an error about a URL contains the URL, with secrets masked",
        arguments: [
            ("https://ada:canary@e.com/v1", "x", "•••@e.com/v1"), ("https://ada:can/ary@e.com/v1", "x", "•••@e.com/v1"),
            ("ada:canary@e.com/v1", "x", "•••@e.com/v1"),
            ("https://e.com/v1?key=canary", "x", "https://e.com/v1?key=•••"),
            ("https:\\\\ada:canary@e.com", "x", "•••@e.com"), ("https://e.com", "a b?key=canary", "a b?key=•••"),
            ("https://e.com", "ftp://ada:canary@e.com/x", "•••@e.com/x"), ("", "users/7?key=canary", "users/7?key=•••"),
            ("https://e.com:99999/v1", "x", "https://e.com:99999/v1"), ("https://e.com", "a\u{1B}[2Jb", "a\\u{1B}[2Jb"),
            ("https://e.com", "WSS://e.com/chat", "for a WebSocket over TLS, write https"),
            ("ws://e.com", "chat", "for a WebSocket without TLS, write http"),
        ])
    func urls(base: String, path: String, shown: String) async throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub)
        let error = try await failure { _ = try await agent.send(Plain { $0.path = path }) }
        #expect(error.code == .invalidURL && error.description.contains(shown), "\(error)")
        #expect(!error.description.contains("canary") && !error.description.contains("ary@"))
        #expect(!error.description.utf8.contains(0x1B))
    }

    @Test("a complete request that cannot be sent is in its error")
    func complete() async throws {
        let url = try #require(URL(string: "https://ada:canary@e.com/x?key=canary"))
        let agent = NetworkAgent(baseURL: "", transport: .stub)
        let error = try await failure { _ = try await agent.send(Plain { $0.complete = HTTPRequest(.get, url) }) }
        #expect(error.code == .invalidURL && error.request?.url == url)
        #expect(error.description.contains("e.com/x?key=•••") && !error.description.contains("canary"))
        let odd = HTTPRequest("GET\u{1B}[2J", try #require(URL(string: "https://e.com/x")))
        let refused = try await failure { try odd.validate() }
        #expect(refused.request?.url == odd.url && !refused.description.utf8.contains(0x1B))
    }

    @Test("an error about a file contains its path, and an error about a redirect its Location")
    func paths() async throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(.redirect(to: "ftp://e.com/x?key=canary")))
        let missing = URL(filePath: "/no/such/directory/a.bin")
        let upload = try await failure { _ = try await agent.send(Plain { $0.body = .file(missing) }) }
        #expect(upload.code == .fileFailed && upload.description.contains("/no/such/directory/a.bin"))
        let redirect = try await failure { _ = try await agent.send(Plain()) }
        #expect(redirect.code == .redirectFailed && redirect.description.contains("ftp://e.com/x?key=•••"))
        let text = NetworkAgent(baseURL: base, transport: .stub(.text("x")))
        let download = try await failure { _ = try await text.send(Save(file: missing)) }
        #expect(download.code == .fileFailed && download.description.contains("/no/such/directory/a.bin"))
        #expect(download.response?.status == 200)
    }

    @Test(
        "a deadline error contains the request and its label, even before anything is sent", arguments: [true, false])
    func deadlines(isSent: Bool) async throws {
        let (time, gate) = (ManualTimeSource(), Gate())
        let response = StubResponse.text("late")
        let waiting = ClosureFilter { exchange, next in
            try await gate.wait()
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(isSent ? response.waiting(for: gate) : response),
            filters: isSent ? [] : [waiting], time: time)
        let task = Task {
            try await agent.send(
                Plain {
                    $0.deadline = .seconds(5)
                    $0.label = "the feed"
                })
        }
        try await gate.reached()
        time.advance(by: .seconds(6))
        let error = try await failure { _ = try await task.value }
        #expect(error.code == .deadlineExceeded && error.request?.url.absoluteString == base + "/plain")
        #expect(error.message.contains("the feed"))
    }
}
