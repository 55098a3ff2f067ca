import Errand
import ErrandTesting
import Testing

@Suite("Filters that need only one instance", .endsInTime, .leakChecked) struct UniqueFilterTests {
    private struct Limit: Filter {
        let name: String
        let log: Log<String>
        var traits: FilterTraits = .unique
        var explanation: String { name }

        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            log.add(name)
            return try await next(exchange)
        }
    }

    private struct Promise: FilterProvidingRequest {
        let requiredFilters: [any Filter]
        var filters: [any Filter] = []
    }

    private struct Mode: FilterProvidingTag, TagKey {
        static var defaultValue: Mode? { nil }
        let requiredFilters: [any Filter]
    }

    private struct Group: FilterGroup {
        let filters: [any Filter]
    }

    /// Returns the names of the filters that run, and checks that the explanation shows the same names.
    private func run(
        agent named: (Log<String>) -> [any Filter] = { _ in [] }, required: (Log<String>) -> [any Filter],
        own: (Log<String>) -> [any Filter] = { _ in [] }, call: (Log<String>) -> [any Filter] = { _ in [] },
        tag: (Log<String>) -> [any Filter] = { _ in [] }
    ) async throws -> [String] {
        let log = Log<String>()
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")), filters: named(log))
        let request = Promise(requiredFilters: required(log), filters: own(log))
        let tags = Tags().with(Mode.self, Mode(requiredFilters: tag(log)))
        let options = CallOptions(tags: tags, filters: call(log))
        _ = try await agent.send(request, options: options)
        let shown = agent.explain(request, options: options).steps.map(\.text).dropLast(2)
        #expect(log.all == Array(shown))
        return log.all
    }

    @Test("a filter of the agent, the request or the call replaces a required filter of its type")
    func named() async throws {
        let required: (Log<String>) -> [any Filter] = { [Limit(name: "required", log: $0)] }
        #expect(try await run(required: required) == ["required"])
        #expect(try await run(agent: { [Limit(name: "agent", log: $0)] }, required: required) == ["agent"])
        #expect(try await run(required: required, own: { [Limit(name: "own", log: $0)] }) == ["own"])
        #expect(try await run(required: required, call: { [Limit(name: "call", log: $0)] }) == ["call"])
        #expect(
            try await run(agent: { [Group(filters: [Limit(name: "member", log: $0)])] }, required: required)
                == ["member"])
    }

    @Test("a filter that a tag requires is replaced by any other filter of its type")
    func tagged() async throws {
        let tag: (Log<String>) -> [any Filter] = { [Limit(name: "tag", log: $0)] }
        #expect(try await run(required: { _ in [] }, tag: tag) == ["tag"])
        #expect(try await run(required: { [Limit(name: "required", log: $0)] }, tag: tag) == ["required"])
        #expect(try await run(agent: { [Limit(name: "agent", log: $0)] }, required: { _ in [] }, tag: tag) == ["agent"])
    }

    @Test("if several are listed, only the outermost runs, even within the agent's array")
    func outermost() async throws {
        let two: (Log<String>) -> [any Filter] = { [Limit(name: "first", log: $0), Limit(name: "second", log: $0)] }
        #expect(try await run(agent: two, required: { _ in [] }, own: two, call: two) == ["first"])
    }

    @Test("filters without the trait run as often as they occur, also filters made of closures")
    func repeated() async throws {
        let plain: (Log<String>) -> [any Filter] = { [Limit(name: "plain", log: $0, traits: [])] }
        #expect(
            try await run(agent: plain, required: plain, own: plain, call: plain, tag: plain)
                == Array(repeating: "plain", count: 5))
        let unique: (Log<String>) -> [any Filter] = { [Limit(name: "unique", log: $0)] }
        #expect(try await run(agent: unique, required: plain) == ["unique", "plain"])
        #expect(try await run(agent: plain, required: unique) == ["plain"])
    }
}
