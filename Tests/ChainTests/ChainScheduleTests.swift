import Errand
import ErrandBatch
import ErrandChain
import ErrandTesting
import Synchronization
import Testing

/// Chains of ten steps and nested composites, with failures and cancellations at every point, from fixed seeds.
@Suite(.endsInTime, .leakChecked)
struct ChainScheduleTests {
    private enum Form: CaseIterable { case body, list, links, deep }

    private struct Plan: Sendable {
        let form: Form
        let failing: Int?
        let cancelsItself: Int?
        let yields: [Int]
        /// The event, of any activity, at which the whole is cancelled.
        let cancelAt: Int?

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            form = Form.allCases.randomElement(using: &random) ?? .body
            failing = Bool.random(using: &random) ? Int.random(in: 1...12, using: &random) : nil
            cancelsItself = Int.random(in: 0..<5, using: &random) == 0 ? Int.random(in: 1...12, using: &random) : nil
            yields = (0...12).map { _ in Int.random(in: 0...3, using: &random) }
            cancelAt = Bool.random(using: &random) ? Int.random(in: 0..<90, using: &random) : nil
        }
    }

    /// Cancels the outermost activity from within the handling of an event.
    private final class Saboteur: Accessory {
        private let state: Mutex<(left: Int?, whole: Activity?)>
        init(_ event: Int?) { state = Mutex((event, nil)) }

        func activity(_ activity: Activity, did event: ActivityEvent) {
            let whole = state.withLock { state -> Activity? in
                if state.whole == nil { state.whole = activity }
                if case .didStop = event, activity.id == state.whole?.id { state.whole = nil }
                guard let left = state.left else { return nil }
                state.left = left == 0 ? nil : left - 1
                return left == 0 ? state.whole : nil
            }
            whole?.cancel()
        }
    }

    @Test(
        "a failure or cancellation at any point ends the chain and each step once, without later events",
        arguments: 0..<4)
    func schedules(_ share: UInt64) async throws {
        for seed in (share * 250)..<((share + 1) * 250) { try await carryOut(Plan(seed: seed), seed) }
    }

    private func carryOut(_ plan: Plan, _ seed: UInt64) async throws {
        let recording = RecordingAccessory()
        let stub = StubTransport(maximumRecordedRequests: 0) { request in
            let id = request.item
            for _ in 0..<plan.yields[id] { await Task.yield() }
            try Task.checkCancellation()
            if id == plan.cancelsItself { throw CancellationError() }
            return id == plan.failing ? .status(500) : .json("\(id)")
        }
        let agent = NetworkAgent(
            baseURL: "https://shop.example", transport: stub, accessories: [recording, Saboteur(plan.cancelAt)])
        var failure: (any Error)?
        do { try await send(plan.form, on: agent) } catch { failure = error }
        let when = "seed \(seed): \(plan.form)"

        #expect(recording.problems() == [], "\(when)")
        #expect(agent.activities.isEmpty, "\(when)")
        let records = recording.records()
        let whole = try #require(records.first)
        #expect(whole.kind == .chain && whole.name == "willStart" && whole.parent == nil, "\(when)")
        let end = try #require(records.lastIndex { $0.activity == whole.activity && $0.name == "willStop" })
        #expect(records[end...].allSatisfy { $0.activity == whole.activity }, "\(when): something after the end")
        var open: Set<Activity.ID> = []
        for record in records {
            if record.name == "willStart" { open.insert(record.activity) }
            if record.name == "didStop" { open.remove(record.activity) }
            if let parent = record.parent { #expect(open.contains(parent), "\(when): a part outside its whole") }
        }
        guard case .willStop(let outcome) = records[end].event else { return }
        switch outcome {
        case .success: #expect(failure == nil, "\(when)")
        case .failure: #expect(failure is ChainError && plan.failing != nil, "\(when)")
        case .cancelled(let cause):
            #expect((failure as? ErrandError)?.isCancelled == true, "\(when)")
            #expect(cause == .within ? plan.cancelsItself != nil : plan.cancelAt != nil, "\(when)")
        }
        if plan.cancelAt == nil, plan.failing == nil, plan.cancelsItself == nil {
            #expect(failure == nil, "\(when)")
        }
    }

    private func send(_ form: Form, on agent: NetworkAgent) async throws {
        switch form {
        case .body:
            try await agent.run(Chain("body") { steps in for id in 1...10 { _ = try await steps.send(Get(id)) } })
        case .list:
            let list = (1...9).map { id in
                ChainStep(Get(id)) { _, steps in if id == 9 { steps.append(ChainStep(Get(10))) } }
            }
            #expect(try await agent.run(Chain("list", steps: list)).count == 10)
        case .links:
            var chain = Chain("links", Get(1))
            for id in 2...10 {
                chain = chain.then { before in
                    #expect(before.value == "\(id - 1)")
                    return Get(id)
                }
            }
            #expect(try await agent.run(chain).value == "10")
        case .deep:
            // A chain of a batch of chains, each with a batch: three composites below the first.
            let sums = try await agent.run(
                Chain("deep") { steps in
                    try await steps.run(
                        Batch(of: 0..<3, maximumConcurrent: 2) { agent, third in
                            try await agent.run(
                                Chain("third \(third)") { steps in
                                    let first = try await steps.send(Get(third * 4 + 1)).value
                                    let (a, b) = try await steps.run(Batch(Get(third * 4 + 2), Count(third * 4 + 3)))
                                    return first + a.value + "\(b.value)"
                                })
                        })
                })
            #expect(sums == ["123", "567", "91011"])
        }
    }

    @Test("composites nested three levels deep are cancelled together, and end from the inside out")
    func deepCancel() async throws {
        let gate = Gate()
        let shop = Shop { id in if id > 1 { try await gate.wait() } }
        let chain = Chain("outer") { steps in
            _ = try await steps.send(Get(1))
            return try await steps.run(
                Batch(of: [2, 3]) { agent, id in
                    try await agent.run(
                        Chain("inner \(id)") { steps in try await steps.run(Batch(Get(id), Get(id))) })
                }
            ).count
        }
        let handle = shop.agent.start(running: chain)
        try await gate.reached(by: 4)
        handle.cancel()
        let error = await #expect(throws: ErrandError.self) { try await handle.value }
        #expect(error?.isCancelled == true)
        #expect(shop.recording.problems() == [])
        let ends = shop.recording.records().filter { $0.name == "didStop" }.map(\.kind)
        #expect(ends.first == .request && ends.last == .chain)
        #expect(ends.filter { $0 == .batch }.count == 3 && ends.filter { $0 == .chain }.count == 3)
        #expect(shop.recording.outcomes == ["success"] + Array(repeating: "cancelled", count: 4))
    }
}
