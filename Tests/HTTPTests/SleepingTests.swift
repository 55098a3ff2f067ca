import ErrandEssentials
import ErrandTestSupport
import Testing

@testable import ErrandHTTP

@Suite("Sleeping until an instant", .endsInTime) struct SleepingTests {
    @Test("sleeps end at the right time, in any order of starting")
    func instants() async throws {
        let (tasks, log, start) = (SleepingTasks(), Log<Int>(), ContinuousClock.now)
        try await withThrowingTaskGroup { group in
            for number in [3, 1, 4, 2, 0] {
                group.addTask {
                    let instant = start.advanced(by: .milliseconds(40 * (number + 1)))
                    try await tasks.sleep(until: instant)
                    #expect(ContinuousClock.now >= instant)
                    log.add(number)
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(log.all) == [0, 1, 2, 3, 4])
        #expect(tasks.counts.sleeps == 0)
        try await tasks.sleep(until: start)
    }

    @Test("a cancelled sleep ends at once and leaves no state, with any other sleeps")
    func cancelled() async throws {
        let (tasks, hour) = (SleepingTasks(), ContinuousClock.now.advanced(by: .seconds(3600)))
        let longest = Task { try await tasks.sleep(until: hour.advanced(by: .seconds(1))) }
        for _ in 0..<2_000 {
            let task = Task { try await tasks.sleep(until: hour) }
            if Bool.random() { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(tasks.counts.sleeps <= 1 && tasks.counts.alarms < 200)
        longest.cancel()
        await #expect(throws: CancellationError.self) { try await longest.value }
        #expect(tasks.counts.sleeps == 0)
        // A cancelled task must not sleep, not even until a time in the past.
        let past = Task {
            while !Task.isCancelled { await Task.yield() }
            try await tasks.sleep(until: .now)
        }
        past.cancel()
        await #expect(throws: CancellationError.self) { try await past.value }
    }
}
