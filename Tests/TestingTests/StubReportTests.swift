import Errand
import ErrandEssentials
import ErrandTesting
import Foundation
import Testing

/// Stubs that other libraries got wrong. Tests/Lessons.md has the reports.
@Suite("Stubs that other libraries got wrong", .endsInTime, .leakChecked)
struct StubReportTests {
    private func agent(_ stub: StubTransport, time: some TimeSource = SystemTimeSource()) -> NetworkAgent {
        NetworkAgent(baseURL: "https://api.example.com/v1", transport: stub, time: time)
    }

    @Test("concurrent requests use each response of a rule once, before the last one repeats")
    func concurrentTurns() async throws {
        let stub = StubTransport()
        let gate = Gate()
        let turns = (0..<3).map { StubResponse.text("\($0)").waiting(for: gate) }
        stub.on("*", response: turns[0], turns[1], turns[2], .status(404))
        let agent = agent(stub)
        let results = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<10 { group.addTask { try? await agent.send(Get(path: "a")).value } }
            gate.open()
            return await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(results.compactMap { $0 }.sorted() == ["0", "1", "2"] && results.count == 10)
    }

    @Test(
        "a body that is delayed after its head ends with the request's timeout, or when it is cancelled",
        arguments: [false, true])
    func delayedBody(isCancelled: Bool) async throws {
        let time = ManualTimeSource()
        let chunks = ["a", "b"].map { Data($0.utf8) }
        let agent = agent(StubTransport(.chunks(chunks, every: .seconds(60))), time: time)
        let task = Task { try await agent.send(Get(timeout: .seconds(5))).value }
        try await time.waitForSleepers()
        if isCancelled { task.cancel() } else { time.advance(by: .seconds(5)) }
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(isCancelled ? error?.isCancelled == true : error?.code == .timedOut)
        try await eventually { time.sleeperCount == 0 }
    }

    @Test(
        "names and values of a rule's query are compared decoded",
        arguments: ["filter%5Bid%5D=1&q=a%20b", "q=a%20b&filter%5bid%5d=%31", "x=1&filter%5Bid%5D=1&q=a+b"])
    func escapedQuery(query: String) async throws {
        let stub = StubTransport(.text("none"))
        stub.on(.get, "/v1/a", query: ["filter[id]": "1", "q": "a b"], response: .text("match"))
        #expect(try await agent(stub).send(Get(path: "a?\(query)")).value == "match", "\(query)")
    }
}
