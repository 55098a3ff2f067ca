import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("A request after its filters", .leakChecked) struct FilteredRequestTests {
    private struct Mark: Filter {
        let name: String
        var stages = FilterStages.call
        var traits = FilterTraits.changesRequest

        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            var exchange = exchange
            exchange.http.headers.add("X-Mark", name)
            return try await next(exchange)
        }
    }

    private struct Refused: Error {}

    @Test(
        "filters that change or sign the request run in order; other filters, accessories and the transport don't run")
    func filtered() async throws {
        let stub = StubTransport()
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(
            baseURL: base, transport: stub,
            filters: [
                Mark(name: "hop", stages: .hop), Mark(name: "first"),
                Mark(name: "cache", traits: [.caches, .changesRequest]),
                Mark(name: "plain", traits: []), Mark(name: "signature", traits: .signs),
            ], accessories: [recorder])
        let options = CallOptions(filters: [Mark(name: "call's")], accessories: [recorder])
        let request = try await agent.filteredRequest(for: GetUser(id: 7), options: options)
        #expect(request.url.absoluteString == "\(base)/users/7")
        #expect(request.headers.values(of: "X-Mark") == ["first", "signature", "call's", "hop"])
        #expect(stub.received.isEmpty && recorder.names().isEmpty && agent.activities.isEmpty)
    }

    @Test("the errors of the builder and of the filters are thrown")
    func failures() async throws {
        let refusing = ClosureRefusal()
        let agent = NetworkAgent(baseURL: base, transport: StubTransport(), filters: [refusing])
        await #expect(throws: Refused.self) { try await agent.filteredRequest(for: GetUser(id: 7)) }
        let error = await #expect(throws: ErrandError.self) {
            try await agent.filteredRequest(for: Call<Void>(.get, "a b"))
        }
        #expect(error?.code == .invalidURL)
    }

    private struct ClosureRefusal: Filter {
        var traits: FilterTraits { .changesRequest }
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { throw Refused() }
    }
}
