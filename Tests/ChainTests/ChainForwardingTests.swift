import Errand
import ErrandBatch
import ErrandChain
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

private final class Paths: Sendable {
    private let paths = Mutex<[String]>([])
    func add(_ path: String) { paths.withLock { $0.append(path) } }
    var all: [String] { paths.withLock { $0 } }
}

@Suite("A chain and agents that pass requests on", .endsInTime, .leakChecked) struct ChainForwardingTests {
    @Test("a chain on a forwarding agent has one lifecycle, with its outcome, and is the parent of its steps")
    func lifecycle() async throws {
        let (shop, whole) = (Shop(), RecordingAccessory())
        let chain = Chain("two") { steps in
            try await steps.send(Get(1)).value + steps.send(Get(2)).value
        }
        let agent = ForwardingAgent(base: ForwardingAgent(base: shop.agent))
        let handle = agent.start(running: chain, options: CallOptions(accessories: [whole]), completion: nil)
        #expect(try await handle.value == "12")
        guard case .success? = handle.outcome else { return #expect(Bool(false), "no success") }
        #expect(whole.names().filter { $0 != "note" } == ["willStart", "willStop", "didStop"])
        let steps = shop.recording.records().filter { $0.kind == .request }
        #expect(Set(steps.map(\.activity)).count == 2 && steps.allSatisfy { $0.parent == handle.activity.id })
        #expect(whole.problems().isEmpty && shop.recording.problems().isEmpty)
        #expect(handle.progress.received >= 0 && !handle.isRunning)
    }

    @Test("a call started within a chain, on an agent that wraps its steps, is a step of the chain")
    func wrappedSteps() async throws {
        let (shop, watched) = (Shop(), RecordingAccessory())
        let chain = Chain("wrapped") { steps in
            let agent = ForwardingAgent(base: steps)
            let options = CallOptions(accessories: [watched])
            return try await agent.start(Get(7), options: options, completion: nil).value.value
        }
        #expect(try await shop.agent.run(chain) == "7")
        #expect(watched.names() == ["willStart", "built", "sending", "received", "willStop", "didStop"])
        let notes = shop.recording.records().filter { $0.kind == .chain && $0.name == "note" }
        #expect(notes.count == 1)
    }

    @Test("the filters of a chain's call run for each step, and for the parts of a batch step")
    func filters() async throws {
        let (shop, paths) = (Shop(), Paths())
        let options = CallOptions(filters: [
            .closure { exchange, next in
                paths.add(exchange.http.url.path)
                return try await next(exchange)
            }
        ])
        let chain = Chain("filtered") { steps in
            _ = try await steps.send(Get(1))
            _ = try await steps.start(Get(2), options: CallOptions(), completion: nil).value
            return try await steps.run(Batch(Get(3), Get(4))).0.value
        }
        #expect(try await shop.agent.run(chain, options: options) == "3")
        #expect(paths.all.prefix(2) == ["/items/1", "/items/2"])
        #expect(paths.all.dropFirst(2).sorted() == ["/items/3", "/items/4"])
        _ = try await shop.agent.run(chain)
        #expect(paths.all.count == 4)
    }
}
