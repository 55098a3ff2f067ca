import Errand
import ErrandTesting
import Foundation
import Testing

/// Shows the harm that each accessory of the catalogue does to an app, without the suites.
@Suite("Mistakes in accessories do harm", .endsInTime)
struct UnseenAccessoryHarmTests {
    private func agent(_ transport: StubTransport, _ accessory: any Accessory) -> NetworkAgent {
        NetworkAgent(baseURL: "https://api.example.com", transport: transport, accessories: [accessory])
    }

    @Test("a debug screen keeps a hundred long bodies")
    func responses() async throws {
        let kept = LastResponses()
        let agent = agent(StubTransport(.data(Data(count: 100_000))), kept)
        for _ in 0..<20 { try await agent.send(Ask()) }
        #expect(kept.keptBytes == 2_000_000)
    }

    @Test("a log contains a cookie of a 103")
    func trailers() async throws {
        let log = TrailerLog()
        let event = TransportEvent.informational(status: 103, headers: [.setCookie: "sid=hunter2"])
        try await agent(StubTransport(StubResponse.status(200).reporting(event)), log).send(Ask())
        #expect(log.output.contains("hunter2"))
    }

    @Test("a log contains a token of a message")
    func messages() async throws {
        let log = MessageLog()
        let agent = agent(StubTransport(.status(200)), log)
        let handle = agent.start(ActivityKind.background, options: CallOptions(), completion: nil) { activity in
            activity.report { limit in
                StreamMessage(.received, isText: true, Data(#"{"access_token":"hunter2"}"#.utf8.prefix(limit)))
            }
        }
        _ = await handle.result
        #expect(log.output.contains("hunter2"))
    }

    @Test("a failure takes longer for its report")
    func report() async {
        let report = BlockingFailureReport()
        _ = try? await agent(StubTransport(.failure(ErrandError(.connectionLost, "lost"))), report).send(Ask())
        #expect(report.written == 1)
    }

    @Test("each failure leaves an entry")
    func times() async {
        let times = SendTimes()
        let agent = agent(StubTransport(.failure(ErrandError(.connectionLost, "lost"))), times)
        for _ in 0..<20 { _ = try? await agent.send(Ask()) }
        #expect(times.count == 20)
    }

    @Test("a wrong password ends as a cancellation")
    func password() async {
        let agent = agent(StubTransport(.status(401)), SignOutAt401())
        await #expect(throws: (any Error).self) { try await agent.send(Ask()) }
        #expect(await code { try await agent.send(Ask()) } == .cancelled)
    }
}
