import Errand
import ErrandBatch
import ErrandTesting
import Testing

@Suite(.endsInTime, .leakChecked)
struct BatchResultsTests {
    @Test("results arrive as they finish, each with its index")
    func order() async throws {
        let gates = (0..<3).map { _ in Gate() }
        let shop = Shop { id in try await gates[id].wait() }
        var results = shop.agent.results(of: Batch((0..<3).map(GetUser.init), policy: .collectAll)).makeAsyncIterator()
        for id in [2, 0, 1] {
            gates[id].open()
            let next = try #require(try await results.next())
            #expect(next.index == id)
            #expect(try next.result.get().value.id == id)
        }
        #expect(try await results.next() == nil)
        #expect(try await results.next() == nil)
        #expect(shop.recording.names(.batch) == ["willStart", "willStop", "didStop"])
        #expect(shop.recording.problems() == [])
    }

    @Test("with fail-fast, the loop gets the successes before the first failure is thrown")
    func failFast() async throws {
        let shop = Shop { id in if id == 3 { throw ErrandError(.connectionLost, "gone") } }
        var seen: [Int] = []
        let error = await #expect(throws: BatchError.self) {
            for try await (index, result) in shop.agent.results(
                of: Batch((0..<9).map(GetUser.init), maximumConcurrent: 1))
            {
                #expect(try result.get().value.id == index)
                seen.append(index)
            }
        }
        #expect(seen == [0, 1, 2])
        #expect(error?.index == 3)
        #expect(shop.recording.outcomes.count == 4)
    }

    @Test("with first-success, the loop ends after the first success")
    func firstSuccess() async throws {
        let shop = Shop { id in if id < 2 { throw ErrandError(.connectionLost, "gone") } }
        var seen: [Int] = []
        let batch = Batch((0..<9).map(GetUser.init), maximumConcurrent: 1, policy: .firstSuccess)
        for try await (index, _) in shop.agent.results(of: batch) { seen.append(index) }
        #expect(seen == [0, 1, 2])
        await #expect(throws: BatchError.self) {
            for try await _ in shop.agent.results(of: Batch([0, 1].map(GetUser.init), policy: .firstSuccess)) {}
        }
    }

    @Test("an empty batch is an empty loop")
    func empty() async throws {
        for try await _ in Shop().agent.results(of: Batch([GetUser]())) { Issue.record("no part, but a result") }
    }

    @Test("parts of several types come with erased values")
    func mixed() async throws {
        var values: [Int: any Sendable] = [:]
        for try await (index, result) in Shop().agent.results(of: Batch(GetUser(id: 4), GetFeed())) {
            values[index] = try result.get().value
        }
        #expect(values[0] as? User == User(id: 4))
        #expect(values[1] as? [String] == ["news"])
    }

    @Test("a reader that pauses makes the batch pause: at most twice the limit have started")
    func backpressure() async throws {
        let crowd = Crowd()
        let shop = Shop { _ in crowd.enter() }
        let batch = Batch((0..<200).map(GetUser.init), maximumConcurrent: 4, policy: .collectAll)
        var results = shop.agent.results(of: batch).makeAsyncIterator()
        var count = 0
        while let _ = try await results.next() {
            count += 1
            // Read results, unread results, running parts, and for each worker one result it is about to deliver.
            #expect(crowd.total <= count + 3 * 4)
        }
        #expect(count == 200)
        #expect(shop.recording.problems() == [])
    }

    @Test("leaving the loop cancels the batch")
    func leaving() async throws {
        let gate = Gate()
        let shop = Shop { id in if id > 0 { try await gate.wait() } }
        for try await (index, _) in shop.agent.results(of: Batch((0..<50).map(GetUser.init), maximumConcurrent: 3)) {
            #expect(index == 0)
            break
        }
        try await shop.recording.waitUntilQuiet()
        #expect(shop.recording.outcomes.count { $0 == "success" } == 1)
        #expect(shop.recording.outcomes.count <= 4)
        #expect(shop.recording.problems() == [])
    }

    @Test("cancelling the task that iterates cancels the batch")
    func cancelling() async throws {
        let gate = Gate()
        let shop = Shop { _ in try await gate.wait() }
        let task = Task {
            for try await _ in shop.agent.results(of: Batch((0..<50).map(GetUser.init), maximumConcurrent: 3)) {}
        }
        try await gate.reached(by: 3)
        task.cancel()
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.isCancelled == true)
        try await shop.recording.waitUntilQuiet()
        #expect(shop.recording.outcomes == ["cancelled", "cancelled", "cancelled"])
    }

    @Test("each iteration sends the requests again")
    func twice() async throws {
        let shop = Shop()
        let results = shop.agent.results(of: Batch([1, 2].map(GetUser.init)))
        for _ in 1...2 {
            var count = 0
            for try await _ in results { count += 1 }
            #expect(count == 2)
        }
        #expect(shop.recording.names(.batch).count == 6)
    }

    @Test("the handle of an iteration shows the batch as it runs")
    func handle() async throws {
        let iterator = Shop().agent.results(of: Batch([1].map(GetUser.init))).makeAsyncIterator()
        #expect(iterator.handle.activity.kind == .batch)
        try await iterator.handle.value
        #expect(iterator.handle.progress.fraction == 1)
    }
}
