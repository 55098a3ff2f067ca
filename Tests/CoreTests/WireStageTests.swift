import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Wire filters and groups", .endsInTime, .leakChecked) struct WireStageTests {
    private struct Group: FilterGroup {
        var filters: [any Filter]
    }

    private struct Named: Filter {
        var explanation: String
        var stages = FilterStages.call
        var conflict: String?

        func orderProblem(after outer: any Filter) -> String? { outer is Named ? conflict : nil }
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    private func agent(_ filters: [any Filter], _ transport: StubTransport = .stub(.text("x"))) -> NetworkAgent {
        NetworkAgent(baseURL: base, transport: transport, filters: filters)
    }

    @Test("a wire filter runs after all hop filters, wherever it is in the array, and knows its stage")
    func order() async throws {
        let log = Log<String>()
        let wire = ClosureFilter(.wire) { exchange, next in
            log.add(exchange.stage == .wire ? "wire" : "elsewhere")
            return try await next(exchange)
        }
        let agent = agent([wire, Signpost(name: "hop", log: log, stages: .hop), Signpost(name: "call", log: log)])
        let own = Signpost(name: "own hop", log: log, stages: .hop)
        _ = try await agent.send(Plain { $0.filters = [own] })
        #expect(log.all == ["call>", "hop>", "own hop>", "wire", "<own hop", "<hop", "<call"])
    }

    @Test("a wire filter sees each hop, but not requests that a hop filter answers itself")
    func hops() async throws {
        let log = Log<String>()
        let stub = StubTransport()
        stub.on("/v1/plain", response: .redirect(to: "/end"))
        stub.on("/end", response: .text("end"))
        let wire = ClosureFilter(.wire) { exchange, next in
            log.add(exchange.http.url.path())
            return try await next(exchange)
        }
        _ = try await agent([wire], stub).send(Plain())
        #expect(log.all == ["/v1/plain", "/end"])

        let store = ClosureFilter(.hop) { exchange, _ in HTTPResponse(url: exchange.http.url, status: 200) }
        _ = try await agent([wire, store], stub).send(Plain())
        #expect(log.count == 2)
    }

    @Test("a wire filter knows how many requests the call has sent to the transport before")
    func transferCount() async throws {
        let log = Log<Int>()
        let stub = StubTransport()
        stub.on("/v1/plain", response: .redirect(to: "/end"))
        stub.on("/end", response: .status(503), .text("end"))
        let wire = ClosureFilter(.wire) { exchange, next in
            log.add(exchange.transferCount)
            return try await next(exchange)
        }
        let twice = ClosureFilter(.call) { exchange, next in
            let first = try await next(exchange)
            return first.status == 503 ? try await next(exchange) : first
        }
        let agent = agent([twice, wire], stub)
        _ = try await agent.send(Plain())
        #expect(log.all == [0, 1, 2, 3])
        _ = try await agent.send(Plain())
        #expect(log.all == [0, 1, 2, 3, 0, 1])
    }

    @Test("a wire filter keeps its stage for the requests that it sends, also from a child task and a second time")
    func secondPass() async throws {
        let log = Log<String>()
        func mark(_ name: String, _ stage: FilterStages) -> ClosureFilter {
            ClosureFilter(stage) { exchange, next in
                log.add("\(name) \(exchange.stage == .wire ? "wire" : exchange.stage == .hop ? "hop" : "call")")
                return try await next(exchange)
            }
        }
        let twice = ClosureFilter(.wire) { exchange, next in
            async let first = next(exchange)
            _ = try await first
            return try await next(exchange)
        }
        let again = ClosureFilter(.hop) { exchange, next in
            _ = try await next(exchange)
            return try await next(exchange)
        }
        let filters: [any Filter] = [mark("first", .wire), twice, mark("last", .wire), again, mark("hop", .hop)]
        _ = try await agent(filters).send(Plain())
        let pass = ["hop hop", "first wire", "last wire", "last wire"]
        #expect(log.all == pass + pass)
        // If there's no hop filter before the wire stage, redirects go straight to it.
        log.removeAll()
        _ = try await agent([mark("only", .wire)]).send(Plain())
        #expect(log.all == ["only wire"])
    }

    @Test("a filter inserted after others stays in their stage, and the wire filters stay in theirs")
    func inserted() async throws {
        let log = Log<String>()
        let wire = ClosureFilter(.wire) { exchange, next in
            log.add(exchange.stage == .wire ? "wire" : "elsewhere")
            return try await next(exchange)
        }
        struct Changes: Filter {
            let stages = FilterStages.hop
            let traits = FilterTraits.changesRequest
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
        }
        let own = Signpost(name: "inserted", log: log, stages: .hop)
        let inserting = ClosureFilter(.hop) { exchange, next in
            #expect(next.following == .changesRequest)
            return try await next.inserting(own, behind: .changesRequest)(exchange)
        }
        _ = try await agent([inserting, wire, Changes()]).send(Plain())
        #expect(log.all == ["inserted>", "wire", "<inserted"])
    }

    @Test("the last hop filter doesn't see the traits of later wire filters, and inserts a filter before them")
    func lastHop() async throws {
        struct Wire: Filter {
            let stages = FilterStages.wire
            let traits = FilterTraits.changesRequest
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
        }
        let log = Log<FilterStages>()
        let own = ClosureFilter(.hop) { exchange, next in
            log.add(exchange.stage)
            return try await next(exchange)
        }
        let last = ClosureFilter(.hop) { exchange, next in
            #expect(next.following == [])
            return try await next.inserting(own, behind: .changesRequest)(exchange)
        }
        _ = try await agent([last, Wire()]).send(Plain())
        #expect(log.all == [.hop])
    }

    @Test("a group's members take its place, each in its own stage, and groups may contain groups")
    func groups() async throws {
        let log = Log<String>()
        func sign(_ name: String, _ stages: FilterStages = .call) -> Signpost {
            Signpost(name: name, log: log, stages: stages)
        }
        let group = Group(filters: [sign("wire", .wire), Group(filters: [sign("b"), sign("hop", .hop)]), sign("c")])
        let agent = agent([sign("a"), group, sign("d")])
        _ = try await agent.send(Plain { $0.filters = [Group(filters: [sign("e")])] })
        #expect(log.all.filter { $0.hasSuffix(">") } == ["a>", "b>", "c>", "d>", "e>", "hop>", "wire>"])
    }

    @Test("explain shows wire filters and the members of groups in their places")
    func explanation() {
        let group = Group(filters: [Named(explanation: "limits", stages: .wire), Named(explanation: "repeats")])
        let steps = agent([group, Named(explanation: "cookies", stages: .hop)]).explain(Plain()).steps
        #expect(
            steps.map(\.description) == [
                "call  repeats", "call  redirects, at most 20", "hop   cookies", "wire  limits",
                "hop   transport StubTransport",
            ])
    }

    @Test("explain contains a filter's own problem with an outer filter")
    func conflicts() {
        let (outer, inner) = (Named(explanation: "one"), Named(explanation: "two", conflict: "they do the same"))
        #expect(agent([outer, inner]).explain(Plain()).problems == ["“one” runs before “two”: they do the same"])
        #expect(agent([inner, outer]).explain(Plain()).problems.isEmpty)
    }

    @Test("a filter knows the call's deadline, and whether a failure is final")
    func deadline() async throws {
        let time = ManualTimeSource()
        let log = Log<String>()
        let inner = ClosureFilter { exchange, next in
            exchange.markFailureAsFinal()
            return try await next(exchange)
        }
        let outer = ClosureFilter { exchange, next in
            let left = exchange.deadline.map { exchange.time.now.duration(to: $0) }
            let before = exchange.finalFailureCount
            let response = try await next(exchange)
            log.add("\(left.map { "\($0)" } ?? "none"), \(exchange.finalFailureCount - before)")
            return response
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")), filters: [outer, inner], time: time)
        _ = try await agent.send(Plain { $0.deadline = .seconds(7) })
        _ = try await agent.send(Plain())
        #expect(log.all == ["7.0 seconds, 1", "none, 1"])
    }
}
