import ErrandHTTP
import ErrandTesting
import Synchronization
import Testing

@Suite(.leakChecked) struct TimeSourceTests {
    @Test("an instant stays between now and a hundred years from now, for any duration")
    func instants() {
        let time = ManualTimeSource()
        #expect(time.instant(after: .seconds(3)) == time.now.advanced(by: .seconds(3)))
        #expect(time.instant(after: .seconds(-3)) == time.now)
        let last = time.instant(after: .seconds(Int64.max) * 10)
        #expect(last == time.now.advanced(by: .seconds(Int64.max).bounded))
        #expect(time.now.duration(to: last) / .seconds(86_400) == 36_525)
    }

    @Test("a bounded duration equals the original if that is in range")
    func durations() {
        #expect(Duration.milliseconds(7).bounded == .milliseconds(7))
        #expect(Duration.seconds(-1).bounded == .zero)
        #expect((Duration.seconds(Int64.min) * 10).bounded == .zero)
    }

    @Test("a sleep without an end waits until it is cancelled", arguments: [1, 10])
    func endless(factor: Int) async {
        let far = ContinuousClock.now.advanced(by: .seconds(Int64.max) * factor)
        let hasBegun = Atomic(false)
        let sleep = Task {
            hasBegun.store(true, ordering: .releasing)
            try await SystemTimeSource().sleep(until: far)
        }
        while !hasBegun.load(ordering: .acquiring) { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }
}
