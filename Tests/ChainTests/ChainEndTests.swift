import Dispatch
import Errand
import ErrandBatch
import ErrandChain
import ErrandTesting
import Testing

@Suite(.endsInTime, .leakChecked)
struct ChainEndTests {
    @MainActor private final class Delegate: ChainDelegate {
        let log: Log<String>
        nonisolated init(_ log: Log<String>) { self.log = log }

        func chain(_ activity: Activity, didFinish step: ChainStepResult) {
            log.add("step \(step.index) \(step.label) \(step.value) \(step.http?.status ?? 0)")
        }
        func chainDidSucceed(_ activity: Activity, output: any Sendable) { log.add("delegate succeeded") }
        func chainDidFail(_ activity: Activity, error: any Error) {
            log.add("delegate failed \((error as? ChainError)?.index ?? -1)")
        }
        func chainDidCancel(_ activity: Activity) { log.add("delegate cancelled") }
    }

    private struct Events: Accessory {
        let log: Log<String>
        func activity(_ activity: Activity, did event: ActivityEvent) {
            switch event {
            case .willStart: log.add("will start")
            case .willStop(.success): log.add("will stop: success")
            case .willStop(.failure): log.add("will stop: failure")
            case .willStop(.cancelled): log.add("will stop: cancelled")
            case .didStop: log.add("did stop")
            default: break
            }
        }
    }

    private func run(
        _ shop: Shop, _ log: Log<String>, _ chain: Chain<[ChainStepResult]>,
        then act: (RequestHandle<[ChainStepResult]>) async throws -> Void = { _ in }
    ) async throws {
        let delegate = Delegate(log)
        let handle = shop.agent.start(
            running: chain, delegate: delegate, options: CallOptions(accessories: [Events(log: log)])
        ) { result in
            switch result {
            case .success(let steps): log.add("completion \(steps.count)")
            case .failure(let error as ErrandError) where error.isCancelled: log.add("completion cancelled")
            case .failure(let error): log.add("completion failed \((error as? ChainError)?.index ?? -1)")
            }
        }
        try await act(handle)
        _ = await handle.result
        withExtendedLifetime(delegate) {}
        #expect(shop.agent.activities.isEmpty)
        #expect(shop.recording.problems() == [])
    }

    @Test("a success notifies every step, will-stop, delegate, completion and did-stop, and releases the chain")
    func success() async throws {
        let log = Log<String>()
        try await run(Shop(), log, Chain("list", steps: [ChainStep(Get(1)), ChainStep(Count(2))]))
        #expect(
            log.all == [
                "will start", "step 0 Get 1 200", "step 1 count 2 200", "will stop: success", "delegate succeeded",
                "completion 2", "did stop",
            ])
    }

    @Test("a failure notifies of the steps before it, then once of the step that failed")
    func failure() async throws {
        let log = Log<String>()
        let shop = Shop { id in if id == 2 { throw ErrandError(.connectionLost, "gone") } }
        try await run(shop, log, Chain("list", steps: (1...4).map { ChainStep(Get($0)) }))
        #expect(
            log.all == [
                "will start", "step 0 Get 1 200", "will stop: failure", "delegate failed 1", "completion failed 1",
                "did stop",
            ])
        #expect(shop.recording.outcomes == ["success", "failure"])
    }

    @Test("a stop is a cancellation that ends the current step, and the rest never starts")
    func stop() async throws {
        let (log, gate) = (Log<String>(), Gate())
        let shop = Shop { id in if id == 2 { try await gate.wait() } }
        try await run(shop, log, Chain("list", steps: (1...4).map { ChainStep(Get($0)) })) { handle in
            try await gate.reached()
            handle.cancel()
        }
        #expect(
            log.all == [
                "will start", "step 0 Get 1 200", "will stop: cancelled", "delegate cancelled", "completion cancelled",
                "did stop",
            ])
        #expect(shop.recording.outcomes == ["success", "cancelled"])
    }

    @Test("an empty list succeeds at once and has both its events")
    func empty() async throws {
        let log = Log<String>()
        try await run(Shop(), log, Chain("list", steps: []))
        #expect(log.all == ["will start", "will stop: success", "delegate succeeded", "completion 0", "did stop"])
    }

    @Test("a chain is registered before it starts, runs without a reference to it and is released")
    func released() async throws {
        let gate = Gate()
        let shop = Shop { _ in try await gate.wait() }
        weak var activity: Activity?
        do {
            activity = shop.agent.start(running: Chain("list", steps: [ChainStep(Get(1)), ChainStep(Get(2))])).activity
        }
        #expect(shop.agent.activities.contains { $0.kind == .chain })
        #expect(shop.recording.records().first?.name == "willStart")
        gate.open()
        try await shop.recording.wait(for: "didStop", count: 3)
        #expect(shop.agent.activities.isEmpty)
        // The task that ran the activity releases it a moment later.
        try await eventually { activity == nil }
    }

    @Test("cancelAll ends a chain and its step, with callbacks, and releases everything")
    func cancelAll() async throws {
        let (log, gate) = (Log<String>(), Gate())
        let shop = Shop { _ in try await gate.wait() }
        try await run(shop, log, Chain("list", steps: [ChainStep(Get(1))])) { _ in
            try await gate.reached()
            #expect(shop.agent.cancelAll() > 0)
        }
        #expect(Array(log.all.suffix(3)) == ["delegate cancelled", "completion cancelled", "did stop"])
    }

    @Test("cancelling the task that awaits a chain cancels all of it, including steps it started without awaiting")
    func task() async throws {
        let gate = Gate()
        let shop = Shop { _ in try await gate.wait() }
        let task = Task {
            try await shop.agent.run(
                Chain("task") { steps in
                    let handle = steps.start(Get(1))
                    let other = steps.start(running: Batch(Get(2), Get(3)))
                    _ = try await other.value
                    return try await handle.value.value
                })
        }
        try await gate.reached(by: 3)
        task.cancel()
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.isCancelled == true)
        #expect(shop.recording.outcomes == ["cancelled", "cancelled", "cancelled"])
        #expect(shop.agent.activities.isEmpty)
        #expect(shop.recording.problems() == [])
    }

    @Test("a chain that is cancelled by its own body ends as cancelled, even if the body returns a value")
    func ownCancel() async throws {
        let shop = Shop()
        let chain = Chain("own") { steps in
            _ = try await steps.send(Get(1))
            steps.cancel()
            if (try? await steps.send(Get(2))) != nil { return "sent after the end" }
            return "all is well"
        }
        let error = await #expect(throws: ErrandError.self) { try await shop.agent.run(chain) }
        #expect(error?.isCancelled == true)
        #expect(shop.recording.outcomes == ["success"])
    }

    @Test("work that the body leaves running is cancelled before the end, and no work starts after it")
    func stragglers() async throws {
        let gate = Gate()
        let shop = Shop { id in if id == 1 { try await gate.wait() } }
        let kept = try await shop.agent.run(
            Chain("careless") { steps in
                steps.start(Get(1))
                try await gate.reached()
                return steps
            })
        #expect(shop.recording.outcomes == ["cancelled"])
        #expect(shop.recording.records().last?.kind == .chain)
        let late = await #expect(throws: ErrandError.self) { try await kept.send(Get(2)) }
        #expect(late?.code == .activityEnded)
        await #expect(throws: ErrandError.self) { try await kept.run(Batch(Get(2), Get(3))) }
        await #expect(throws: ErrandError.self) { try await kept.start(Get(2)).value }
        #expect(shop.recording.records().filter { $0.name == "sending" }.count == 1)
    }

    @Test("requests that the body starts in its own task are awaited, so they end before the chain")
    func strayTask() async throws {
        let gate = Gate()
        let shop = Shop { id in if id == 1 { try await gate.wait() } }
        try await shop.agent.run(
            Chain("careless") { steps in
                Task { _ = try await steps.send(Get(1)) }
                try await gate.reached()
                Task { gate.open() }
            })
        #expect(shop.recording.outcomes == ["success"])
        #expect(shop.recording.records().last?.kind == .chain)
        #expect(shop.recording.problems() == [])
    }

    @Test("the completion runs on the caller's queue, after the delegate")
    func queue() async throws {
        let key = DispatchSpecificKey<Int>()
        let queue = DispatchQueue(label: "chain")
        queue.setSpecific(key: key, value: 7)
        let log = Log<String>()
        let delegate = Delegate(log)
        let handle = Shop().agent.start(running: Chain("queue", Get(1)), delegate: delegate, on: queue) { result in
            log.add("\((try? result.get().value) ?? "?") on \(DispatchQueue.getSpecific(key: key) ?? 0)")
        }
        _ = try await handle.value
        #expect(log.all == ["step 0 Get 1 200", "delegate succeeded", "1 on 7"])
    }

    @Test("the delegate receives a composite step with its output, and its parts aren't steps")
    func compositeStep() async throws {
        let log = Log<String>()
        let delegate = Delegate(log)
        let chain = Chain("composite") { steps in
            _ = try await steps.run(Batch(of: [1, 2], label: "both") { _, number in number })
            return try await steps.run(Chain("inner", Get(3))).value
        }
        let handle = Shop().agent.start(running: chain, delegate: delegate)
        #expect(try await handle.value == "3")
        #expect(log.all.count == 3)
        #expect(log.all.first == "step 0 both [1, 2] 0")
        #expect(log.all.dropFirst().first?.hasPrefix("step 1 inner ") == true)
    }
}
