import Errand
import ErrandCoalescing
import ErrandEssentials
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Compares requests that join, are cancelled, fail or exceed their deadlines with a model, in seeded orders.
/// `ERRAND_SCHEDULES` sets how many.
@Suite("Orders of events", .leakChecked, .endsInTime) struct ScheduleTests {
    private static let count = ProcessInfo.processInfo.environment["ERRAND_SCHEDULES"].flatMap { Int($0) } ?? 600

    @Test(
        "Every request gets its own user's bytes, equal requests run one exchange at a time, and no state remains")
    func orders() async throws {
        for seed in 0..<Self.count {
            let faults = try await Schedule(seed: seed).run()
            #expect(faults.isEmpty, "seed \(seed): \(faults.joined(separator: "; "))")
            if !faults.isEmpty { return }
        }
    }
}

private struct Seen {
    let key: String
    let start: Int
    var end: Int?
    var wasCancelled = false
    var failed = false
    /// When the first request received the result. No request joins after that.
    var delivered: Int?
}

private final class Schedule: Sendable {
    private struct State {
        var clock = 0
        var exchanges: [Seen] = []
        var faults: [String] = []

        mutating func tick() -> Int {
            clock += 1
            return clock
        }
    }

    private let random: SharedGenerator
    private let state = Mutex(State())
    private let time = ManualTimeSource()

    init(seed: Int) { random = SharedGenerator(seed: seed) }

    private func chance(_ percent: Int) -> Bool { random.below(100) < percent }
    private func pause() async { for _ in 0..<random.below(8) { await Task.yield() } }
    private func fault(_ text: String) { state.withLock { $0.faults.append(text) } }

    private func respond(to request: HTTPRequest) async throws -> StubResponse {
        let key = "\(request.url.path) \(request.headers[.authorization] ?? "none")"
        let number = state.withLock { state in
            state.exchanges.append(Seen(key: key, start: state.tick()))
            return state.exchanges.count - 1
        }
        await withTaskCancellationHandler {
            await pause()
        } onCancel: {
            state.withLock { $0.exchanges[number].wasCancelled = true }
        }
        let fails = chance(20)
        state.withLock { state in
            state.exchanges[number].end = state.tick()
            state.exchanges[number].failed = fails
        }
        try Task.checkCancellation()
        return fails ? .failure(ErrandError(.connectionLost, "\(number)")) : .text("\(number) \(key)")
    }

    func run() async throws -> [String] {
        let transport = StubTransport(maximumRecordedRequests: 0) { [self] in try await respond(to: $0) }
        let filter = random.below(2) == 0 ? CoalescingFilter() : CoalescingFilter(in: .call)
        let agent = NetworkAgent(transport, time: time, filter)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<(4 + random.below(8)) { group.addTask { [self] in await request(agent) } }
            if chance(40) {
                group.addTask { [self] in
                    for _ in 0..<4 {
                        await pause()
                        time.advance(by: .seconds(1))
                    }
                }
            }
        }
        for path in ["a", "b"] {
            let before = state.withLock { $0.exchanges.count }
            do { _ = try await agent.text(path) } catch let error as ErrandError where error.code == .connectionLost {}
            if state.withLock({ $0.exchanges.count }) != before + 1 { fault("something is left of \(path)") }
        }
        findDoubles()
        return state.withLock { $0.faults }
    }

    /// Checks that no second exchange with the same key begins while one runs that delivers to a request. An exchange
    /// that every request has left may still be unwinding.
    private func findDoubles() {
        let exchanges = state.withLock { $0.exchanges }
        for (index, first) in exchanges.enumerated() where first.delivered != nil {
            for second in exchanges[(index + 1)...] where second.key == first.key && second.start < first.end ?? .max {
                fault("two exchanges for \(first.key)")
            }
        }
    }

    private func request(_ agent: NetworkAgent) async {
        await pause()
        let (path, user) = (["a", "b"][random.below(2)], ["none", "Basic 1", "Basic 2"][random.below(3)])
        let hasDeadline = chance(20)
        let call = Call<String>(.get, path) {
            if user != "none" { $0.headers[.authorization] = user }
            if hasDeadline { $0.deadline = .seconds(2) }
            $0.timeout = .seconds(600)
        }
        let begin = state.withLock { $0.tick() }
        let handle = agent.start(call)
        let isCancelled = chance(25)
        if isCancelled {
            await pause()
            handle.cancel()
        }
        let result = await handle.result.map(\.value)
        let end = state.withLock { $0.tick() }
        judge(result, "/\(path) \(user)", begin, end, mayBeCancelled: isCancelled, mayTimeOut: hasDeadline)
    }

    private func judge(
        _ result: Result<String, any Error>, _ key: String, _ begin: Int, _ end: Int, mayBeCancelled: Bool,
        mayTimeOut: Bool
    ) {
        switch result {
        case .success(let text):
            let parts = text.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let number = Int(parts[0]), parts[1] == key else { return fault("\(key): \(text)") }
            expectOverlap(number, begin, end)
        case .failure(let error as ErrandError) where error.code == .connectionLost:
            guard let number = Int(error.message), state.withLock({ $0.exchanges[number].failed }) else {
                return fault("\(key): \(error)")
            }
            if state.withLock({ $0.exchanges[number].key }) != key { fault("\(key) got the failure of another") }
            expectOverlap(number, begin, end)
        case .failure(let error as ErrandError) where error.code == .deadlineExceeded:
            if !mayTimeOut { fault("\(key) got the deadline of another") }
        case .failure(let error):
            if !mayBeCancelled || !error.isCancellation { fault("\(key): \(error)") }
        }
    }

    /// Checks that a result comes from an exchange that was running during the request and wasn't cancelled.
    private func expectOverlap(_ number: Int, _ begin: Int, _ end: Int) {
        let exchange = state.withLock { state in
            if end < state.exchanges[number].delivered ?? .max { state.exchanges[number].delivered = end }
            return state.exchanges[number]
        }
        guard let delivered = exchange.delivered, delivered > begin, exchange.start < end else {
            return fault("a response of \(exchange.key) from another time")
        }
        if exchange.wasCancelled { fault("a response of a cancelled exchange") }
    }
}
