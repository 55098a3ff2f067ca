import ErrandHTTP
import ErrandTesting
import Testing

@Suite(.leakChecked) struct TimeSourceTests {
    @Test("a point in time lies between now and a hundred years from now, whatever a user passes")
    func instants() {
        let time = ManualTimeSource()
        #expect(time.instant(after: .seconds(3)) == time.now.advanced(by: .seconds(3)))
        #expect(time.instant(after: .seconds(-3)) == time.now)
        let last = time.instant(after: .seconds(Int64.max) * 10)
        #expect(last == time.now.advanced(by: .seconds(Int64.max).bounded))
        #expect(time.now.duration(to: last) / .seconds(86_400) == 36_525)
    }

    @Test("a bounded duration is itself where it fits")
    func durations() {
        #expect(Duration.milliseconds(7).bounded == .milliseconds(7))
        #expect(Duration.seconds(-1).bounded == .zero)
        #expect((Duration.seconds(Int64.min) * 10).bounded == .zero)
    }
}
