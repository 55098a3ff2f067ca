import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Calls without their own type", .leakChecked) struct CallTests {
    private struct Named: Codable, Sendable, Equatable { var userName: String }

    @Test("a call decodes to its output type")
    func outputs() async throws {
        let stub = StubTransport()
        stub.on("/v1/user", response: .json(#"{"userName":"Ada"}"#))
        stub.on("/v1/empty", response: .status(204))
        stub.on("/v1/text", response: .text("hello"))
        let agent = NetworkAgent(baseURL: base, transport: stub)
        #expect(try await agent.send(Call<Named>(.get, "user")).value == Named(userName: "Ada"))
        #expect(try await agent.send(Call<Named?>(.get, "empty")).value == nil)
        #expect(try await agent.send(Call<String>(.get, "text")).value == "hello")
        #expect(try await agent.send(Call<String?>(.get, "empty")).value == nil)
        #expect(try await agent.send(Call<Data>(.get, "text")).value == Data("hello".utf8))
        #expect(try await agent.send(Call<HTTPResponse>(.get, "text")).value.status == 200)
        #expect(try await agent.send(Call<HTTPBody>(.get, "text")).value.collect(upTo: 9) == Data("hello".utf8))
        try await agent.send(Call<Void>(.delete, "empty"))
        let length = Call<Int>(.get, "text", decode: { $0.data.count })
        #expect(try await agent.send(length).value == 5)
        #expect(await code { try await agent.send(Call<Named>(.get, "text")) } == .unacceptableContentType)
    }

    @Test("every member of a request is a property")
    func properties() async throws {
        let log = Log<String>()
        let call = Call<Data>(.post, "items?debug", query: ["q": "a b"], body: .json(Named(userName: "Ada"))) {
            $0.headers["X-Trace"] = "7"
            $0.timeout = .seconds(3)
            $0.acceptableStatuses = [404]
            $0.checks = [ResponseCheck("seen") { _ in log.add("check") }]
            $0.filters = [Signpost(name: "own", log: log)]
        }
        let stub = StubTransport()
        stub.on("/v1/items", response: .status(404))
        let agent = NetworkAgent(baseURL: base, transport: stub)
        let request = try agent.httpRequest(for: call)
        #expect(request.method == .post && request.url.absoluteString == base + "/items?debug&q=a%20b")
        #expect(request.headers[.contentType] == "application/json" && request.headers["X-Trace"] == "7")
        let response = try await agent.send(call)
        #expect(response.http.status == 404 && log.all == ["own>", "<own", "check"])
        #expect(agent.start(call).activity.label == "POST items")
    }
}

@Suite("Decoders and encoders", .leakChecked) struct CodingTests {
    private struct Named: Codable, Sendable, Equatable { var userName: String }

    private struct Malformed: Error {}

    /// Lines of `name=value`.
    private struct Lines: BodyDecoder, BodyEncoder {
        var contentTypes: ContentTypes { ["text/x-lines"] }
        var contentType: String { "text/x-lines" }
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            let pairs = String(decoding: data, as: UTF8.self).split(separator: "\n").map { $0.split(separator: "=") }
            guard pairs.allSatisfy({ $0.count == 2 }) else { throw Malformed() }
            let members = Dictionary(pairs.map { (String($0[0]), String($0[1])) }) { _, last in last }
            return try JSONDecoder().decode(type, from: JSONEncoder().encode(members))
        }
        func encode<Value: Encodable>(_ value: Value) throws -> Data {
            let members = try JSONDecoder().decode([String: String].self, from: JSONEncoder().encode(value))
            return Data(members.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "\n").utf8)
        }
    }

    private func snakeAgent(_ response: StubResponse) -> NetworkAgent {
        var configuration = AgentConfiguration(baseURL: base)
        let (decoder, encoder) = (JSONDecoder(), JSONEncoder())
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        encoder.keyEncodingStrategy = .convertToSnakeCase
        (configuration.decoder, configuration.encoder) = (decoder, encoder)
        return NetworkAgent(configuration: configuration, transport: .stub(response))
    }

    @Test("the agent's decoder and encoder serve every request that doesn't have its own")
    func agents() async throws {
        let agent = snakeAgent(.json(#"{"user_name":"Ada"}"#))
        #expect(try await agent.send(Call<Named>(.get, "user")).value.userName == "Ada")
        #expect(
            await code { try await agent.send(Call<Named>(.get, "user") { $0.decoder = JSONDecoder() }) }
                == .decodingFailed)
        for body in [RequestBody.json(Named(userName: "Ada")), .encoded(Named(userName: "Ada"))] {
            let request = try agent.httpRequest(for: Call<Void>(.post, "user", body: body))
            #expect(request.body.data == Data(#"{"user_name":"Ada"}"#.utf8))
        }
        let plain = try agent.httpRequest(
            for: Call<Void>(.post, "user", body: .json(Named(userName: "Ada"), encoder: JSONEncoder())))
        #expect(plain.body.data == Data(#"{"userName":"Ada"}"#.utf8))
    }

    @Test("an error's body, a check and a filter's response are read by the agent's decoder as well")
    func everywhere() async throws {
        struct Refused: Error { let name: String }
        let agent = snakeAgent(.json(#"{"user_name":"Ada"}"#, status: 400))
        do {
            try await agent.send(Call<Named>(.get, "user"))
            Issue.record("a status of 400 has to fail")
        } catch let error as ErrandError {
            #expect(try error.response?.json(Named.self).userName == "Ada")
            #expect(try error.response?.decoded(as: Named.self).userName == "Ada")
        }
        let seen = Log<String>()
        _ = try await agent.send(
            Call<Named>(.get, "user") {
                $0.acceptableStatuses = .any
                $0.checks = [ResponseCheck("name") { seen.add(try $0.json(Named.self).userName) }]
            })
        #expect(seen.all == ["Ada"])
    }

    @Test("a format other than JSON sets its content type in both directions")
    func otherFormat() async throws {
        var configuration = AgentConfiguration(baseURL: base)
        (configuration.decoder, configuration.encoder) = (Lines(), Lines())
        let stub = StubTransport()
        stub.on("/v1/lines", response: .data(Data("userName=Ada".utf8), contentType: "text/x-lines"))
        stub.on("/v1/json", response: .json(#"{"userName":"Ada"}"#))
        let agent = NetworkAgent(configuration: configuration, transport: stub)
        #expect(try await agent.send(Call<Named>(.get, "lines")).value.userName == "Ada")
        #expect(await code { try await agent.send(Call<Named>(.get, "json")) } == .unacceptableContentType)
        #expect(try await agent.send(Call<Named>(.get, "json") { $0.decoder = JSONDecoder() }).value.userName == "Ada")
        let both = Call<Named>(.get, "json") { $0.acceptableContentTypes = .json + ["text/x-lines"] }
        #expect(await code { try await agent.send(both) } == .decodingFailed)
        let value = Named(userName: "Ada")
        let request = try agent.httpRequest(for: Call<Void>(.post, "lines", body: .encoded(value)))
        #expect(request.body.data == Data("userName=Ada".utf8) && request.headers[.contentType] == "text/x-lines")
        let json = try agent.httpRequest(for: Call<Void>(.post, "lines", body: .json(value)))
        #expect(json.headers[.contentType] == "application/json" && json.body.data == Data(#"{"userName":"Ada"}"#.utf8))
    }

    @Test("variables of any number or string type are parameters, and nil omits one")
    func variables() throws {
        enum Sort: String, ParameterConvertible { case newest }
        let (page, limit, text, part) = (2, UInt8(10), "a b", "xyz".dropFirst())
        let (cursor, after): (String?, Int?) = (nil, 7)
        let (ratio, big, flag, ids) = (Float(0.1), UInt64.max, true, [3, 1])
        let parameters: Parameters = [
            "page": page, "limit": limit, "text": text, "part": part, "cursor": cursor, "after": after,
            "ratio": ratio, "big": big, "flag": flag, "ids": ids, "sort": Sort.newest, "none": .null,
            "user": .object(["id": page, "name": text]), "mixed": .array([1, "a"]),
        ]
        #expect(
            try ParameterEncoding(arrays: .repeated).encode(parameters)
                == "after=7&big=18446744073709551615&flag=1&ids=3&ids=1&limit=10&mixed=1&mixed=a&none&page=2&part=yz"
                + "&ratio=0.1&sort=newest&text=a%20b&user%5Bid%5D=2&user%5Bname%5D=a%20b")
    }

    @Test("encodable values are a query and a form")
    func encodables() throws {
        struct Search: Encodable, Sendable {
            var text = "a b"
            var page = 2
            var exact = true
            var tags = ["x", "y"]
            var nested = ["k": 1.5]
            var none: String?
        }
        let text = "exact=1&nested%5Bk%5D=1.5&page=2&tags%5B%5D=x&tags%5B%5D=y&text=a%20b"
        #expect(try ParameterEncoding().encode(Parameters(encoding: Search())) == text)
        let agent = snakeAgent(.status(200))
        let request = try agent.httpRequest(for: Call<Void>(.post, "s", body: .form(Named(userName: "Ada"))))
        #expect(request.body.data == Data("user_name=Ada".utf8))
        #expect(throws: ErrandError.self) { try ParameterEncoding().encode(Parameters(encoding: [1, 2])) }
        #expect(throws: ErrandError.self) { try ParameterEncoding().encode(Parameters(encoding: ["x": Double.nan])) }
    }
}
