import Errand
import ErrandBatch
import ErrandTesting
import Testing

@Suite(.endsInTime, .leakChecked)
struct BatchPolicyTests {
    private static func failing(_ ids: Set<Int>) -> Shop {
        Shop { id in if ids.contains(id) { throw ErrandError(.cannotConnect, "no \(id)") } }
    }

    @Test("collect-all runs every request and keeps the results in their order")
    func collectAll() async throws {
        let shop = Self.failing([1, 3])
        let results = try await shop.agent.run(
            Batch((0..<5).map(GetUser.init), maximumConcurrent: 2, policy: .collectAll))
        #expect(results.map { try? $0.get().value.id } == [0, nil, 2, nil, 4])
        guard case .failure(let error as ErrandError) = results[3] else { return #expect(Bool(false)) }
        #expect(error.message == "no 3")
        #expect(shop.recording.outcomes.filter { $0 == "failure" }.count == 2)
        #expect(shop.recording.problems() == [])
    }

    @Test("a batch's error names the case of an error without its own description")
    func plainError() async throws {
        enum APIError: Error { case soldOut(code: Int, text: String) }
        let shop = Shop { _ in throw APIError.soldOut(code: 7, text: "canary") }
        let error = await #expect(throws: BatchError.self) { try await shop.agent.run(Batch([GetUser(id: 1)])) }
        #expect(
            error?.description.hasSuffix("part 0 (GetUser): APIError.soldOut(code: 7, …)") == true,
            "\(error?.description ?? "")")
    }

    @Test("collect-all with different types returns a tuple of results")
    func collectTuple() async throws {
        let (user, feed) = try await Self.failing([1]).agent.run(
            Batch(GetUser(id: 1), GetFeed(), policy: .collectAll))
        #expect(throws: ErrandError.self) { try user.get() }
        #expect(try feed.get().value == ["news"])
        let list = try await Self.failing([1]).agent.run(
            Batch(mixed: [GetUser(id: 1), GetFeed()], policy: .collectAll))
        #expect(list.map { (try? $0.get()) != nil } == [false, true])
    }

    @Test("first success returns the first that succeeds and cancels the rest")
    func firstSuccess() async throws {
        let (gate, failed) = (Gate(), Gate())
        let shop = Shop { id in
            switch id {
            case 0: throw ErrandError(.cannotConnect, "down")
            case 1: try await gate.wait()
            default:
                try await gate.reached()
                try await failed.wait()
            }
        }
        let watching = Task {
            try await shop.recording.wait(for: "didStop")
            failed.open()
        }
        let (index, response) = try await shop.agent.run(Batch((0..<3).map(GetUser.init), policy: .firstSuccess))
        #expect(index == 2)
        #expect(response.value.id == 2)
        #expect(shop.recording.outcomes.sorted() == ["cancelled", "failure", "success"])
        try await watching.value
        let mixed = try await Self.failing([1]).agent.run(Batch(GetUser(id: 1), GetFeed(), policy: .firstSuccess))
        #expect(mixed.index == 1)
        #expect(mixed.response.value as? [String] == ["news"])
    }

    @Test("first success with a limit of one sends the next request only after the previous request failed")
    func fallback() async throws {
        let shop = Self.failing([0, 1])
        let batch = Batch((0..<9).map(GetUser.init), maximumConcurrent: 1, policy: .firstSuccess)
        #expect(try await shop.agent.run(batch).index == 2)
        #expect(shop.recording.outcomes == ["failure", "failure", "success"])
    }

    @Test("if no part succeeds, the error contains all failures, up to a hundred")
    func noneSucceeded() async throws {
        let shop = Self.failing(Set(0..<250))
        for count in [3, 250] {
            let batch = Batch((0..<count).map(GetUser.init), policy: .firstSuccess)
            let error = await #expect(throws: BatchError.self) { try await shop.agent.run(batch) }
            #expect(error?.code == .noneSucceeded)
            #expect(error?.failureCount == count)
            #expect(error?.failures.count == min(count, 100))
            #expect(error?.isRetryable == true)
            for failure in error?.failures ?? [] {
                #expect((failure.error as? ErrandError)?.message == "no \(failure.index)")
            }
        }
    }

    @Test("first success of an empty batch throws noneSucceeded")
    func emptyRace() async throws {
        let error = await #expect(throws: BatchError.self) {
            try await Shop().agent.run(Batch([GetUser](), policy: .firstSuccess))
        }
        #expect(error?.failureCount == 0)
        #expect(error?.index == nil)
        #expect(error?.description == "noneSucceeded: the batch is empty")
    }

    @Test("parts that aren't single requests send with the batch as their parent")
    func items() async throws {
        let shop = Shop()
        let batch = Batch(of: [[1, 2], [], [3]], maximumConcurrent: 2) { agent, ids in
            try await agent.run(Batch(ids.map(GetUser.init))).map(\.value.id).reduce(0, +)
        }
        #expect(try await shop.agent.run(batch, options: CallOptions(label: "whole")) == [3, 0, 3])
        let records = shop.recording.records()
        let whole = try #require(records.first { $0.label == "whole" }?.activity)
        let inner = Set(records.filter { $0.parent == whole }.map(\.activity))
        #expect(inner.count == 3)
        #expect(records.filter { $0.kind == .request }.allSatisfy { $0.parent.map(inner.contains) == true })
        #expect(shop.recording.problems() == [])
    }

    @Test("a part's agent can't send after the batch has ended")
    func lateMember() async throws {
        let shop = Shop()
        let agents = try await shop.agent.run(Batch(of: [1]) { agent, _ in agent })
        let error = await #expect(throws: ErrandError.self) { try await agents[0].send(GetUser(id: 1)) }
        #expect(error?.code == .activityEnded)
        let handle = agents[0].start(GetUser(id: 1), options: CallOptions(), completion: nil)
        await #expect(throws: ErrandError.self) { try await handle.value }
        await #expect(throws: ErrandError.self) { try await agents[0].run(Batch(GetUser(id: 1))) }
        #expect(shop.recording.records().filter { $0.name == "sending" }.isEmpty)
    }

    @Test("a request that a part starts without awaiting it is cancelled when the batch ends")
    func startedWithin() async throws {
        let gate = Gate()
        let shop = Shop { id in if id == 7 { try await gate.wait() } }
        let batch = Batch(of: [1, 2]) { agent, id in
            agent.start(GetUser(id: 7), options: CallOptions(), completion: nil)
            return try await agent.send(GetUser(id: id)).value.id
        }
        #expect(try await shop.agent.run(batch) == [1, 2])
        #expect(shop.recording.outcomes.sorted() == ["cancelled", "cancelled", "success", "success"])
        #expect(shop.agent.activities.allSatisfy { $0.kind != .request })
        #expect(shop.recording.problems() == [])
    }

    @Test("the description of a failure shows its cause's description, and no stored value of the cause")
    func description() async throws {
        let agent = FakeAgent { _, _ in throw Refused() }
        let error = await #expect(throws: BatchError.self) { try await agent.run(Batch(GetUser(id: 1), GetFeed())) }
        #expect(error.map { "\($0)" }?.hasPrefix("partFailed: part ") == true)
        #expect(error.map { "\($0)" }?.hasSuffix("): Refused") == true)
        #expect(error.map { String(reflecting: $0) }?.contains("hunter2") == false)
        let named = await #expect(throws: BatchError.self) {
            try await Self.failing([7]).agent.run(Batch(GetUser(id: 7)))
        }
        #expect(named.map { "\($0)" }?.hasPrefix("partFailed: part 0 (GetUser): cannotConnect: ") == true)
    }
}
