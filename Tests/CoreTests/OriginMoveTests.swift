import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Filters that move requests", .leakChecked) struct OriginMoveTests {
    private static let secrets: [HTTPHeaderName] = ["Authorization", "Cookie", "X-Api-Key"]

    enum Move: CaseIterable {
        case url, wholeRequest, unmarked

        func move(_ http: inout HTTPRequest, to text: String) {
            guard let url = URL(string: text) else { return }
            switch self {
            case .url: http.url = url
            case .wholeRequest: http = HTTPRequest(http.method, url, headers: http.headers, body: http.body)
            case .unmarked:
                // Loses which fields are sensitive, as a conversion to another type does.
                var plain = HTTPHeaders()
                for name in Set(http.headers.map(\.name)) { plain.add(name, http.headers[name] ?? "") }
                http = HTTPRequest(http.method, url, headers: plain, body: http.body)
            }
        }
    }

    private func moving(
        _ stages: FilterStages, to url: String, _ move: Move = .url,
        then change: @escaping @Sendable (inout Exchange) -> Void = { _ in }
    ) -> ClosureFilter {
        ClosureFilter(stages) { exchange, next in
            var exchange = exchange
            move.move(&exchange.http, to: url)
            change(&exchange)
            return try await next(exchange)
        }
    }

    private func agent(
        _ stub: StubTransport, base: String = "https://api.example.com/v1", _ filters: [any Filter],
        _ change: (inout AgentConfiguration) -> Void = { _ in }
    ) -> NetworkAgent {
        var configuration = AgentConfiguration(baseURL: base)
        configuration.authorization = .bearer("canary")
        configuration.headers["X-Open"] = "open"
        configuration.headers["Host"] = "virtual.example.com"
        configuration.headers.set("X-Api-Key", "canary", sensitive: true)
        configuration.filters = filters
        change(&configuration)
        return NetworkAgent(configuration: configuration, transport: stub)
    }

    private var request: Plain<Data> { Plain { $0.headers = ["Cookie": "canary"] } }

    @Test(
        "the secrets stay at their origin, in any stage and however a filter moves the request",
        arguments: [FilterStages.call, .hop, .wire], Move.allCases)
    func moves(stages: FilterStages, move: Move) async throws {
        let stub = StubTransport(.text("ok"))
        let seen = Log<String>()
        let looking = ClosureFilter([.call, .hop, .wire]) { exchange, next in
            seen.add("\(exchange.isTrusted) \(exchange.userMarks.map(\.source).sorted())")
            return try await next(exchange)
        }
        let marking = ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.assign(to: UserMark("ada", source: "account"))
            return try await next(exchange)
        }
        let mover = moving(stages, to: "https://api.example.com.evil.example/x", move)
        _ = try await agent(stub, [marking, mover, looking]).send(request)
        let sent = try #require(stub.received.first)
        #expect(sent.url.host == "api.example.com.evil.example" && sent.headers["X-Open"] == "open")
        for name in Self.secrets + ["Host"] { #expect(!sent.headers.contains(name), "\(name)") }
        #expect(seen.all.last == "false []")
    }

    @Test(
        "another path, another spelling of the origin and a trusted origin keep the secrets",
        arguments: [
            ("https://api.example.com/other?x=1", true), ("https://API.example.com:443/", true),
            ("https://mirror.example.com/x", true), ("https://cdn.example.com/x", true),
            ("http://api.example.com/x", false), ("https://api.example.com:8443/x", false),
            ("https://api.example.com@evil.example/x", false), ("https://api.example.co/x", false),
        ])
    func origins(url: String, isKept: Bool) async throws {
        let stub = StubTransport(.text("ok"))
        let agent = agent(stub, [moving(.call, to: url)]) {
            $0.trustedOrigins = ["https://mirror.example.com"]
            $0.namedBaseURLs["cdn"] = "https://cdn.example.com"
        }
        _ = try? await agent.send(request)
        guard let sent = stub.received.first else {
            #expect(url.contains("@"))
            return
        }
        for name in Self.secrets { #expect(sent.headers.contains(name) == isKept, "\(name)") }
    }

    @Test("values that the filter adds for the new origin stay, and so do their marks")
    func ownSecrets() async throws {
        let stub = StubTransport(.text("ok"))
        let seen = Log<[String]>()
        let looking = ClosureFilter { exchange, next in
            seen.add(exchange.userMarks.map(\.source).sorted())
            return try await next(exchange)
        }
        let mover = moving(.call, to: "https://media.example/x") {
            $0.http.headers.set(.authorization, "Bearer media", sensitive: true)
            $0.assign(to: UserMark("ada", source: "media"))
        }
        _ = try await agent(stub, [mover, looking]).send(request)
        let sent = try #require(stub.received.first)
        #expect(sent.headers[.authorization] == "Bearer media" && !sent.headers.contains("X-Api-Key"))
        #expect(seen.all == [["authorization", "media"]])
    }

    @Test("a filter that vouches for the new origin keeps the secrets and the marks")
    func vouching() async throws {
        let stub = StubTransport(.text("ok"))
        let seen = Log<String>()
        let looking = ClosureFilter { exchange, next in
            seen.add("\(exchange.isTrusted) \(exchange.userMarks.map(\.source).sorted())")
            return try await next(exchange)
        }
        let marking = ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.assign(to: UserMark("ada", source: "account"))
            return try await next(exchange)
        }
        let mover = moving(.call, to: "https://mirror.example/x") {
            #expect(!$0.isTrusted)
            $0.trustOrigin()
            #expect($0.isTrusted)
        }
        _ = try await agent(stub, [marking, mover, looking]).send(request)
        let sent = try #require(stub.received.first)
        for name in Self.secrets { #expect(sent.headers[name]?.hasSuffix("canary") == true, "\(name)") }
        #expect(seen.all == ["true [\"account\", \"authorization\", \"cookie\", \"x-api-key\"]"])
    }

    enum Destination: CaseIterable { case evil, trusted, vouchedFor }

    @Test(
        "a secret in the query stays at its origin with its mark, unless the new origin is trusted",
        arguments: [FilterStages.call, .hop, .wire], Destination.allCases)
    func querySecrets(stages: FilterStages, destination: Destination) async throws {
        let stub = StubTransport(.text("ok"))
        let marking = ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.assign(to: UserMark("ada", source: "key"), queryItems: ["key=a%20b", "gone=1"])
            let url = try #require(URL(string: exchange.http.urlText + "&key=a%20b&x=%5B1%5D#part"))
            exchange.http.url = url
            return try await next(exchange)
        }
        let mover = ClosureFilter(stages) { exchange, next in
            var exchange = exchange
            let text = exchange.http.urlText.replacing("api.example.com", with: "mirror.example", maxReplacements: 1)
            exchange.http.url = try #require(URL(string: text))
            if destination == .vouchedFor { exchange.trustOrigin() }
            return try await next(exchange)
        }
        let agent = agent(stub, [marking, mover]) {
            if destination == .trusted { $0.trustedOrigins = ["https://mirror.example"] }
        }
        _ = try await agent.send(Plain<Data> { $0.path = "list?page=2&key=own" })
        let query = try #require(stub.received.first?.url.query(percentEncoded: true))
        switch destination {
        case .evil: #expect(query == "page=2&key=own&x=%5B1%5D")
        case .trusted: #expect(query == "page=2&key=own&key=a%20b&x=%5B1%5D")
        case .vouchedFor: #expect(query == "page=2&key=own&x=%5B1%5D&key=a%20b&gone=1")
        }
    }

    @Test("a second move removes secrets that were added at the first origin, too")
    func twice() async throws {
        let stub = StubTransport(.text("ok"))
        let first = moving(.call, to: "https://one.example/x") {
            $0.http.headers.set("X-One", "secret", sensitive: true)
        }
        _ = try await agent(stub, [first, moving(.hop, to: "https://two.example/x")]).send(request)
        #expect(stub.received.first?.headers.contains("X-One") == false)
    }

    @Test("a placeholder isn't an origin: the origin that replaces it gets the secrets")
    func placeholders() async throws {
        let stub = StubTransport(.text("ok"))
        let mover = moving(.call, to: "https://real.example/x")
        _ = try await agent(stub, base: "https://environment.invalid/", [mover]).send(request)
        let sent = try #require(stub.received.first)
        for name in Self.secrets { #expect(sent.headers.contains(name), "\(name)") }
    }

    @Test("explain and the accessories of the call report the lost secrets, without their values")
    func told() async throws {
        struct Mirror: Filter {
            let explanation = "mirror"
            func preview(of request: HTTPRequest) throws -> HTTPRequest {
                var request = request
                request.url = try #require(URL(string: "https://mirror.example/x"))
                return request
            }
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                var exchange = exchange
                exchange.http = try preview(of: exchange.http)
                return try await next(exchange)
            }
        }
        let agent = agent(StubTransport(.text("ok")), [Mirror()])
        let explanation = agent.explain(request)
        let explained = try explanation.request.get()
        #expect(explained.url.host == "mirror.example" && !explained.headers.contains(.authorization))
        let problem = try #require(explanation.problems.first { $0.contains("mirror") })
        #expect(problem.contains("are removed: X-Api-Key, Authorization, Cookie") && !problem.contains("canary"))
        let notes = Log<String>()
        struct Listening: Accessory {
            let notes: Log<String>
            func activity(_ activity: Activity, did event: ActivityEvent) {
                if case .note(let note) = event { notes.add("\(note.name): \(note.message)") }
            }
        }
        var told = request
        told.accessories = [Listening(notes: notes)]
        _ = try await agent.send(told)
        #expect(
            notes.all == [
                "origin: a filter moves the request from https://api.example.com:443 to https://mirror.example:443, "
                    + "so these secrets are removed: X-Api-Key, Authorization, Cookie"
            ])
        agent.configure { $0.trustedOrigins = ["https://mirror.example"] }
        #expect(!agent.explain(request).problems.contains { $0.contains("loses") })
    }
}
