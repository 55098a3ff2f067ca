import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Filters", .leakChecked) struct FilterTests {
    private func agent(_ filters: [any Filter], _ response: StubResponse = .text("x")) -> NetworkAgent {
        NetworkAgent(baseURL: base, transport: .stub(response), filters: filters)
    }

    @Test("filters run in the order of stages, and within a stage the agent's run before the request's")
    func order() async throws {
        let log = Log<String>()
        func sign(_ name: String, _ stages: FilterStages = .call) -> Signpost {
            Signpost(name: name, log: log, stages: stages)
        }
        let agent = agent([sign("hop1", .hop), sign("call1"), sign("call2")])
        _ = try await agent.send(Plain { $0.filters = [sign("hop2", .hop), sign("call3")] })
        #expect(
            log.all == [
                "call1>", "call2>", "call3>", "hop1>", "hop2>", "<hop2", "<hop1", "<call3", "<call2", "<call1",
            ])
    }

    @Test("a request's required filters run before its own, the call's after them")
    func requiredAndCall() async throws {
        let log = Log<String>()
        func sign(_ name: String, _ stages: FilterStages = .call) -> Signpost {
            Signpost(name: name, log: log, stages: stages)
        }
        struct Promise: FilterProvidingRequest {
            var requiredFilters: [any Filter]
            var filters: [any Filter]
        }
        let request = Promise(requiredFilters: [sign("hop2", .hop), sign("call2")], filters: [sign("call3")])
        let options = CallOptions(filters: [sign("hop3", .hop), sign("call4")])
        _ = try await agent([sign("hop1", .hop), sign("call1")]).send(request, options: options)
        #expect(
            log.all.filter { $0.hasSuffix(">") } == ["call1>", "call2>", "call3>", "call4>", "hop1>", "hop2>", "hop3>"])
    }

    @Test("a filter for both stages runs in both and knows the current stage")
    func both() async throws {
        let log = Log<String>()
        let filter = ClosureFilter([.call, .hop]) { exchange, next in
            log.add(exchange.stage == .call ? "call" : "hop")
            return try await next(exchange)
        }
        _ = try await agent([filter]).send(Plain())
        _ = try await agent([filter, filter, Signpost(name: "s", log: log)]).send(Plain())
        #expect(log.all == ["call", "hop", "call", "call", "s>", "hop", "hop", "<s"])
    }

    @Test("a filter can change the request, respond itself, and call next several times")
    func acting() async throws {
        let stub = StubTransport()
        stub.on("/v1/plain", headers: ["X-Try": "1"], response: .status(503))
        stub.on("/v1/plain", headers: ["X-Try": "2"], response: .text("second"))
        let retry = ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.http.headers["X-Try"] = "1"
            let first = try await next(exchange)
            guard first.status == 503 else { return first }
            exchange.http.headers["X-Try"] = "2"
            return try await next(exchange)
        }
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(baseURL: base, transport: stub, filters: [retry], accessories: [recorder])
        #expect(try await agent.send(Plain()).value == Data("second".utf8))
        let attempts = recorder.records().compactMap { record -> Int? in
            if case .sending(_, let position) = record.event { position.attempt } else { nil }
        }
        #expect(attempts == [1, 2])
        let own = ClosureFilter { exchange, _ in
            HTTPResponse(
                url: exchange.http.url, status: 200, body: HTTPBody(Data("own".utf8)),
                source: .stored(age: .seconds(3), reason: "fresh"))
        }
        let response = try await NetworkAgent(baseURL: base, transport: .stub, filters: [own]).send(Plain())
        #expect(response.value == Data("own".utf8) && response.http.source.isStored)
        #expect("\(response.http.source)" == "cache, 3 s old, fresh")
    }

    @Test("a response that a filter creates is judged, decoded and reported like any other")
    func ownResponse() async throws {
        let recorder = RecordingAccessory()
        let own = ClosureFilter { exchange, _ in HTTPResponse(url: exchange.http.url, status: 404) }
        let agent = NetworkAgent(baseURL: base, transport: .stub, filters: [own], accessories: [recorder])
        #expect(await code { try await agent.send(Plain()) } == .unacceptableStatus)
        #expect(recorder.names() == ["willStart", "built", "willStop", "didStop"])
    }

    @Test("next may be called from child tasks at the same time")
    func children() async throws {
        let race = ClosureFilter { exchange, next in
            try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                for _ in 0..<3 { group.addTask { try await next(exchange) } }
                var last: HTTPResponse?
                for try await response in group { last = response }
                return try #require(last)
            }
        }
        let stub = StubTransport(.text("x"))
        _ = try await NetworkAgent(baseURL: base, transport: stub, filters: [race]).send(Plain())
        #expect(stub.received.count == 3)
    }

    @Test("next throws once the activity is over")
    func over() async throws {
        let (leaked, ended) = (Log<@Sendable () async throws -> HTTPResponse>(), Log<Int>())
        let leak = ClosureFilter { exchange, next in
            leaked.add { try await next(exchange) }
            return try await next(exchange)
        }
        let stub = StubTransport(.text("x"))
        _ = try await NetworkAgent(baseURL: base, transport: stub, filters: [leak]).send(Plain())
        let late = try #require(leaked.all.first)
        #expect(await code { try await late() } == .activityEnded)
        #expect(stub.received.count == 1 && ended.all.isEmpty)
        leaked.removeAll()
    }

    @Test("detached work is a separate activity that outlives the call and ends with cancelAll or the agent")
    func detaching() async throws {
        let (gate, recorder, done) = (Gate(), RecordingAccessory(), Gate())
        let refresh = ClosureFilter { exchange, next in
            exchange.detach("refresh") { exchange in
                try await gate.wait()
                _ = try await next(exchange)
                done.open()
            }
            return try await next(exchange)
        }
        let stub = StubTransport(.text("x"))
        var agent: NetworkAgent? = NetworkAgent(
            baseURL: base, transport: stub, filters: [refresh], accessories: [recorder])
        _ = try await agent?.send(Plain())
        #expect(agent?.activities.map(\.label) == ["refresh"] && agent?.activities.first?.kind == .background)
        #expect(agent?.activities.first?.parent != nil)
        gate.open()
        try await done.wait()
        #expect(stub.received.count == 2)
        let stuck = Gate()
        let forever = ClosureFilter { exchange, next in
            exchange.detach("forever") { _ in try await stuck.wait() }
            return try await next(exchange)
        }
        agent = NetworkAgent(baseURL: base, transport: stub, filters: [forever], accessories: [recorder])
        _ = try await agent?.send(Plain())
        #expect(agent?.cancelAll() == 1)
        _ = try await agent?.send(Plain())
        agent = nil
        try await recorder.waitUntilQuiet()
        #expect(recorder.problems().isEmpty)
    }

    @Test("staged work is committed if all checks and the decoding succeed, and discarded otherwise")
    func staging() async throws {
        let log = Log<String>()
        let staging = StagingFilter(log)
        struct Refused: Error {}
        _ = try await agent([staging]).send(Plain())
        _ = try? await agent([staging]).send(Plain { $0.checks = [ResponseCheck("no") { _ in throw Refused() }] })
        _ = try? await agent([staging]).send(Plain { $0.acceptableStatuses = [404] })
        _ = try? await agent([staging]).send(GetUser())
        #expect(log.all == ["commit 200", "discard 200", "discard 200", "discard 200"])
    }

    @Test("a filter can judge a response early, as Core does in the end")
    func judging() async throws {
        let log = Log<String>()
        let judge = ClosureFilter { exchange, next in
            let response = try await next(exchange)
            do { try await exchange.judge(response) } catch let error as ErrandError { log.add("\(error.code)") }
            return response
        }
        _ = try? await agent([judge], .status(500)).send(Plain())
        _ = try await agent([judge]).send(Plain())
        #expect(log.all == ["unacceptableStatus"])
    }

    @Test("a request changed by a filter is validated before it is sent")
    func validated() async throws {
        let stub = StubTransport(.text("x"))
        let breaking = ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.http.headers["X"] = "a\r\nb"
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: stub, filters: [breaking])
        #expect(await code { try await agent.send(Plain()) } == .invalidRequest)
        #expect(stub.received.isEmpty)
    }

    @Test("copies of bodies reach accessories that want them, bounded, for data and for streams", arguments: [0, 3])
    func bodyBytes(limit: Int) async throws {
        let recorder = RecordingAccessory(maximumBodyBytes: limit)
        let chunks = StubResponse.chunks([Data("abcd".utf8), Data("ef".utf8)])
        let agent = NetworkAgent(baseURL: base, transport: .stub(chunks), accessories: [recorder])
        let collected = ClosureFilter { exchange, next in
            var response = try await next(exchange)
            response.body = HTTPBody(try await response.body.collect(upTo: 100))
            return response
        }
        func copies() -> [String] {
            recorder.records().compactMap {
                switch $0.event {
                case .requestBody(let data, _): "> " + String(decoding: data, as: UTF8.self)
                case .responseBody(let data, _): "< " + String(decoding: data, as: UTF8.self)
                default: nil
                }
            }
        }
        _ = try await agent.send(
            Plain {
                $0.method = .post; $0.body = .text("hello")
            })
        #expect(copies() == (limit == 0 ? [] : ["> hel", "< abc"]))
        _ = try await agent.send(Plain<HTTPBody>.streamed { $0.filters = [collected] })
        #expect(copies() == (limit == 0 ? [] : ["> hel", "< abc", "< abc"]))
    }
}
