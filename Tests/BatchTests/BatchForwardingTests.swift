import Errand
import ErrandBatch
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("A batch on an agent that passes requests on", .endsInTime, .leakChecked)
struct BatchForwardingTests {
    private static func forwarding(_ shop: Shop) -> [any Agent] {
        [shop.agent, ForwardingAgent(base: shop.agent), ForwardingAgent(base: ForwardingAgent(base: shop.agent))]
    }

    @Test(
        "the batch has one lifecycle, with its progress and outcome, and is the parent of its parts", arguments: 0..<3)
    func lifecycle(depth: Int) async throws {
        let (shop, whole) = (Shop(), RecordingAccessory())
        let handle = Self.forwarding(shop)[depth].start(
            running: Batch([1, 2, 3].map(GetUser.init)), options: CallOptions(accessories: [whole]), completion: nil)
        #expect(try await handle.value.map(\.value.id) == [1, 2, 3])
        #expect(handle.progress.fraction == 1)
        guard case .success? = handle.outcome else { return #expect(Bool(false), "no success") }
        #expect(whole.names().filter { $0 != "note" } == ["willStart", "willStop", "didStop"])
        let parts = shop.recording.records().filter { $0.kind == .request }
        #expect(Set(parts.map(\.activity)).count == 3 && parts.allSatisfy { $0.parent == handle.activity.id })
        #expect(whole.problems().isEmpty && shop.recording.problems().isEmpty)
    }

    @Test("cancelling its handle cancels the batch and its parts", arguments: 0..<3)
    func cancelling(depth: Int) async throws {
        let gate = Gate()
        let shop = Shop { _ in try await gate.wait() }
        let handle = Self.forwarding(shop)[depth].start(
            running: Batch([1, 2, 3].map(GetUser.init)), options: CallOptions(), completion: nil)
        try await gate.reached(by: 3)
        handle.cancel()
        await #expect(throws: ErrandError.self) { try await handle.value }
        guard case .cancelled(.handle)? = handle.outcome else { return #expect(Bool(false), "not cancelled") }
        #expect(shop.recording.outcomes == ["cancelled", "cancelled", "cancelled"])
    }

    @Test("gives the filters of its call to each part, even within nested batches", arguments: 0..<3)
    func filters(depth: Int) async throws {
        let (shop, count) = (Shop(), Log<String>())
        let options = CallOptions(filters: [
            .closure { exchange, next in
                count.add("\(exchange.http.url.path)")
                return try await next(exchange)
            }
        ])
        let agent = Self.forwarding(shop)[depth]
        _ = try await agent.run(Batch([1, 2].map(GetUser.init)), options: options)
        #expect(count.all.sorted() == ["/users/1", "/users/2"])
        let inner = Batch(of: [3, 4]) { agent, id in
            try await agent.run(Batch(GetUser(id: id), GetFeed())).0.value
        }
        _ = try await agent.run(inner, options: options)
        #expect(count.all.dropFirst(2).sorted() == ["/feed", "/feed", "/users/3", "/users/4"])
    }
}
