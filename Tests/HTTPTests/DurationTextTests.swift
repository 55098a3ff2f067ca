import ErrandHTTP
import Testing

@Suite("Durations for people") struct DurationTextTests {
    @Test(
        "a duration is rounded for people",
        arguments: [
            (Duration.seconds(0.08214759529519743), "82 ms"), (.seconds(5), "5 s"), (.milliseconds(1500), "1.5 s"),
            (.zero, "0 s"), (.milliseconds(999.9), "1 s"), (.microseconds(250), "250 µs"), (.seconds(-5), "-5 s"),
            (.milliseconds(1), "1 ms"), (.seconds(3600), "3600 s"), (.nanoseconds(1), "0 s"),
            (.seconds(Int64.max) * 10, "9.223372036854776e+19 s"),
        ])
    func rounded(duration: Duration, text: String) {
        #expect("\(duration: duration)" == text)
    }
}
