import Errand
import ErrandCoalescing
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Equality of requests", .leakChecked, .endsInTime) struct EqualityTests {
    private enum Screen: TagKey { static let defaultValue = "" }
    private enum Region: TagKey {
        static let defaultValue = ""
        static let affectsResponse = true
    }

    private struct Incomparable: TagKey {
        static var defaultValue: Incomparable { Incomparable() }
        static let affectsResponse = true
    }

    private static func call(
        _ method: HTTPMethod = .get, _ path: String = "x", _ configure: (inout Call<Data>) -> Void = { _ in }
    ) -> Call<Data> { Call<Data>(method, path, configure: configure) }

    /// Returns the number of exchanges that two concurrent requests make.
    private func exchanges(
        _ first: some Request, _ second: some Request, _ filters: [any Filter] = [.coalescing],
        options: (CallOptions, CallOptions) = (CallOptions(), CallOptions())
    ) async throws -> Int {
        let (service, recorder) = (Service(), RecordingAccessory())
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: service.transport, filters: filters,
            accessories: [recorder])
        let one = agent.start(first, options: options.0)
        try await service.gate.reached()
        let two = agent.start(second, options: options.1)
        try await eventually {
            service.gate.arrivals == 2
                || recorder.records().contains {
                    if case .note(let note) = $0.event { note.name == "coalescing" } else { false }
                }
        }
        service.gate.open()
        _ = await (one.result, two.result)
        return service.exchanges
    }

    @Test("Equal requests of safe methods share", arguments: [HTTPMethod.get, .head, .options])
    func safeMethods(method: HTTPMethod) async throws {
        #expect(try await exchanges(Self.call(method), Self.call(method)) == 1)
    }

    @Test("Requests with other methods aren't shared", arguments: [HTTPMethod.post, .put, .patch, .delete])
    func unsafeMethods(method: HTTPMethod) async throws {
        #expect(try await exchanges(Self.call(method), Self.call(method)) == 2)
    }

    @Test("Values that differ only in Unicode composition or percent-encoding aren't shared")
    func composition() async throws {
        func get(_ value: String, isLatin1: Bool = false) -> Call<Data> {
            var field = HTTPHeaders.Field("X-A", value)
            field.isLatin1 = isLatin1
            return Self.call { [field] in $0.headers = HTTPHeaders([field]) }
        }
        #expect(try await exchanges(get("jos\u{E9}"), get("jos\u{E9}")) == 1)
        #expect(try await exchanges(get("jos\u{E9}"), get("jose\u{301}")) == 2)
        #expect(try await exchanges(get("jos\u{E9}"), get("jos\u{E9}", isLatin1: true)) == 2)
    }

    @Test("Different methods, URLs, header fields, credentials, cookies, bodies, timeouts or deliveries aren't shared")
    func differences() async throws {
        let base = Self.call { $0.headers = ["Accept": "text/plain", "X-A": "1"] }
        let others: [(String, Call<Data>)] = [
            ("method", Self.call(.head) { $0.headers = base.headers }),
            ("path", Self.call(.get, "y") { $0.headers = base.headers }),
            ("query", Self.call(.get, "x?a=1") { $0.headers = base.headers }),
            ("header", Self.call { $0.headers = ["Accept": "text/html", "X-A": "1"] }),
            ("one field more", Self.call { $0.headers = ["Accept": "text/plain", "X-A": "1", "X-B": "2"] }),
            (
                "credentials",
                Self.call {
                    $0.headers = base.headers
                    $0.authorization = .bearer("t")
                }
            ),
            ("cookie", Self.call { $0.headers = ["Accept": "text/plain", "X-A": "1", "Cookie": "a=1"] }),
            (
                "body",
                Self.call {
                    $0.headers = base.headers
                    $0.body = .text("q")
                }
            ),
            (
                "timeout",
                Self.call {
                    $0.headers = base.headers
                    $0.timeout = .seconds(3)
                }
            ),
        ]
        for (what, other) in others { #expect(try await exchanges(base, other) == 2, "\(what)") }
        let stream = Call<HTTPBody>(.get, "x") { $0.headers = base.headers }
        #expect(try await exchanges(stream, stream) == 2)
    }

    @Test("Requests with equal bodies in memory are shared, and requests with streamed bodies aren't")
    func bodies() async throws {
        let data = Self.call { $0.body = .json(["q": 1]) }
        #expect(try await exchanges(data, data) == 1)
        let stream = Self.call { $0.body = .stream { HTTPBody(Data("q".utf8)) } }
        #expect(try await exchanges(stream, stream) == 2)
    }

    @Test("The order of names doesn't matter, the order of a name's values does")
    func order() async throws {
        let one = Self.call { $0.headers = ["X-A": "1", "X-B": "2"] }
        let two = Self.call { $0.headers = ["x-b": "2", "x-a": "1"] }
        #expect(try await exchanges(one, two) == 1)
        func values(_ values: [String]) -> Call<Data> {
            Self.call { for value in values { $0.headers.add("X-A", value) } }
        }
        #expect(try await exchanges(values(["1", "2"]), values(["2", "1"])) == 2)
    }

    @Test("Request numbers are ignored; a rule can ignore more fields, but never credentials")
    func rules() async throws {
        func call(_ name: HTTPHeaderName, _ value: String) -> Call<Data> { Self.call { $0.headers[name] = value } }
        #expect(try await exchanges(call("X-Request-ID", "1"), call("X-Request-ID", "2")) == 1)
        let ignoring: [any Filter] = [.coalescing(.standard.ignoring("X-Screen", "Authorization"))]
        #expect(try await exchanges(call("X-Screen", "1"), call("X-Screen", "2"), ignoring) == 1)
        #expect(try await exchanges(call("Authorization", "a"), call("Authorization", "b"), ignoring) == 2)
        let only: [any Filter] = [.coalescing(.standard.comparingOnly("Accept"))]
        #expect(try await exchanges(call("X-Any", "1"), call("X-Any", "2"), only) == 1)
        #expect(try await exchanges(call("Accept", "1"), call("Accept", "2"), only) == 2)
        #expect(try await exchanges(call("Cookie", "a=1"), call("Cookie", "a=2"), only) == 2)
        let request = Self.call()
        let rule = CallOptions.coalescing(.standard.adding("tenant 2"))
        #expect(try await exchanges(request, request, options: (CallOptions(), rule)) == 2)
        #expect(try await exchanges(request, request, options: (rule, rule)) == 1)
    }

    @Test("A request or a call can opt out, and other requests don't join it")
    func off() async throws {
        let request = Self.call()
        let off = CallOptions.coalescing(.off)
        #expect(try await exchanges(request, request, options: (off, CallOptions())) == 2)
        #expect(try await exchanges(request, request, options: (CallOptions(), off)) == 2)
        let own = Self.call { $0.tags[CoalescingPolicy.self] = .off }
        #expect(try await exchanges(own, own) == 2)
    }

    @Test("Labels do not count, tags that affect the response do")
    func tags() async throws {
        func screen(_ name: String) -> Call<Data> { Self.call { $0.tags[Screen.self] = name } }
        #expect(try await exchanges(screen("home"), screen("profile")) == 1)
        func region(_ name: String) -> Call<Data> { Self.call { $0.tags[Region.self] = name } }
        #expect(try await exchanges(region("eu"), region("us")) == 2)
        #expect(try await exchanges(region("eu"), region("eu")) == 1)
        let unknown = Self.call { $0.tags[Incomparable.self] = Incomparable() }
        #expect(try await exchanges(unknown, unknown) == 2)
    }

    @Test("Different outputs share the transport's work, but not the work of later filters")
    func types() async throws {
        let (text, data) = (Call<String>(.get, "x"), Call<Data>(.get, "x"))
        #expect(try await exchanges(text, data) == 1)
        let pass = ClosureFilter(.hop) { exchange, next in try await next(exchange) }
        #expect(try await exchanges(text, data, [.coalescing, pass]) == 2)
        #expect(try await exchanges(text, text, [.coalescing, pass]) == 1)
    }

    @Test("A later filter that belongs to one call prevents sharing, an earlier filter doesn't")
    func ownFilters() async throws {
        let request = Self.call()
        func tenant(_ stage: FilterStages, _ name: String) -> CallOptions {
            CallOptions(filters: [
                ClosureFilter(stage) { exchange, next in
                    var exchange = exchange
                    exchange.http.headers["X-Tenant"] = name
                    return try await next(exchange)
                }
            ])
        }
        #expect(try await exchanges(request, request, options: (tenant(.hop, "a"), tenant(.hop, "b"))) == 2)
        #expect(try await exchanges(request, request, options: (tenant(.call, "a"), tenant(.call, "b"))) == 2)
        #expect(try await exchanges(request, request, options: (tenant(.call, "a"), tenant(.call, "a"))) == 1)
    }

    @Test("explain names values that aren't compared, because they are added later")
    func explanation() {
        let signer = Step(traits: .signs)
        let agent = NetworkAgent(StubTransport(.text("")), CoalescingFilter(in: .call), signer)
        #expect(agent.explain(Self.call()).problems.count == 1)
        #expect(NetworkAgent(StubTransport(.text("")), signer, .coalescing).explain(Self.call()).problems.isEmpty)
    }

    @Test("explain accepts a later change that doesn't identify the resource")
    func sealed() {
        for (traits, count) in [([.changesRequest], 1), ([.changesRequest, .outsideCacheKey], 0)]
            as [(FilterTraits, Int)]
        {
            let agent = NetworkAgent(StubTransport(.text("")), .coalescing, Step(traits: traits, stages: .wire))
            #expect(agent.explain(Self.call()).problems.count == count)
        }
    }

    private struct Step: Filter {
        var traits: FilterTraits
        var stages = FilterStages.call
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }
}
