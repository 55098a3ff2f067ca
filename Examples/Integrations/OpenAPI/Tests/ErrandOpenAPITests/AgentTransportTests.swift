import Errand
import ErrandCache
import ErrandOpenAPI
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import Synchronization
import Testing

@Suite("The transport of a generated client", .timeLimit(.minutes(10)))
struct AgentTransportTests {
    private static func client(
        _ server: TestServer, _ filters: [any Filter] = [], _ accessories: [any Accessory] = [],
        headers: HTTPHeaders = [:], configure: @escaping @Sendable (inout OperationRequest) -> Void = { _ in }
    ) throws -> Client {
        var configuration = AgentConfiguration(baseURL: server.url)
        configuration.headers = headers
        (configuration.filters, configuration.accessories) = (filters, accessories)
        let agent = NetworkAgent(configuration: configuration, transport: .system)
        return Client(serverURL: try Servers.Server1.url(), transport: AgentTransport(agent, configure: configure))
    }

    @Test("an operation is a call with the agent's base URL and header fields, labeled by its ID")
    func operation() async throws {
        let server = try TestServer()
        server.on(.get, "/v1/users/7", .json(#"{"id":7,"name":"Ada"}"#))
        let recording = RecordingAccessory()
        let client = try Self.client(server, [], [recording], headers: ["X-App": "1"])
        let output = try await client.getUser(.init(path: .init(id: 7), query: .init(detail: "a b")))
        #expect(output == .ok(.init(body: .json(.init(id: 7, name: "Ada")))))
        let received = try #require(server.received.first)
        #expect(received.target == "/v1/users/7?detail=a%20b")
        #expect(received.headers["Accept"] == "application/json" && received.headers["X-App"] == "1")
        try await recording.waitUntilQuiet()
        #expect(recording.records().first?.label == "getUser" && recording.problems().isEmpty)
    }

    @Test(
        "the agent's filters work: a retry repeats, a cache responds, and the client reads the last failure"
    )
    func filters() async throws {
        let server = try TestServer()
        server.on(.get, "/v1/users/7", .json(#"{"id":7,"name":"Ada"}"#).header("Cache-Control", "max-age=600"))
        let long = String(repeating: "x", count: 200_000)
        server.on(.get, "/v1/users/8", .json(#"{"title":"\#(long)"}"#).status(503))
        server.enqueue(.status(503), .status(503))
        var policy = RetryPolicy(maximumAttempts: 3, backoff: .none)
        policy.budget = nil
        let cache = ResponseCache(.memory(), policy: .http)
        let client = try Self.client(server, [.retry(policy), cache])
        let ok = Operations.getUser.Output.ok(.init(body: .json(.init(id: 7, name: "Ada"))))
        for _ in 0..<3 {
            #expect(try await client.getUser(.init(path: .init(id: 7))) == ok)
            await cache.flush()
        }
        #expect(server.requestCount == 3)
        let down = try await client.getUser(.init(path: .init(id: 8)))
        #expect(down == .serviceUnavailable(.init(body: .json(.init(title: long)))))
        #expect(server.requestCount == 6)
    }

    @Test("the client can read a status that isn't in the document, with its body")
    func undocumented() async throws {
        let server = try TestServer { _ in .text("gone").status(410) }
        let client = try Self.client(server)
        guard case .undocumented(410, let payload) = try await client.getUser(.init(path: .init(id: 7))) else {
            Issue.record("not undocumented")
            return
        }
        #expect(try await String(collecting: try #require(payload.body), upTo: 100) == "gone")
    }

    @Test("100 MB are uploaded and downloaded with little of them in memory")
    func constantMemory() async throws {
        let server = try TestServer()
        let size = 100 << 20
        server.on(.post, "/v1/files", .status(201), reading: .discarded)
        server.on(.get, "/v1/files", .repeating(count: size))
        let client = try Self.client(server)
        let before = Self.residentBytes()
        let most = Atomic(0)
        let chunk = ArraySlice([UInt8](repeating: 7, count: 1 << 16))
        let sent = Atomic(0)
        let stream = AsyncStream<OpenAPIRuntime.HTTPBody.ByteChunk> {
            most.max(Self.residentBytes(), ordering: .relaxed)
            return sent.add(chunk.count, ordering: .relaxed).oldValue < size ? chunk : nil
        }
        let body = OpenAPIRuntime.HTTPBody(stream, length: .known(Int64(size)))
        #expect(try await client.upload(.init(body: .binary(body))) == .created)
        #expect(server.received.first?.bodyLength == Int64(size))
        guard case .ok(let output) = try await client.download(.init()), case .binary(let bytes) = output.body else {
            Issue.record("not downloaded")
            return
        }
        #expect(bytes.length == .known(Int64(size)))
        var count = 0
        for try await chunk in bytes {
            count += chunk.count
            most.max(Self.residentBytes(), ordering: .relaxed)
        }
        #expect(count == size)
        #expect(most.load(ordering: .relaxed) - before < 48 << 20)
    }

    /// The resident memory in bytes, or 0 if the system doesn't report it in a file.
    private static func residentBytes() -> Int {
        let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return (text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    @Test("cancelling the task of an operation cancels the call")
    func cancellation() async throws {
        let (server, gate, recording) = (try TestServer(), Gate(), RecordingAccessory())
        server.on(.get, "/v1/users/7", .json("{}").waiting(for: gate))
        let client = try Self.client(server, [], [recording])
        let task = Task { try await client.getUser(.init(path: .init(id: 7))) }
        _ = try await server.nextRequest()
        task.cancel()
        let error = await #expect(throws: ClientError.self) { try await task.value }
        #expect(error?.underlyingError.isCancellation == true)
        gate.open()
        try await recording.waitUntilQuiet()
        #expect(recording.problems().isEmpty)
    }

    @Test("a dropped body cancels its transfer")
    func abandoned() async throws {
        let server = try TestServer()
        server.on(.get, "/v1/files", .repeating(count: 1 << 30))
        let client = try Self.client(server)
        do {
            guard case .ok(let output) = try await client.download(.init()), case .binary(let body) = output.body else {
                Issue.record("not downloaded")
                return
            }
            for try await _ in body { break }
        }
        while server.openConnections > 0 { await Task.yield() }
        #expect(server.sentBytes < 1 << 30)
    }

    @Test("an error contains its cause")
    func causes() async throws {
        let server = try TestServer()
        server.on(.get, "/v1/users/7", .json(#"{"id":7,"name":"Ada"}"#).closing(afterBodyBytes: 3))
        let client = try Self.client(server) { $0.timeout = .milliseconds(300) }
        let cut = await #expect(throws: ClientError.self) { try await client.getUser(.init(path: .init(id: 7))) }
        #expect((cut?.underlyingError as? ErrandError)?.code == .truncated)
        server.on(.get, "/v1/users/8", .text("never").stalled(afterBytes: 0))
        let late = await #expect(throws: ClientError.self) { try await client.getUser(.init(path: .init(id: 8))) }
        #expect((late?.underlyingError as? ErrandError)?.code == .timedOut)
        #expect(late?.operationID == "getUser")
        server.stop()
        let down = await #expect(throws: ClientError.self) { try await client.getUser(.init(path: .init(id: 9))) }
        #expect((down?.underlyingError as? ErrandError)?.code == .cannotConnect)
    }

    @Test("a body that can be read only once isn't sent again, a rereadable body is")
    func replays() async throws {
        let server = try TestServer()
        server.on(.post, "/v1/files", .status(201))
        var policy = RetryPolicy(maximumAttempts: 2, backoff: .none).repeatable
        policy.budget = nil
        let client = try Self.client(server, [.retry(policy)])
        server.enqueue(.status(503))
        #expect(try await client.upload(.init(body: .binary("again"))) == .created)
        #expect(server.received.map(\.text) == ["again", "again"])
        server.enqueue(.status(503))
        let once = OpenAPIRuntime.HTTPBody(
            AsyncStream {
                $0.yield([1][...]); $0.finish()
            }, length: .known(1))
        guard case .undocumented(503, _) = try await client.upload(.init(body: .binary(once))) else {
            Issue.record("sent again")
            return
        }
        #expect(server.requestCount == 3)
    }

    @Test("calls can be changed by operation, and an absolute URL at another origin gets no secrets")
    func configuration() async throws {
        let (server, other) = (try TestServer(), try TestServer { _ in .json(#"{"id":7,"name":"Eve"}"#) })
        let templates = Mutex<[String?]>([])
        let note = NoteTemplate { template in templates.withLock { $0.append(template) } }
        var configuration = AgentConfiguration(baseURL: server.url)
        configuration.authorization = .bearer("s3cret")
        configuration.filters = [note]
        let agent = NetworkAgent(configuration: configuration, transport: .system)
        let transport = AgentTransport(agent) { $0.tags[URLTemplate.self] = "/\($0.operationID)" }
        let client = Client(serverURL: try #require(URL(string: other.url("/api/"))), transport: transport)
        _ = try await client.getUser(.init(path: .init(id: 7)))
        let received = try #require(other.received.first)
        #expect(received.path == "/api/users/7" && received.headers["Authorization"] == nil)
        #expect(templates.withLock { $0 } == ["/getUser"])
    }
}

private struct NoteTemplate: Filter {
    let note: @Sendable (String?) -> Void

    func filter(_ exchange: Exchange, next: Next) async throws -> Errand.HTTPResponse {
        note(exchange.tags[URLTemplate.self])
        return try await next(exchange)
    }
}
