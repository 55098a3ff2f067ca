import Dispatch
import Errand
import ErrandBatch
import ErrandTesting
import Testing

@Suite(.endsInTime, .leakChecked)
struct BatchEndTests {
    @MainActor private final class Delegate: BatchDelegate {
        let log: Log<String>
        nonisolated init(_ log: Log<String>) { self.log = log }

        func batchDidSucceed(_ activity: Activity, output: any Sendable, cached: CacheShare) {
            log.add("delegate \((output as? [Response<User>])?.count ?? -1) \(cached)")
        }
        func batchDidFail(_ activity: Activity, error: any Error) {
            log.add("delegate failed \((error as? BatchError)?.index ?? -1)")
        }
        func batchDidCancel(_ activity: Activity) { log.add("delegate cancelled") }
    }

    private struct Events: Accessory {
        let log: Log<String>
        func activity(_ activity: Activity, did event: ActivityEvent) {
            switch event {
            case .willStart: log.add("will start")
            case .willStop: log.add("will stop")
            case .didStop: log.add("did stop")
            default: break
            }
        }
    }

    private func run(_ shop: Shop, _ log: Log<String>, then act: (RequestHandle<[Response<User>]>) async throws -> Void)
        async throws
    {
        let delegate = Delegate(log)
        let handle = shop.agent.start(
            running: Batch((0..<3).map(GetUser.init)), delegate: delegate,
            options: CallOptions(accessories: [Events(log: log)])
        ) { result in
            switch result {
            case .success(let users): log.add("completion \(users.count)")
            case .failure(let error as ErrandError) where error.isCancelled: log.add("completion cancelled")
            case .failure(let error): log.add("completion failed \((error as? BatchError)?.index ?? -1)")
            }
        }
        log.add("returned")
        try await act(handle)
        _ = await handle.result
        withExtendedLifetime(delegate) {}
    }

    @Test("a success notifies will-stop, delegate, completion and did-stop, and releases the batch")
    func success() async throws {
        let (shop, log) = (Shop(), Log<String>())
        try await run(shop, log) { _ in }
        let expected = ["will stop", "delegate 3 nothing", "completion 3", "did stop"]
        #expect(log.all.filter { $0 != "returned" } == ["will start"] + expected)
        #expect(log.all.first == "will start")
        #expect(shop.agent.activities.isEmpty)
    }

    @Test("the first failure cancels the rest, its error names the request, and each request ends once")
    func failure() async throws {
        let (gate, log) = (Gate(), Log<String>())
        let shop = Shop { id in
            if id == 1 {
                try await gate.reached(by: 2)
                throw ErrandError(.connectionLost, "gone")
            }
            try await gate.wait()
        }
        try await run(shop, log) { handle in
            let error = await #expect(throws: BatchError.self) { try await handle.value }
            #expect(error?.code == .partFailed)
            #expect((error?.request as? GetUser)?.id == 1)
            #expect(error?.label == "GetUser")
            #expect((error?.underlying as? ErrandError)?.code == .connectionLost)
            #expect(error?.isRetryable == true)
            #expect(error?.isCancelled == false)
        }
        let expected = ["will start", "will stop", "delegate failed 1", "completion failed 1", "did stop"]
        #expect(log.all.filter { $0 != "returned" } == expected)
        #expect(shop.recording.outcomes.sorted() == ["cancelled", "cancelled", "failure"])
        #expect(shop.recording.problems() == [])
    }

    @Test(
        "a stop is a cancellation that accessories, delegate and completion receive once",
        arguments: ["handle", "agent", "activity"])
    func stop(by whom: String) async throws {
        let (gate, log) = (Gate(), Log<String>())
        let shop = Shop { _ in try await gate.wait() }
        try await run(shop, log) { handle in
            try await gate.reached(by: 3)
            switch whom {
            case "handle": handle.cancel()
            case "agent": shop.agent.cancelAll { $0.kind == .batch }
            default: handle.activity.cancel()
            }
            let error = await #expect(throws: ErrandError.self) { try await handle.value }
            #expect(error?.isCancelled == true)
        }
        let expected = ["will start", "will stop", "delegate cancelled", "completion cancelled", "did stop"]
        #expect(log.all.filter { $0 != "returned" } == expected)
        #expect(shop.recording.outcomes == ["cancelled", "cancelled", "cancelled"])
        #expect(shop.agent.activities.isEmpty)
        #expect(shop.recording.problems() == [])
    }

    @Test("cancelAll ends a batch and its parts, with callbacks, and releases everything")
    func cancelAll() async throws {
        let (gate, log) = (Gate(), Log<String>())
        let shop = Shop { _ in try await gate.wait() }
        weak var kept: Activity?
        try await run(shop, log) { handle in
            kept = handle.activity
            try await gate.reached(by: 3)
            #expect(shop.agent.cancelAll() > 0)
        }
        #expect(log.all.contains("completion cancelled"))
        #expect(shop.agent.activities.isEmpty)
        #expect(kept == nil)
    }

    @Test("cancelling the task that awaits a batch cancels all of it")
    func task() async throws {
        let gate = Gate()
        let shop = Shop { _ in try await gate.wait() }
        let task = Task { try await shop.agent.run(Batch(GetUser(id: 1), GetUser(id: 2), GetFeed())) }
        try await gate.reached(by: 2)
        task.cancel()
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.isCancelled == true)
        #expect(shop.agent.activities.isEmpty)
        #expect(shop.recording.problems() == [])
    }

    @Test("a batch that is cancelled in will-start doesn't send a request")
    func willStart() async throws {
        struct Canceller: Accessory {
            func activity(_ activity: Activity, did event: ActivityEvent) {
                if case .willStart = event { activity.cancel() }
            }
        }
        let shop = Shop()
        let options = CallOptions(accessories: [Canceller()])
        await #expect(throws: ErrandError.self) {
            try await shop.agent.run(Batch([1, 2].map(GetUser.init)), options: options)
        }
        #expect(shop.recording.outcomes == [])
        #expect(shop.recording.names(.batch) == ["willStart", "willStop", "didStop"])
    }

    @Test("a part that is cancelled by itself cancels a batch that needs it, and the error names the part")
    func part() async throws {
        let gate = Gate()
        let shop = Shop { _ in try await gate.wait() }
        let handle = shop.agent.start(running: Batch((0..<3).map(GetUser.init)))
        try await gate.reached(by: 3)
        shop.agent.cancelAll { ($0.request as? GetUser)?.id == 2 }
        let error = await #expect(throws: ErrandError.self) { try await handle.value }
        #expect(error?.isCancelled == true)
        #expect((error?.underlying as? BatchError)?.index == 2)
        #expect((error?.underlying as? BatchError)?.isCancelled == true)
        guard case .cancelled = handle.outcome else {
            return #expect(Bool(false), "\(String(describing: handle.outcome))")
        }
    }

    @Test("the completion runs on the caller's queue")
    func queue() async throws {
        let key = DispatchSpecificKey<Int>()
        let queue = DispatchQueue(label: "batch")
        queue.setSpecific(key: key, value: 7)
        let log = Log<String>()
        let delegate = Delegate(log)
        let handle = Shop().agent.start(running: Batch([GetUser(id: 1)]), delegate: delegate, on: queue) { result in
            log.add("\((try? result.get().count) ?? -1) on \(DispatchQueue.getSpecific(key: key) ?? 0)")
        }
        _ = try await handle.value
        #expect(log.all == ["delegate 1 nothing", "1 on 7"])
    }

    @Test("a delegate is not kept alive")
    func weakDelegate() async throws {
        let (gate, log) = (Gate(), Log<String>())
        let shop = Shop { _ in try await gate.wait() }
        let handle = shop.agent.start(running: Batch([GetUser(id: 1)]), delegate: Delegate(log))
        gate.open()
        _ = try await handle.value
        #expect(log.all == [])
    }
}
