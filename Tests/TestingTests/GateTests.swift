import ErrandTesting
import Testing

@Suite("A gate", .endsInTime, .leakChecked)
struct GateTests {
    @Test("it holds tasks back until it is opened, and then lets everyone pass")
    func opens() async throws {
        let gate = Gate()
        let waiters = (0..<3).map { _ in Task { try await gate.wait() } }
        try await gate.reached(by: 3)
        #expect(gate.arrivals == 3 && !gate.isOpen)
        gate.open()
        for waiter in waiters { try await waiter.value }
        try await gate.wait()
        #expect(gate.isOpen && gate.arrivals == 4)
        try await Gate(isOpen: true).wait()
    }

    @Test("waiting ends with the task or after its limit")
    func gives() async throws {
        let gate = Gate()
        let task = Task { try await gate.wait() }
        try await gate.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let error = await #expect(throws: WaitTimeout.self) { try await gate.reached(by: 5, within: .milliseconds(1)) }
        #expect(error.map { "\($0)" } == "waited 1 ms for 5 arrivals at a gate")
    }
}
