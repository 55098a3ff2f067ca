import Errand
import ErrandBatch
import ErrandCoalescing
import ErrandEssentials
import ErrandTesting
import Testing

/// Batches with equal parts. Tests/Lessons.md has the report.
@Suite("Batches with equal parts", .endsInTime, .leakChecked) struct EqualPartsTests {
    private struct GetItem: Request {
        typealias Output = String
        let id: String
        var path: String { id }
    }

    @Test(
        "equal parts of a batch share an exchange, with any limit, and each has its response", arguments: [1, 2, 3, 7])
    func equalParts(limit: Int) async throws {
        let service = Service()
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(service.transport, accessories: [recorder], .coalescing)
        let ids = ["a", "b", "a", "a", "a", "b", "c"]
        let run = Task { try await agent.run(Batch(ids.map(GetItem.init), maximumConcurrent: limit)) }
        if limit == 7 { try await recorder.joined(by: 4) }
        service.gate.open()
        let responses = try await run.value
        #expect(responses.map { $0.value.split(separator: " ")[1] } == ids.map { "/\($0)" })
        #expect(service.exchanges <= 7 && (limit < 7 || service.exchanges == 3))
        #expect(recorder.problems().isEmpty)
    }
}
