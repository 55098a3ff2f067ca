import Errand
import ErrandBatch
import ErrandEssentials
import ErrandTesting
import Testing

/// Faults that users of other libraries for promises have reported. Tests/Lessons.md has the reports.
@Suite("Bugs of other libraries that combine requests", .endsInTime, .leakChecked) struct BatchLessonsTests {
    private struct GetAny: Request {
        typealias Output = User
        var path: String
    }

    @Test("a part that can't be built doesn't prevent the other parts' results")
    func unbuildable() async throws {
        let shop = Shop()
        let parts = ["/users/1", "/users/\u{0}%zz", "/users/3"].map(GetAny.init)
        let results = try await shop.agent.run(Batch(parts, policy: .collectAll))
        #expect(results.map { try? $0.get().value.id } == [1, nil, 3])
        #expect(throws: ErrandError.self) { try results[1].get() }
        let first = Batch(["%", "/users/2"].map(GetAny.init), policy: .firstSuccess)
        #expect(try await shop.agent.run(first).response.value.id == 2)
        let error = await #expect(throws: BatchError.self) { try await shop.agent.run(Batch(parts)) }
        #expect(error?.description.contains("part 1") == true)
        #expect(shop.recording.problems() == [])
    }

    @Test("a batch that needs one success ends if all parts are cancelled individually", arguments: [false, true])
    func cancelledParts(atOnce: Bool) async throws {
        let gate = Gate()
        let shop = Shop { _ in try await gate.wait() }
        let handle = Task { try await shop.agent.run(Batch((0..<3).map(GetUser.init), policy: .firstSuccess)) }
        try await gate.reached(by: 3)
        let parts = shop.agent.activities.filter { $0.kind == .request }
        #expect(parts.count == 3)
        if atOnce {
            for part in parts { part.cancel() }
        } else {
            for (number, part) in parts.enumerated() {
                part.cancel()
                try await eventually { shop.recording.outcomes.count > number }
            }
        }
        await #expect(throws: (any Error).self) { try await handle.value }
        try await eventually { shop.agent.activities.isEmpty }
        #expect(shop.recording.problems() == [])
    }
}
