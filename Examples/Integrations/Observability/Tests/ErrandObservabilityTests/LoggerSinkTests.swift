import Errand
import ErrandLoadingIndicatorLog
import ErrandObservability
import ErrandSystemTransport
import ErrandTesting
import InMemoryLogging
import Logging
import Testing

@Suite("The log", .timeLimit(.minutes(10)))
struct LoggerSinkTests {
    private static func logger(_ handler: InMemoryLogHandler) -> Logger {
        var logger = Logger(label: "http") { _ in handler }
        logger.logLevel = .trace
        return logger
    }

    @Test("a record is a line with its fields as metadata, masked, at the level of its outcome")
    func records() async throws {
        let server = try TestServer()
        server.on("/users/7", .text("Ada"))
        let (handler, gate) = (InMemoryLogHandler(), Gate())
        let log = RequestLog(to: LoggerSink(Self.logger(handler)))
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [log])
        try await agent.send(Call<Void>(.get, "users/7", query: ["token": "s3cret"]) { $0.label = "user" })
        _ = try? await agent.send(GetUser(id: 8))
        server.on("/users/9", .text("late").waiting(for: gate))
        let task = Task { try await agent.send(GetUser(id: 9)) }
        while server.requestCount < 3 { await Task.yield() }
        task.cancel()
        _ = await task.result
        gate.open()
        await log.flush()
        let entries = handler.entries
        #expect(entries.map(\.level) == [.info, .error, .debug])
        let first = try #require(entries.first)
        #expect(first.metadata["errand.label"] == "user" && first.metadata["errand.attempts"] == "1")
        #expect(first.metadata["errand.kind"] == "request" && first.metadata["errand.parent"] == nil)
        #expect(first.metadata["errand.activity"]?.description.hasPrefix("#") == true)
        #expect(first.metadata["http.request.method"] == "GET")
        #expect(first.metadata["network.protocol.version"] == "1.1")
        #expect(first.metadata["url.full"] == "\(server.url("/users/7?token=•••"))")
        #expect(first.metadata["http.response.status_code"] == "200" && first.metadata["error.type"] == nil)
        #expect(first.message.description.contains("→ 200"))
        #expect(!entries.contains { "\($0)".contains("s3cret") })
        #expect(entries[1].metadata["error.type"] == "unacceptableStatus")
        #expect(entries[1].metadata["http.response.status_code"] == "404")
    }

    @Test("a part of a composite names its parent, and levels can be changed")
    func parents() async throws {
        let handler = InMemoryLogHandler()
        let log = RequestLog(to: LoggerSink(Self.logger(handler)) { _ in .notice })
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.text("ok")), accessories: [log])
        try await agent.run(ActivityKind(rawValue: "import")) { activity in
            _ = try await agent.send(GetUser(), options: CallOptions(parent: activity))
        }
        await log.flush()
        let entries = handler.entries
        #expect(entries.count == 2 && entries.allSatisfy { $0.level == .notice })
        #expect(entries[0].metadata["errand.parent"] == entries[1].metadata["errand.activity"])
    }
}
