import Errand
import ErrandBatch
import ErrandTesting
import Synchronization
import Testing

/// Batches of fifty parts with failures and cancellations at every point, from fixed seeds.
@Suite(.endsInTime, .leakChecked)
struct BatchScheduleTests {
    private struct GetName: Request {
        typealias Output = String
        var id: Int
        var path: String { "/users/\(id)" }
        var label: String? { "name" }
    }

    private enum Fate: CaseIterable { case succeeds, fails, cancelsItself }
    private enum Policy: CaseIterable { case failFast, collectAll, firstSuccess, stream }

    private struct Plan: Sendable {
        let policy: Policy
        let limit: Int
        let fates: [Fate]
        let yields: [Int]
        /// The event, of any activity, at which the batch is cancelled.
        let cancelAt: Int?

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            policy = Policy.allCases.randomElement(using: &random) ?? .failFast
            limit = Int.random(in: 1...12, using: &random)
            let failures = [0, 0, 2, 20, 100].randomElement(using: &random) ?? 0
            fates = (0..<50).map { _ in
                guard Int.random(in: 0..<100, using: &random) < failures else { return .succeeds }
                return Int.random(in: 0..<4, using: &random) == 0 ? .cancelsItself : .fails
            }
            yields = (0..<50).map { _ in Int.random(in: 0...3, using: &random) }
            cancelAt = Bool.random(using: &random) ? Int.random(in: 0..<320, using: &random) : nil
        }
    }

    /// Cancels the batch from within the handling of an event.
    private final class Saboteur: Accessory {
        private let state: Mutex<(left: Int?, batch: Activity?)>
        init(_ event: Int?) { state = Mutex((event, nil)) }

        func activity(_ activity: Activity, did event: ActivityEvent) {
            let batch = state.withLock { state -> Activity? in
                if activity.kind == .batch { state.batch = activity }
                guard let left = state.left else { return nil }
                state.left = left == 0 ? nil : left - 1
                return left == 0 ? state.batch : nil
            }
            batch?.cancel()
        }
    }

    @Test(
        "a failure or cancellation at any point ends the batch and each part once, without later events",
        arguments: 0..<8)
    func schedules(_ share: UInt64) async throws {
        for seed in (share * 125)..<((share + 1) * 125) { try await carryOut(Plan(seed: seed), seed) }
    }

    private func carryOut(_ plan: Plan, _ seed: UInt64) async throws {
        let (crowd, audit) = (Crowd(), BatchAudit())
        let stub = StubTransport(maximumRecordedRequests: 0) { request in
            crowd.enter()
            defer { crowd.leave() }
            let id = request.userID ?? 0
            for _ in 0..<plan.yields[id] { await Task.yield() }
            try Task.checkCancellation()
            switch plan.fates[id] {
            case .succeeds: return .text("\(id)")
            case .fails: return .status(500)
            case .cancelsItself: throw CancellationError()
            }
        }
        let agent = NetworkAgent(
            baseURL: "https://shop.example", transport: stub, accessories: [audit, Saboteur(plan.cancelAt)])
        let error = await send(plan, on: agent)
        let when = "seed \(seed): \(plan.policy), limit \(plan.limit)"
        let (outcome, started) = (audit.outcome, audit.started)

        #expect(audit.isOver && audit.problems == [], "\(when)")
        #expect(agent.activities.isEmpty, "\(when)")
        #expect(crowd.most <= plan.limit && crowd.now == 0, "\(when)")
        switch try #require(outcome) {
        case .success:
            #expect(error == nil, "\(when)")
            if plan.policy != .firstSuccess { #expect(started == 50, "\(when)") }
        case .failure:
            let error = try #require(error as? BatchError)
            #expect(plan.policy != .collectAll, "\(when)")
            #expect(error.failures.contains { plan.fates[$0.index] == .fails }, "\(when)")
            if error.code == .noneSucceeded { #expect(error.failureCount == 50 && started == 50, "\(when)") }
        case .cancelled(let cause):
            #expect((error as? ErrandError)?.isCancelled == true, "\(when)")
            #expect(cause != .within || plan.fates.contains(.cancelsItself), "\(when)")
            #expect(cause == .within || plan.cancelAt != nil, "\(when)")
        }
        if plan.cancelAt == nil, plan.fates.allSatisfy({ $0 == .succeeds }) { #expect(error == nil, "\(when)") }
    }

    private func send(_ plan: Plan, on agent: NetworkAgent) async -> (any Error)? {
        let requests = (0..<50).map(GetName.init)
        do {
            switch plan.policy {
            case .failFast:
                let users = try await agent.run(Batch(requests, maximumConcurrent: plan.limit))
                #expect(users.map(\.value) == (0..<50).map(String.init))
            case .collectAll:
                let results = try await agent.run(Batch(requests, maximumConcurrent: plan.limit, policy: .collectAll))
                #expect(results.map { (try? $0.get()) != nil } == plan.fates.map { $0 == .succeeds })
            case .firstSuccess:
                let winner = try await agent.run(Batch(requests, maximumConcurrent: plan.limit, policy: .firstSuccess))
                #expect(plan.fates[winner.index] == .succeeds && winner.response.value == "\(winner.index)")
            case .stream:
                var seen: Set<Int> = []
                for try await (index, result) in agent.results(of: Batch(requests, maximumConcurrent: plan.limit)) {
                    #expect(seen.insert(index).inserted && (try? result.get().value) == "\(index)")
                }
                #expect(seen.count == 50)
            }
            return nil
        } catch { return error }
    }
}
