import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandBatch

@Suite(.endsInTime, .leakChecked)
struct BatchLimitTests {
    @Test("at most the limit runs at a time, and the limit is reached", arguments: [1, 3, 6, 17])
    func limit(_ limit: Int) async throws {
        let (crowd, gate) = (Crowd(), Gate())
        let shop = Shop { _ in
            crowd.enter()
            defer { crowd.leave() }
            // The first parts wait for each other, so the limit is certainly reached.
            if crowd.total >= limit { gate.open() }
            try await gate.wait()
            await Task.yield()
        }
        let users = try await shop.agent.run(Batch((0..<60).map(GetUser.init), maximumConcurrent: limit))
        #expect(users.count == 60)
        #expect(crowd.most == limit)
    }

    @Test("an invalid limit counts as one")
    func odd() async throws {
        let crowd = Crowd()
        let shop = Shop { _ in
            crowd.enter()
            defer { crowd.leave() }
            await Task.yield()
        }
        for limit in [0, -1, .min] {
            #expect(try await shop.agent.run(Batch((0..<5).map(GetUser.init), maximumConcurrent: limit)).count == 5)
        }
        #expect(crowd.most == 1)
        #expect(try await shop.agent.run(Batch((0..<5).map(GetUser.init), maximumConcurrent: .max)).count == 5)
        #expect(Batch([GetUser(id: 1)]).maximumConcurrent == BatchLimit.standard)
    }

    @Test("ten thousand parts hold no more than the limit in flight, on the network's agent and on a fake")
    func tenThousand() async throws {
        struct Watch: Accessory {
            let crowd: Crowd
            func activity(_ activity: Activity, did event: ActivityEvent) {
                guard activity.kind == .request else { return }
                switch event {
                case .willStart: crowd.enter()
                case .didStop: crowd.leave()
                default: break
                }
            }
        }
        let (network, fake) = (Crowd(), Crowd())
        let stub = StubTransport(maximumRecordedRequests: 0) { request in
            await Task.yield()
            return .json(#"{"id":\#(request.userID ?? -1)}"#)
        }
        let agent = NetworkAgent(
            baseURL: "https://shop.example", transport: stub, accessories: [Watch(crowd: network)])
        let batch = Batch((0..<10_000).map(GetUser.init), maximumConcurrent: 8)
        #expect(try await agent.run(batch).map(\.value.id) == Array(0..<10_000))
        #expect(network.total == 10_000)
        #expect(network.most <= 8)
        let own = FakeAgent { request, _ in
            fake.enter()
            defer { fake.leave() }
            await Task.yield()
            return User(id: (request as? GetUser)?.id ?? -1)
        }
        #expect(try await own.run(batch).map(\.value.id) == Array(0..<10_000))
        #expect(fake.total == 10_000)
        #expect(fake.most <= 8)
    }

    @Test("a batch's memory for running parts doesn't grow with their number")
    func memory() {
        var sum = ProgressSum(count: 10_000, needsOne: false)
        var ledger = BatchLedger(.firstSuccess, count: 10_000)
        var running: [Int] = []
        while let index = ledger.take() {
            running.append(index)
            sum.begin(index)
            #expect(sum.runningCount <= 8)
            if running.count == 8 {
                let oldest = running.removeFirst()
                sum.end(oldest, isSuccess: false)
                let counts = ledger.end(oldest, failure: Refused(), name: ("\(oldest)", nil))
                #expect(counts)
            }
        }
        for index in running { _ = ledger.end(index, failure: Refused(), name: ("\(index)", nil)) }
        let error = #expect(throws: BatchError.self) { try ledger.check() }
        #expect(error?.failures.count == BatchError.maximumKeptFailures)
        #expect(error?.failureCount == 10_000)
    }
}
