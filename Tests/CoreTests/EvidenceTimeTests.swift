import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("The time that evidence takes", .endsInTime, .leakChecked) struct EvidenceTimeTests {
    /// Returns a response with an endless body that arrives a few bytes at a time. If `isDeaf` is true, it ignores a
    /// cancelled task and its reader's end. Reading the second chunk waits at `never`.
    private static func dripping(
        _ cancelled: Gate, isDeaf: Bool, length: Int64? = nil, never: Gate = Gate()
    ) -> StubResponse {
        let first = Atomic(true)
        return .stream(length: length, onCancel: cancelled.open) {
            if first.exchange(false, ordering: .relaxed) { return Data("first".utf8) }
            if isDeaf {
                await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                    Task.detached {
                        try? await never.wait()
                        continuation.resume()
                    }
                }
            } else {
                try await never.wait()
            }
            return nil
        }
    }

    @Test(
        "a rejected stream with a slow body reports its error within a second", arguments: [true, false])
    func drip(isDeaf: Bool) async throws {
        let (time, cancelled, never) = (ManualTimeSource(), Gate(), Gate())
        let response = Self.dripping(cancelled, isDeaf: isDeaf, never: never).status(503)
        let agent = NetworkAgent(baseURL: base, transport: .stub(response), time: time)
        let task = Task { try await agent.send(Plain<HTTPBody>.streamed()) }
        try await never.reached()
        try await time.waitForSleepers()
        time.advance(by: .seconds(1))
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.code == .unacceptableStatus && error?.response?.data == Data("first".utf8))
        try await cancelled.wait()
    }

    @Test("a request timeout of less than a second limits the time for evidence")
    func shorter() async throws {
        let (time, cancelled) = (ManualTimeSource(), Gate())
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(Self.dripping(cancelled, isDeaf: false).status(503)), time: time)
        let task = Task { try await agent.send(Plain<HTTPBody>.streamed { $0.timeout = .milliseconds(200) }) }
        try await time.waitForSleepers()
        time.advance(by: .milliseconds(200))
        #expect(await code { try await task.value } == .unacceptableStatus)
    }

    @Test("cancelling a call that gathers evidence ends it at once")
    func cancelling() async throws {
        let (time, cancelled) = (ManualTimeSource(), Gate())
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(Self.dripping(cancelled, isDeaf: true).status(503)), time: time)
        let handle = agent.start(Plain<HTTPBody>.streamed())
        try await time.waitForSleepers()
        handle.cancel()
        #expect(await code { try await handle.value } == .cancelled)
        try await cancelled.wait()
    }

    @Test("a redirect with a slow, short body is followed after a second at the latest", arguments: [true, false])
    func redirect(isDeaf: Bool) async throws {
        let (time, cancelled) = (ManualTimeSource(), Gate())
        let stub = StubTransport()
        stub.on(
            "/v1/plain",
            response: Self.dripping(cancelled, isDeaf: isDeaf, length: 1000).status(302).header(.location, "/there"))
        stub.on("/there", response: .text("there"))
        let agent = NetworkAgent(baseURL: base, transport: stub, time: time)
        let task = Task { try await agent.send(Plain<HTTPBody>.streamed()).value.collect(upTo: 10) }
        try await time.waitForSleepers()
        time.advance(by: .seconds(1))
        #expect(try await task.value == Data("there".utf8))
        try await cancelled.wait()
    }
}
