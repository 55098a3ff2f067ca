import ErrandTesting
import Synchronization
import Testing

@testable import ErrandURLSessionTransport

@Suite("New connections after a change of certificates", .endsInTime, .leakChecked) struct RevisionGateTests {
    private final class Count: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    private static func wait(_ gate: Gate) async {
        do { try await gate.wait() } catch { Issue.record(error) }
    }

    @Test("the action runs once for each revision, and not for the first one") func once() async {
        let (gate, count) = (RevisionGate(3), Count())
        for (revision, expected) in [(3, 0), (4, 1), (4, 1), (3, 1), (7, 2), (7, 2)] {
            await gate.pass(revision) { count.add() }
            #expect(count.value == expected)
        }
    }

    @Test("whoever comes while the action runs waits for its end, also with an older revision") func waits()
        async throws
    {
        let (gate, count, action) = (RevisionGate(0), Count(), Gate())
        let first = Task { await gate.pass(1) { await Self.wait(action) } }
        try await action.reached()
        let later = [0, 1, 1].map { revision in
            Task {
                await gate.pass(revision) { Issue.record("the action ran twice") }
                count.add()
            }
        }
        // A newer revision runs its action after that.
        let next = Task { await gate.pass(2) { count.add() } }
        for _ in 0..<100 { await Task.yield() }
        #expect(count.value == 0)
        action.open()
        await first.value
        for task in later { await task.value }
        await next.value
        #expect(count.value == 4)
    }

    @Test("a cancelled caller doesn't end the action that other callers wait for") func cancelled() async throws {
        let (gate, action) = (RevisionGate(0), Gate())
        let wasCancelled = Mutex(true)
        let first = Task {
            await gate.pass(1) {
                await Self.wait(action)
                wasCancelled.withLock { $0 = Task.isCancelled }
            }
        }
        try await action.reached()
        first.cancel()
        action.open()
        await gate.pass(1) {}
        #expect(!wasCancelled.withLock { $0 })
    }
}
