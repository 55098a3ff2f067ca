import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("The recording accessory", .endsInTime, .leakChecked)
struct RecordingAccessoryTests {
    private func agent(_ response: StubResponse, _ recording: RecordingAccessory) -> NetworkAgent {
        NetworkAgent(baseURL: "https://example.com", transport: .stub(response), accessories: [recording])
    }

    @Test("it records the events of a request in order")
    func order() async throws {
        let recording = RecordingAccessory(maximumBodyBytes: 3)
        _ = try await agent(.text("hello"), recording).send(Get())
        try await recording.waitUntilQuiet()
        #expect(
            recording.names() == ["willStart", "built", "sending", "received", "responseBody", "willStop", "didStop"])
        let id = try #require(recording.activities.first)
        #expect(recording.events(of: id).count == recording.records().count)
        guard case .responseBody(let data, _) = try await recording.wait(for: "responseBody", of: id).event else {
            Issue.record("no responseBody")
            return
        }
        #expect(data == Data("hel".utf8))
        let first = try #require(recording.records().first)
        #expect(first.kind == .request && first.label == "Get" && first.activity == id)
        #expect(recording.problems().isEmpty)
    }

    @Test("a wait ends when the event has occurred, and counts events")
    func waits() async throws {
        let recording = RecordingAccessory()
        let gate = Gate()
        let agent = agent(.text("hello").waiting(for: gate), recording)
        let handle = agent.start(Get())
        try await recording.wait(for: "sending")
        #expect(recording.names() == ["willStart", "built", "sending"])
        handle.cancel()
        try await recording.wait(for: "didStop")
        gate.open()
        _ = try await agent.send(Get())
        try await recording.wait(for: "didStop", count: 2)
        #expect(recording.activities.count == 2 && recording.problems().isEmpty)
        await #expect(throws: WaitTimeout.self) {
            try await recording.wait(for: "didStop", count: 3, within: .milliseconds(1))
        }
    }

    @Test("it finds activities that don't begin and end properly")
    func problems() async throws {
        let recording = RecordingAccessory()
        let gate = Gate()
        let agent = agent(.text("hello").waiting(for: gate), recording)
        let handle = agent.start(Get())
        try await recording.wait(for: "sending")
        #expect(recording.problems().contains { $0.contains("expected one didStop, got 0") })
        gate.open()
        _ = try await handle.value
        try await recording.waitUntilQuiet()
        #expect(recording.problems().isEmpty)
        recording.activity(handle.activity, did: .note(ActivityNote("test", "late")))
        #expect(recording.problems().contains { $0.contains("another event follows didStop") })
        recording.activity(handle.activity, did: .didStop(.cancelled(.handle)))
        #expect(recording.problems().contains { $0.contains("expected one didStop, got 2") })
        #expect(recording.problems().contains { $0.contains("outcomes") })
    }

    @Test("the recording keeps the first events, and reports that it dropped later events")
    func bounded() async throws {
        let recording = RecordingAccessory(maximumRecords: 3)
        _ = try await agent(.text("hello"), recording).send(Get())
        try await recording.waitUntilQuiet()
        #expect(recording.names() == ["willStart", "built", "sending"])
        #expect(recording.problems().first == "3 events were dropped; raise maximumRecords")
    }

    @Test("it doesn't keep streams alive")
    func streams() async throws {
        struct GetStream: Request {
            typealias Output = HTTPResponse
            var delivery: BodyDelivery { .stream }
        }
        let recording = RecordingAccessory()
        let cancelled = Gate()
        let response = StubResponse.stream(onCancel: { cancelled.open() }) { Data("x".utf8) }
        _ = try await agent(response, recording).send(GetStream())
        try await cancelled.wait()
        #expect(recording.names().contains("received"))
    }
}
