import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("The manual time source", .endsInTime, .leakChecked)
struct ManualTimeSourceTests {
    @Test("time stands still until it is advanced, and the date moves with it")
    func stands() {
        let time = ManualTimeSource(date: Date(timeIntervalSince1970: 100))
        let start = time.now
        #expect(time.now == start)
        time.advance(by: .milliseconds(1500))
        #expect(start.duration(to: time.now) == .milliseconds(1500))
        #expect(time.date == Date(timeIntervalSince1970: 101.5))
        time.advance(by: .seconds(-5))
        time.advance(to: start)
        #expect(start.duration(to: time.now) == .milliseconds(1500))
        time.advance(by: .seconds(Int64.max))
        #expect(start.duration(to: time.now) > .seconds(86_400 * 365 * 99))
    }

    @Test("the date can jump in both directions without affecting the time")
    func jumps() {
        let time = ManualTimeSource()
        let start = time.now
        time.date = Date(timeIntervalSince1970: -5)
        #expect(time.date == Date(timeIntervalSince1970: -5) && time.now == start)
        time.advance(by: .seconds(10))
        #expect(time.date == Date(timeIntervalSince1970: 5))
    }

    @Test("only sleepers that are due wake")
    func due() async throws {
        let time = ManualTimeSource()
        let start = time.now
        let woken = Order()
        let tasks = [30, 10, 20].map { seconds in
            Task {
                try await time.sleep(until: start.advanced(by: .seconds(seconds)))
                woken.values.withLock { $0.append(seconds) }
            }
        }
        try await time.waitForSleepers(atLeast: 3)
        #expect(time.nextWake == start.advanced(by: .seconds(10)) && time.sleeperCount == 3)
        time.advance(by: .seconds(9))
        #expect(time.sleeperCount == 3)
        for (index, seconds) in [(1, 10), (2, 20), (0, 30)] {
            time.advance(to: start.advanced(by: .seconds(seconds)))
            try await tasks[index].value
            #expect(woken.values.withLock { $0.last } == seconds)
        }
        #expect(woken.values.withLock { $0 } == [10, 20, 30] && time.nextWake == nil)
    }

    @Test("advancing the clock wakes all due sleepers, earliest first")
    @MainActor func order() async throws {
        let time = ManualTimeSource()
        let start = time.now
        let woken = Order()
        var tasks: [Task<Void, any Error>] = []
        for (index, seconds) in [30, 10, 20, 10].enumerated() {
            tasks.append(
                Task { @MainActor in
                    try await time.sleep(until: start.advanced(by: .seconds(seconds)))
                    woken.values.withLock { $0.append(index) }
                })
            try await time.waitForSleepers(atLeast: index + 1)
        }
        time.advance(by: .seconds(60))
        for task in tasks { try await task.value }
        // All tasks run on the main actor, which resumes them in the order in which they were woken.
        #expect(woken.values.withLock { $0 } == [1, 3, 2, 0])
    }

    @Test("a sleep until a past instant returns at once, and a cancelled sleep throws at once")
    func cancelled() async throws {
        let time = ManualTimeSource()
        try await time.sleep(until: time.now)
        let task = Task { try await time.sleep(until: time.now.advanced(by: .seconds(1))) }
        try await time.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(time.sleeperCount == 0)
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            try await time.sleep(until: time.now.advanced(by: .seconds(1)))
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test("a deadline passes when the test advances the clock, and not before")
    func deadline() async throws {
        let time = ManualTimeSource()
        let gate = Gate()
        let agent = NetworkAgent(
            baseURL: "https://example.com", transport: .stub(.text("late").waiting(for: gate)), time: time)
        let task = Task { try await agent.send(Get(deadline: .seconds(5))) }
        try await gate.reached()
        try await time.waitForSleepers(atLeast: 2)
        time.advance(by: .milliseconds(4999))
        #expect(time.sleeperCount == 2)
        time.advance(by: .milliseconds(1))
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.code == .deadlineExceeded)
    }
}

private final class Order: Sendable {
    let values = Mutex<[Int]>([])
}

struct Get: Request {
    typealias Output = String
    var path = "users/7"
    var deadline: Duration?
    var timeout: Duration?
    var headers: HTTPHeaders = [:]
    var delivery = BodyDelivery.data
    var query: Parameters = [:]
}
