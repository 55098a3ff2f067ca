import Errand
import ErrandEssentials
import ErrandTesting
import Testing

/// Runs the code of docs/testing.md.
@Suite("The guide to testing", .endsInTime, .leakChecked)
struct GuideTests {
    struct User: Decodable, Sendable, Equatable { let id: Int, name: String }

    struct GetUser: Request {
        typealias Output = User
        let id: Int
        var path: String { "users/\(id)" }
    }

    struct Profile {
        let agent: any Agent
        func title(of id: Int) async throws -> String { try await agent.send(GetUser(id: id)).value.name }
    }

    @Test func stub() async throws {
        let stub = StubTransport()
        stub.on(.get, "/users/7", response: .json(#"{"id":7,"name":"Ada"}"#))
        stub.on(.get, "/users/8", response: .status(503), .json(#"{"id":8,"name":"Alan"}"#))
        let profile = Profile(agent: NetworkAgent(baseURL: "https://api.example.com", transport: stub))

        #expect(try await profile.title(of: 7) == "Ada")
        await #expect(throws: ErrandError.self) { try await profile.title(of: 8) }
        #expect(try await profile.title(of: 8) == "Alan")
        #expect(stub.received.map(\.method) == [.get, .get, .get])
    }

    @Test func time() async throws {
        let time = ManualTimeSource()
        var configuration = AgentConfiguration(baseURL: "https://api.example.com")
        configuration.timeout = .seconds(5)
        let agent = NetworkAgent(
            configuration: configuration, transport: .stub(.json("{}").delayed(by: .seconds(7))), time: time)

        async let response = agent.send(GetUser(id: 7))
        try await time.waitForSleepers()
        time.advance(by: .seconds(5))
        do {
            _ = try await response
            Issue.record("no timeout")
        } catch let error as ErrandError {
            #expect(error.code == .timedOut)
        }
    }

    @Test func accessory() async throws {
        let recording = RecordingAccessory()
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json(#"{"id":7,"name":"Ada"}"#)),
            accessories: [recording])
        _ = try await agent.send(GetUser(id: 7))
        try await recording.waitUntilQuiet()
        #expect(recording.names() == ["willStart", "built", "sending", "received", "willStop", "didStop"])
        #expect(recording.problems().isEmpty)
    }

    @Test func server() async throws {
        let server = try TestServer()
        server.on(.get, "/users/7", .json(#"{"id":7,"name":"Ada"}"#))
        server.on("/files/*") { request in .text(request.path).header("X-Seen", "\(request.index)") }
        server.on(.get, "/private", .basicAuth(user: "ada", password: "secret"))
        server.on(.get, "/film", .ranges(Data(count: 100_000), etag: #""v1""#))
        server.enqueue(.status(503), .text("half").truncated(to: 2))

        let first = try await exchange(server.port, get("/users/7")).text
        #expect(first.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        #expect(try await exchange(server.port, get("/users/7")).text.hasSuffix("\r\n\r\nha"))
        #expect(try await exchange(server.port, get("/users/7")).text.hasSuffix(#"{"id":7,"name":"Ada"}"#))
        #expect(server.received.map(\.path) == ["/users/7", "/users/7", "/users/7"])
    }

    @Test func cancellation() async throws {
        let gate = Gate()
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json("{}").waiting(for: gate)))
        let task = Task { try await agent.send(GetUser(id: 7)) }
        try await gate.reached()  // it is on its way, not before and not long ago
        task.cancel()
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.isCancelled == true)
    }
}
