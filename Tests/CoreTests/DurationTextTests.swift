import Errand
import ErrandTesting
import Testing

@Suite("Durations for people") struct DurationTextTests {
    @Test(
        "a duration is rounded to what people read",
        arguments: [
            (Duration.seconds(0.08214759529519743), "82 ms"), (.seconds(5), "5 s"), (.milliseconds(1500), "1.5 s"),
            (.zero, "0 s"), (.milliseconds(999.9), "1 s"), (.microseconds(250), "250 µs"), (.seconds(-5), "-5 s"),
            (.milliseconds(1), "1 ms"), (.seconds(3600), "3600 s"), (.nanoseconds(1), "0 s"),
        ])
    func rounded(duration: Duration, text: String) {
        #expect("\(duration: duration)" == text)
    }

    @Test("a timeout below zero is no time, in the transport and in the error")
    func negative() async throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(StubResponse.text("late").delayed(by: .seconds(1))))
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Plain { $0.timeout = .seconds(-5) })
        }
        #expect(error?.code == .timedOut && error?.message.hasSuffix("for 0 s") == true, "\(error?.message ?? "")")
    }
}
