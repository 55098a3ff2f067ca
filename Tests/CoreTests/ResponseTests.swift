import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Responses", .leakChecked) struct ResponseTests {
    private func send<R: Request>(_ request: R, _ response: StubResponse) async throws -> R.Output {
        try await NetworkAgent(baseURL: base, transport: .stub(response)).send(request).value
    }

    private struct Get<Output: Sendable & Decodable>: Request {}
    private struct GetText: Request { typealias Output = String }
    private struct GetNothing: Request { typealias Output = Void }
    private struct GetResponse: Request { typealias Output = HTTPResponse }
    private struct GetBody: Request { typealias Output = HTTPBody }

    @Test("an output is data, text, JSON, Void, the response or a stream")
    func outputs() async throws {
        struct GetData: Request {}
        #expect(try await send(GetData(), .data(Data([1, 2]), contentType: "x/y")) == Data([1, 2]))
        #expect(try await send(GetText(), .text("hé")) == "hé")
        #expect(try await send(GetUser(), .json(#"{"id":7,"name":"Ada"}"#)) == User(id: 7, name: "Ada"))
        try await send(GetNothing(), .status(204))
        let response = try await send(GetResponse(), .text("x", status: 201).header("X-A", "b"))
        #expect(response.status == 201 && response.headers["x-a"] == "b" && response.data == Data("x".utf8))
        #expect(response.url.absoluteString == base + "/")
        let body = try await send(GetBody(), .chunks([Data("ab".utf8), Data("c".utf8)]))
        #expect(try await body.collect(upTo: 10) == Data("abc".utf8))
    }

    @Test("an empty response is nil for an optional and a typed error for the rest")
    func empty() async throws {
        #expect(try await send(Get<User?>(), .status(204)) == nil)
        #expect(try await send(Get<[Int]?>(), .data(Data(" ".utf8), contentType: "application/json")) == nil)
        #expect(try await send(Get<String?>(), .status(205)) == nil)
        #expect(try await send(Get<Data?>(), .status(200)) == nil)
        #expect(try await send(Get<String?>(), .text("plain")) == "plain")
        #expect(try await send(Get<Data?>(), .text("plain")) == Data("plain".utf8))
        #expect(try await send(Get<User?>(), .json(#"{"id":1,"name":"x"}"#)) == User(id: 1, name: "x"))
        #expect(await code { try await send(GetUser(), .status(204)) } == .decodingFailed)
    }

    @Test(
        "JSON is accepted with the usual content types and every +json type, and rejected with other types",
        arguments: [
            ("application/json", true), ("text/json; charset=utf-8", true), ("text/javascript", true),
            ("application/problem+json", true), ("Application/JSON", true), ("text/html", false),
            ("application/xml", false),
            ("application/jsonx", false),
        ])
    func types(type: String, isAccepted: Bool) async throws {
        let response = StubResponse.data(Data(#"{"id":7,"name":"Ada"}"#.utf8), contentType: type)
        let expected: ErrandError.Code? = isAccepted ? nil : .unacceptableContentType
        #expect(await code { try await send(GetUser(), response) } == expected)
    }

    @Test("acceptable types are each request's own choice")
    func ownTypes() async throws {
        struct Lenient: Request {
            typealias Output = User
            var acceptableContentTypes: ContentTypes { .json + ["text/html"] }
        }
        struct AnyType: Request {
            typealias Output = User
            var acceptableContentTypes: ContentTypes { .any }
        }
        let json = Data(#"{"id":7,"name":"Ada"}"#.utf8)
        _ = try await send(Lenient(), .data(json, contentType: "text/html"))
        _ = try await send(AnyType(), .data(json, contentType: "image/png"))
        _ = try await send(GetUser(), .data(json))
        #expect(ContentTypes.xml.contains("application/atom+xml") && !ContentTypes.xml.contains("application/json"))
        #expect(
            (["image/*"] as ContentTypes).contains("image/png") && !(["image/*"] as ContentTypes).contains("text/png"))
    }

    @Test("the status is judged first, and every error keeps the response")
    func precedence() async throws {
        do {
            _ = try await send(GetUser(), .data(Data("<html>".utf8), contentType: "text/html", status: 404))
            Issue.record("404 was accepted")
        } catch let error as ErrandError {
            #expect(error.code == .unacceptableStatus)
            #expect(error.response?.status == 404 && error.response?.data == Data("<html>".utf8))
            #expect(error.request?.url.absoluteString == base + "/users/7")
            #expect(error.description.contains("status 404, expected 200–299"))
        }
        do {
            _ = try await send(GetUser(), .json(#"{"id":"x"}"#))
            Issue.record("the wrong type was accepted")
        } catch let error as ErrandError {
            #expect(error.code == .decodingFailed && error.message.contains("/id: expected Int"))
            #expect(error.response?.data == Data(#"{"id":"x"}"#.utf8) && error.underlying is DecodingError)
        }
    }

    @Test("a number that doesn't fit its type, or a wrong escape, isn't reported as an unreadable body")
    func unfit() async throws {
        for body in [#"{"id":7.5,"name":"x"}"#, #"{"id":99999999999999999999,"name":"x"}"#, #"{"id":7,"name":"\x"}"#] {
            let error = await #expect(throws: ErrandError.self) { _ = try await send(GetUser(), .json(body)) }
            #expect(
                error?.message
                    == "expected User: the body isn't valid JSON, or a number in the body doesn't fit the type "
                    + "of its property"
            )
        }
    }

    @Test("JSON in another charset than UTF-8 is an error that names the charset, and its text can be decoded")
    func otherCharset() async throws {
        let bytes = Data("{\"id\":7,\"name\":\"".utf8) + [0xD6, 0xD0, 0xB9, 0xFA] + Data("\"}".utf8)
        let response = StubResponse.data(bytes, contentType: "application/json;charset=GBK")
        let error = await #expect(throws: ErrandError.self) { _ = try await send(GetUser(), response) }
        #expect(error?.message == "expected User: the body isn't UTF-8; its Content-Type specifies gbk")
        let whole = try await send(GetResponse(), response)
        let user = try JSONDecoder().decode(User.self, from: Data(whole.text().utf8))
        #expect(user == User(id: 7, name: "\u{4E2D}\u{56FD}"))
        // The charset label is wrong: UTF-8 is read as UTF-8 anyway.
        let mislabeled = StubResponse.data(
            Data("{\"id\":7,\"name\":\"\u{E9}\"}".utf8), contentType: "application/json; charset=iso-8859-1")
        #expect(try await send(GetUser(), mislabeled) == User(id: 7, name: "\u{E9}"))
    }

    @Test("an unreadable body is reported as such")
    func unreadable() async throws {
        let cut = StubResponse.json(#"{"id":7,"#)
        for (response, expected) in [
            (cut, "the body isn't valid JSON"), (.json("\u{1F}x"), "the body isn't valid JSON"),
            (cut.header("Content-Encoding", "identity"), "the body isn't valid JSON"),
            (
                cut.header("Content-Encoding", "snappy"),
                #"the body is still compressed, with the content coding "snappy""#
            ),
        ] as [(StubResponse, String)] {
            let error = await #expect(throws: ErrandError.self) { _ = try await send(GetUser(), response) }
            #expect(error?.code == .decodingFailed && error?.message == "expected User: \(expected)")
        }
    }

    @Test(
        "any three-digit status is judged, and the default accepts 200 to 299",
        arguments: [100, 199, 200, 299, 300, 404, 599, 600, 999])
    func statuses(status: Int) async throws {
        let expected: ErrandError.Code? = (200...299).contains(status) ? nil : .unacceptableStatus
        #expect(await code { try await send(Plain(), .status(status)) } == expected)
        _ = try await send(Plain { $0.acceptableStatuses = .any }, .status(status))
    }

    @Test("a request can accept a single status")
    func teapot() async throws {
        let teapot = Plain { $0.acceptableStatuses = [418] }
        _ = try await send(teapot, .status(418))
        #expect(await code { try await send(teapot, .status(200)) } == .unacceptableStatus)
    }

    @Test(
        "text is read in its charset, or in UTF-8 without one",
        arguments: [
            ("text/plain", [0xC3, 0xA9], "é"), ("text/plain; charset=UTF-8", [0xEF, 0xBB, 0xBF, 0x61], "a"),
            ("text/plain; charset=ISO-8859-1", [0xE9], "é"), ("text/plain; charset=\"windows-1252\"", [0x80], "€"),
            ("text/plain;charset=shift_jis", [0x93, 0xFA, 0x96, 0x7B], "日本"),
            ("text/plain; charset=GB18030", [0xC4, 0xE3], "你"), ("text/plain; charset=utf-16le", [0x61, 0x00], "a"),
        ] as [(String, [UInt8], String)])
    func charsets(type: String, bytes: [UInt8], expected: String) async throws {
        #expect(try await send(GetText(), .data(Data(bytes), contentType: type)) == expected)
    }

    @Test(
        "text that isn't valid is an error that keeps the bytes",
        arguments: [
            ("text/plain", [0xFF]), ("text/plain; charset=nonsense", [0xE9]), ("text/plain; charset=shift_jis", [0x81]),
        ] as [(String, [UInt8])])
    func invalidText(type: String, bytes: [UInt8]) async throws {
        do {
            _ = try await send(GetText(), .data(Data(bytes), contentType: type))
            Issue.record("invalid text was accepted")
        } catch let error as ErrandError {
            #expect(error.code == .decodingFailed && error.response?.data == Data(bytes))
        }
    }

    @Test(
        "the body of an error becomes the request's own error, mapped by agent, request and call site in this order")
    func ownErrors() async throws {
        struct APIError: Error, Decodable, Equatable { let reason: String }
        let order = Log<String>()
        var configuration = AgentConfiguration(baseURL: base)
        configuration.filters = [
            ClosureFilter { exchange, next in
                defer { order.add("filter") }
                return try await next(exchange)
            }
        ]
        configuration.mapError = { error in
            order.add("agent")
            return error
        }
        let agent = NetworkAgent(
            configuration: configuration, transport: .stub(.json(#"{"reason":"gone"}"#, status: 410)))
        let request = Plain {
            $0.mapping = { error in
                order.add("request")
                return (try? (error as? ErrandError)?.response?.json(APIError.self)) ?? error
            }
        }
        await #expect(throws: APIError(reason: "gone")) { try await agent.send(request) }
        #expect(order.all == ["filter", "agent", "request"])
    }

    @Test("errors keep a bounded copy of the body, of a stream too")
    func boundedErrors() async throws {
        var configuration = AgentConfiguration(baseURL: base)
        configuration.maximumErrorBodyBytes = 10
        let chunks = StubResponse.chunks((0..<5).map { Data(repeating: $0, count: 4) }).status(500)
        let agent = NetworkAgent(configuration: configuration, transport: .stub(chunks))
        for request in [Plain<HTTPBody>.streamed()] {
            do {
                _ = try await agent.send(request)
                Issue.record("500 was accepted")
            } catch let error as ErrandError { #expect(error.response?.data.count == 10) }
        }
        do {
            _ = try await agent.send(Plain())
            Issue.record("500 was accepted")
        } catch let error as ErrandError { #expect(error.response?.data.count == 10) }
    }

    @Test(
        "checks run once each, after status and type, on the final response; a check replaces another of the same name")
    func checks() async throws {
        struct Refused: Error {}
        let ran = Log<String>()
        let filter = ClosureFilter { exchange, next in
            exchange.checks.add(ResponseCheck("filter") { _ in ran.add("old") })
            exchange.checks.add(ResponseCheck("filter") { _ in ran.add("filter") })
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")), filters: [filter])
        _ = try await agent.send(Plain { $0.checks = [ResponseCheck("own") { _ in ran.add("own") }] })
        #expect(ran.all == ["own", "filter"])
        await #expect(throws: Refused.self) {
            try await agent.send(Plain { $0.checks = [ResponseCheck("no") { _ in throw Refused() }] })
        }
    }

    @Test("each kind of failure has its own code and knows whether another attempt may help")
    func codes() {
        let codes: [ErrandError.Code] = [
            .invalidURL, .invalidRequest, .encodingFailed, .bodyNotReplayable, .fileFailed, .cancelled, .timedOut,
            .deadlineExceeded,
            .nameLookupFailed, .cannotConnect, .connectionLost, .insecureConnection, .invalidResponse, .truncated,
            .bodyTooLarge, .bodyAlreadyRead, .redirectFailed, .unacceptableStatus, .unacceptableContentType,
            .checkFailed,
            .decodingFailed,
            .activityEnded, .transportUnavailable, .transportFailed,
        ]
        #expect(Set(codes).count == codes.count && Set(codes.map(\.description)).count == codes.count)
        let retryable = codes.filter { ErrandError($0, "").isRetryable }
        #expect(retryable == [.timedOut, .nameLookupFailed, .cannotConnect, .connectionLost, .truncated])
        #expect(codes.filter { ErrandError($0, "").isCancelled } == [.cancelled])
    }

    @Test("a response that contradicts its length is refused", arguments: [true, false])
    func lengths(asStream: Bool) async throws {
        func response(_ length: String, _ text: String) -> StubResponse {
            (asStream ? StubResponse.chunks([Data(text.utf8)]) : .text(text)).header(.contentLength, length)
        }
        let request = Plain<Data>()
        #expect(await code { try await send(request, response("5", "abcde")) } == nil)
        #expect(await code { try await send(request, response("5, 5", "abcde")) } == nil)
        #expect(await code { try await send(request, response("6", "abcde")) } == .truncated)
        #expect(await code { try await send(request, response("4", "abcde")) } == .invalidResponse)
        for nonsense in ["-5", "5x", "", "5, 6", "99999999999999999999"] {
            #expect(await code { try await send(request, response(nonsense, "abcde")) } == .invalidResponse)
        }
        #expect(
            await code {
                try await send(Plain { $0.method = .head }, StubResponse.status(200).header(.contentLength, "9"))
            } == nil)
    }

    @Test("a body is kept in memory up to the limit", arguments: [true, false])
    func limit(asStream: Bool) async throws {
        var configuration = AgentConfiguration(baseURL: base)
        configuration.maximumBodyBytes = 10
        let (fits, not) = (Data(repeating: 1, count: 10), Data(repeating: 1, count: 11))
        func agent(_ data: Data) -> NetworkAgent {
            NetworkAgent(configuration: configuration, transport: .stub(asStream ? .chunks([data]) : .data(data)))
        }
        #expect(try await agent(fits).send(Plain()).value == fits)
        #expect(await code { try await agent(not).send(Plain()) } == .bodyTooLarge)
    }

    @Test("a body is delivered into a file that appears when it is complete; a refused body isn't")
    func files() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "errand-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        struct Save: Request {
            typealias Output = URL
            let file: URL
            var delivery: BodyDelivery { .file(file) }
        }
        let file = directory.appending(path: "a.bin")
        try Data("old".utf8).write(to: file)
        #expect(await code { try await send(Save(file: file), .text("no", status: 404)) } == .unacceptableStatus)
        let cut = StubResponse.chunks([Data("ne".utf8)]).header(.contentLength, "3")
        #expect(await code { try await send(Save(file: file), cut) } == .truncated)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(try await send(Save(file: file), .chunks([Data("ne".utf8), Data("w".utf8)])) == file)
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a.bin"])
        let nowhere = directory.appending(path: "no/such/a.bin")
        #expect(await code { try await send(Save(file: nowhere), .text("x")) } == .fileFailed)
    }
}
