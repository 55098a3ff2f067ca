import Errand
import ErrandEssentials
import ErrandTestSupport
import ErrandTesting
import Testing

@Suite("URLs as text", .leakChecked) struct MessageURLTests {
    private struct Get: Request {
        let path: String
        var query: Parameters = [:]
    }

    private let agent = NetworkAgent(baseURL: "https://e.com:8443/v1", transport: .stub)

    @Test("Core joins URLs with the same result as Foundation, for any path and query")
    func parsing() throws {
        var random = SeededGenerator(seed: 7)
        let characters = Array("abcXYZ019-._~!$&'()*+,;=:@/?%25%7E ")
        for _ in 0..<2_000 {
            func text(_ length: Int) -> String {
                String((0..<length).map { _ in characters[Int.random(in: characters.indices, using: &random)] })
            }
            let (path, value) = (text(Int.random(in: 0..<12, using: &random)), text(4))
            guard let built = try? agent.httpRequest(for: Get(path: path, query: ["q": value])) else { continue }
            let parsed = try #require(URL(string: built.urlText, encodingInvalidCharacters: false), "\(built.urlText)")
            #expect(parsed == built.url)
            #expect(parsed.absoluteString == built.urlText)
        }
    }

    @Test("an absolute URL is the same with any base URL, and only the base URL's origin gets credentials")
    func absolute() throws {
        var random = SeededGenerator(seed: 8)
        let characters = Array("abZ09-._~!&=:@/?%25#0")
        let own = "https://e.com"
        var configuration = AgentConfiguration(baseURL: own + "/v1")
        configuration.authorization = .bearer("secret")
        let agent = NetworkAgent(configuration: configuration, transport: .stub)
        let other = NetworkAgent(baseURL: "https://other.example", transport: .stub)
        var counts = [true: 0, false: 0]
        for _ in 0..<4_000 {
            let rest = String(
                (0..<Int.random(in: 0..<10, using: &random)).map { _ in
                    characters[Int.random(in: characters.indices, using: &random)]
                })
            let request = Get(path: own + (Bool.random(using: &random) ? "/" : "") + rest, query: ["q": "1"])
            let built = try? agent.httpRequest(for: request)
            #expect(built?.urlText == (try? other.httpRequest(for: request))?.urlText, "\(request.path)")
            guard let built else { continue }
            let isOwn = built.url.scheme == "https" && built.url.host() == "e.com" && built.url.port ?? 443 == 443
            #expect(built.headers.contains(.authorization) == isOwn, "\(request.path)")
            #expect(built.url.absoluteString == built.urlText)
            counts[isOwn, default: 0] += 1
        }
        #expect(counts.values.allSatisfy { $0 > 20 })
    }

    @Test("a URL that a filter sets has its text, and is validated")
    func setting() throws {
        var request = try agent.httpRequest(for: Get(path: "users"))
        #expect(request.urlText == "https://e.com:8443/v1/users")
        try request.validate()
        request.url = try #require(URL(string: "https://user:secret@e.com/x"))
        #expect(request.urlText == "https://user:secret@e.com/x")
        #expect(throws: ErrandError.self) { try request.validate() }
    }

    @Test("a response to a request has its URL, also when the request changes afterwards")
    func responding() throws {
        var request = try agent.httpRequest(for: Get(path: "users"))
        var response = HTTPResponse(to: request, status: 204)
        request.url = try #require(URL(string: "https://other.example/"))
        #expect(response.url.absoluteString == "https://e.com:8443/v1/users")
        #expect(response.status == 204)
        #expect(response.data.isEmpty)
        response.url = request.url
        #expect(response.url == request.url)
        #expect(HTTPResponse(to: request, status: 200).url == request.url)
    }

    @Test("a thousand tasks that read a request's URL at once get the same URL")
    func concurrency() async throws {
        let request = try agent.httpRequest(for: Get(path: "users"))
        let urls = await withTaskGroup(of: URL.self) { group in
            for _ in 0..<1_000 { group.addTask { request.url } }
            return await group.reduce(into: Set<URL>()) { $0.insert($1) }
        }
        #expect(urls == [try #require(URL(string: request.urlText))])
    }

    @Test(
        "a valid configured header is checked again when a filter changes it",
        arguments: ["a\r\nX-Evil: 1", "a\u{0}", "a\u{7F}"])
    func headers(value: String) async throws {
        struct Changing: Filter {
            let value: String
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                var exchange = exchange
                var fields = Array(exchange.http.headers)
                for index in fields.indices where fields[index].name == "X-Note" { fields[index].value = value }
                exchange.http.headers = HTTPHeaders(fields)
                return try await next(exchange)
            }
        }
        let stub = StubTransport(.status(200))
        let agent = NetworkAgent(baseURL: "https://e.com", transport: stub, filters: [Changing(value: value)])
        agent.configure { $0.headers["X-Note"] = "fine" }
        await #expect(throws: ErrandError.self) { try await agent.send(Get(path: "a")) }
        #expect(stub.received.isEmpty)
    }

    @Test("a configured header that is not valid fails every request before it is sent")
    func configuredHeader() async throws {
        let stub = StubTransport(.status(200))
        let agent = NetworkAgent(baseURL: "https://e.com", transport: stub)
        for (name, value) in [("X Note", "fine"), ("X-Note", "a\nb")] as [(HTTPHeaderName, String)] {
            agent.configure { $0.headers = [name: value] }
            for _ in 0..<2 {
                let error = await #expect(throws: ErrandError.self) { try await agent.send(Get(path: "a")) }
                #expect(error?.code == .invalidRequest)
            }
        }
        #expect(stub.received.isEmpty)
    }
}
