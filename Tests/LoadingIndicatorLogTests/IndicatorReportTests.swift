import Errand
import ErrandLoadingIndicatorLog
import ErrandTesting
import Foundation
import Testing

/// Indicators and logs that other libraries got wrong. Tests/Lessons.md has the reports.
@Suite("Indicators and logs that other libraries got wrong", .endsInTime, .leakChecked)
struct IndicatorReportTests {
    private struct Hold: Filter {
        let gate: Gate

        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            try await gate.wait()
            return try await next(exchange)
        }
    }

    @Test("requests that are cancelled before they are sent don't make a count negative: the next one is shown")
    func cancelledBeforeSending() async throws {
        let shown = Log<LoadingState>()
        let time = ManualTimeSource()
        let indicator = LoadingIndicator(shown, delay: .zero, minimumDuration: .zero, interval: .zero, time: time)
        let (gate, response) = (Gate(), Gate())
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("ok").waiting(for: response)), filters: [Hold(gate: gate)],
            accessories: [indicator], time: time)
        let handles = (0..<20).map { _ in agent.start(Get()) }
        try await gate.reached(by: 20)
        #expect(indicator.state == .hidden)
        for handle in handles { handle.cancel() }
        for handle in handles { _ = await handle.result }
        #expect(indicator.state == .hidden)
        gate.open()
        let next = agent.start(Get())
        try await response.reached()
        #expect(indicator.state.isShown && indicator.state.running == 1)
        response.open()
        _ = try await next.value
        #expect(indicator.state == .hidden)
    }

    @Test("a compressed request body is shown by its size, or as its text without secrets, and never as characters")
    func compressedBody() async throws {
        let coded = try #require(
            Data(base64Encoded: "H4sIAAAAAAACA6tWyssvSVWyUsovSM1T0lEqSCwuLs8vSgGKFBsnFxmXKNUCAF0Sda8jAAAA"))
        let records = Log<LogRecord>()
        let log = RequestLog(.bodies(upTo: 1000), to: ClosureSink { records.add($0) })
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), accessories: [log])
        let call = Call<Data>(
            .post, "items", body: .data(coded, contentType: "application/json")
        ) {
            $0.headers["Content-Encoding"] = "gzip"
        }
        _ = try await agent.send(call)
        await log.flush()
        let body = try #require(records.all.last?.requestBody)
        #expect(!body.contains("\u{FFFD}") && !body.contains("s3cr3t"))
        #expect(body.contains("open") || body.contains("\(coded.count)") || body.contains("gzip"))
    }
}
