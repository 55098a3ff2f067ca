import Errand
import ErrandCoalescing
import ErrandEssentials
import ErrandTesting
import Testing

/// Faults that users of other libraries that share requests have reported. Tests/Lessons.md has the reports.
@Suite("Bugs of other libraries that share requests", .endsInTime, .leakChecked) struct SharingLessonsTests {
    @Test("a request that leaves doesn't cancel others, and later ones still join", arguments: [0, 1, 2])
    func leaving(leaver: Int) async throws {
        let (service, recorder) = (Service(), RecordingAccessory())
        let agent = NetworkAgent(service.transport, accessories: [recorder], .coalescing)
        var handles = [agent.start(Call<String>(.get, "x"))]
        try await service.gate.reached()
        for _ in 0..<2 { handles.append(agent.start(Call<String>(.get, "x"))) }
        try await recorder.joined(by: 2)
        handles.remove(at: leaver).cancel()
        try await eventually { recorder.outcomes == ["cancelled"] }
        handles.append(agent.start(Call<String>(.get, "x")))
        try await recorder.joined(by: 3)
        service.gate.open()
        for handle in handles { #expect(try await handle.value.value == "1 /x none") }
        #expect(service.exchanges == 1)
    }

    @Test("a failure isn't kept: the next request is sent")
    func failure() async throws {
        let count = Counter()
        let transport = StubTransport { _ in
            count.increment() == 1 ? .failure(ErrandError(.connectionLost, "lost")) : .text("again")
        }
        let agent = NetworkAgent(transport, .coalescing)
        await #expect(throws: ErrandError.self) { try await agent.text() }
        #expect(try await agent.text() == "again" && count.value == 2)
    }

    @Test("two nested filters that share requests don't wait for each other")
    func nested() async throws {
        let (service, recorder) = (Service(), RecordingAccessory())
        let agent = NetworkAgent(
            service.transport, accessories: [recorder], .coalescing(in: .call), .coalescing(in: .hop))
        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<200 { group.addTask { try await agent.text("\(number % 10)") } }
            try await recorder.joined(by: 190)
            service.gate.open()
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(bodies.count == 10 && service.exchanges == 10)
        // Requests that come and go at any time.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let handle = agent.start(Call<String>(.get, "y"))
                    if number % 3 == 0 { handle.cancel() }
                    _ = await handle.result
                }
            }
            try await group.waitForAll()
        }
        #expect(try await agent.text("z").hasSuffix("/z none"))
    }

    @Test("a request that is cancelled before or after it joins an exchange ends at once, and the exchange goes on")
    func cancelledJoiners() async throws {
        let (service, recorder) = (Service(), RecordingAccessory())
        let agent = NetworkAgent(service.transport, accessories: [recorder], .coalescing)
        let first = agent.start(Call<String>(.get, "x"))
        try await service.gate.reached()
        let second = agent.start(Call<String>(.get, "x"))
        try await recorder.joined(by: 1)
        second.cancel()
        let late = Task {
            // The task is cancelled before it sends.
            while !Task.isCancelled { await Task.yield() }
            return try await agent.text()
        }
        late.cancel()
        for error in [
            await #expect(throws: ErrandError.self, performing: { try await second.value }),
            await #expect(throws: ErrandError.self, performing: { try await late.value }),
        ] { #expect(error?.isCancelled == true) }
        #expect(first.isRunning && service.exchanges == 1)
        service.gate.open()
        #expect(try await first.value.value == "1 /x none")
    }
}
