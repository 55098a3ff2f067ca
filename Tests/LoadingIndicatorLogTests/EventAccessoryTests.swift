import Errand
import ErrandBatch
import ErrandChain
import ErrandLoadingIndicatorLog
import ErrandTesting
import Testing

@Suite(.leakChecked) struct EventAccessoryTests {
    private let log = Log<String>()

    private var events: EventAccessory {
        EventAccessory(
            willStart: { [log] in log.add("will start") }, progress: { [log] in log.add("progress \($0.received)") },
            willStop: { [log] in log.add("will stop") },
            success: { [log] in log.add("success \($0?.status ?? 0)") },
            failure: { [log] in log.add("failure \(($0 as? ErrandError)?.code.description ?? "other")") },
            cancelled: { [log] in log.add("cancelled by the \($0)") }, didStop: { [log] in log.add("did stop") })
    }

    private func agent(_ response: StubResponse) -> NetworkAgent {
        NetworkAgent(baseURL: base, transport: .stub(response))
    }

    @Test("the closures of a request run in order, with delegate and completion")
    func request() async throws {
        let options = CallOptions(accessories: [events])
        let progress = TransportEvent.progress(TransferProgress(received: 2, totalToReceive: 2))
        let handle = agent(.text("ok").reporting(progress)).start(Get(), options: options) { [log] _ in
            log.add("completion")
        }
        _ = await handle.result
        #expect(log.all == ["will start", "progress 2", "will stop", "success 200", "completion", "did stop"])
    }

    @Test("a failure and a cancellation each have their own event")
    func ends() async throws {
        _ = try? await agent(.text("no", status: 500)).send(Get(), options: CallOptions(accessories: [events]))
        #expect(log.all == ["will start", "will stop", "failure unacceptableStatus", "did stop"])
        let gate = Gate()
        let handle = agent(.text("ok").waiting(for: gate)).start(Get(), options: CallOptions(accessories: [events]))
        try await gate.reached()
        handle.cancel()
        _ = await handle.result
        #expect(log.all.dropFirst(4) == ["will start", "will stop", "cancelled by the handle", "did stop"])
    }

    @Test("the closures of a batch and a chain run for the composite, not for its parts")
    func composites() async throws {
        let agent = agent(.text("ok"))
        _ = try await agent.run(Batch(Get(), Get()), options: CallOptions(accessories: [events]))
        let ofBatch = log.all.filter { !$0.hasPrefix("progress") }
        #expect(ofBatch == ["will start", "will stop", "success 0", "did stop"])
        _ = try await agent.run(
            Chain("one") { try await $0.send(Get()).value }, options: CallOptions(accessories: [events]))
        #expect(log.all.filter { !$0.hasPrefix("progress") } == ofBatch + ofBatch)
    }

    @Test("closures of an earlier start aren't called by a later start, and are released")
    func once() async throws {
        final class Token: Sendable {}
        weak var held: Token?
        let events: EventAccessory
        do {
            let token = Token()
            held = token
            events = EventAccessory(willStart: { [log] in log.add("will start \(token)") }, didStop: { _ = token })
        }
        #expect(held != nil)
        let agent = agent(.text("ok"))
        for _ in 0..<3 { _ = try await agent.send(Get(), options: CallOptions(accessories: [events])) }
        #expect(log.all.count == 1)
        #expect(held == nil)
    }
}
