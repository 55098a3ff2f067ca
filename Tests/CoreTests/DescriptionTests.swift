import Errand
import ErrandTesting
import Testing

@Suite("Values as they are printed", .endsInTime, .leakChecked) struct DescriptionTests {
    private struct Get: Request {
        typealias Output = String
        var path: String { "a" }
    }

    @Test("an agent prints its base URL without secrets, and how much is running")
    func agent() async throws {
        let agent = NetworkAgent(baseURL: "https://ada:secret@api.example.com/v1", transport: .stub(.text("ok")))
        #expect("\(agent)".contains("api.example.com/v1") && "\(agent)".hasSuffix(", 0 running"))
        #expect(!"\(agent)".contains("secret"))
        #expect("\(NetworkAgent(baseURL: "", transport: .stub(.text("ok"))))" == "no base URL, 0 running")
    }

    @Test("a handle prints its activity, and how it ended")
    func handle() async throws {
        let gate = Gate()
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.text("ok").waiting(for: gate)))
        let handle = agent.start(Get())
        #expect("\(handle)".hasSuffix(": running"))
        gate.open()
        _ = try await handle.value
        #expect("\(handle)".hasSuffix(": success: 200 https://api.example.com/a"))
        let other = agent.start(Get())
        other.cancel()
        _ = await other.result
        #expect("\(other)".hasSuffix(": cancelled by the handle") || "\(other)".contains(": success"))
        #expect("\(FailureSentence.busy)" == "busy")
    }
}
