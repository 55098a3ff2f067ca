// The tests of docs/testing.md.
import Errand
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite("What the page about testing shows", .leakChecked) struct TestingGuideTests {
    struct Profile {
        let agent: any Agent
        func title(of id: Int) async throws -> String { try await agent.send(GetUser(id: id)).value.name }
    }

    @Test("responses from memory")
    func responses() async throws {
        let stub = StubTransport()
        stub.on(.get, "/users/7", response: .json(#"{"id":7,"name":"Ada"}"#))
        stub.on(.get, "/users/8", response: .status(503), .json(#"{"id":8,"name":"Alan"}"#))  // in turn
        let profile = Profile(agent: NetworkAgent(baseURL: "https://api.example.com", transport: stub))

        #expect(try await profile.title(of: 7) == "Ada")
        await #expect(throws: ErrandError.self) { try await profile.title(of: 8) }
        #expect(try await profile.title(of: 8) == "Alan")
        #expect(stub.received.map(\.method) == [.get, .get, .get])
    }

    @Test("time")
    func time() async throws {
        let time = ManualTimeSource()
        var configuration = AgentConfiguration(baseURL: "https://api.example.com")
        configuration.timeout = .seconds(5)
        let agent = NetworkAgent(
            configuration: configuration, transport: .stub(.json("{}").delayed(by: .seconds(7))), time: time)

        let task = Task { try await agent.send(GetUser(id: 7)) }
        try await time.waitForSleepers()  // the request waits by this clock
        time.advance(by: .seconds(5))
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.code == .timedOut)
    }

    @Test("events")
    func events() async throws {
        let recording = RecordingAccessory()
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json(#"{"id":7,"name":"Ada"}"#)),
            accessories: [recording])
        _ = try await agent.send(GetUser(id: 7))
        try await recording.waitUntilQuiet()
        #expect(recording.names() == ["willStart", "built", "sending", "received", "willStop", "didStop"])
        #expect(recording.problems().isEmpty)  // every activity began and ended once, in order
    }

    @Test("a real server")
    func realServer() async throws {
        let server = try TestServer()
        server.on(.get, "/users/7", .json(#"{"id":7,"name":"Ada"}"#))
        server.on("/files/*") { request in .text(request.path).header("X-Seen", "\(request.index)") }
        server.on(.get, "/private", .basicAuth(user: "ada", password: "secret"))
        server.on(.get, "/film", .ranges(Data(count: 100_000), etag: #""v1""#))
        server.enqueue(.status(503), .text("half").truncated(to: 2))  // the next two responses, whatever the request

        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        await #expect(throws: ErrandError.self) { try await agent.send(GetUser(id: 7)) }
    }

    @Test("gates")
    func gates() async throws {
        let gate = Gate()
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.json("{}").waiting(for: gate)))
        let task = Task { try await agent.send(GetUser(id: 7)) }
        try await gate.reached()  // the request is on its way
        task.cancel()
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.isCancelled == true)
    }
}
