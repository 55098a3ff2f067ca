import Errand
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// The scenarios of YTKNetwork's own tests, on a real socket.
@Suite("Scenarios on the wire", .leakChecked) struct ScenarioTests {
    private let server: TestServer
    private let agent: NetworkAgent

    init() throws {
        server = try TestServer()
        agent = NetworkAgent(baseURL: server.url, transport: .system)
    }

    private struct Call: Request {
        typealias Output = HTTPResponse
        var method: HTTPMethod = .get
        var path = "echo"
        var headers: HTTPHeaders = [:]
        var parameters: Parameters?
        var body: RequestBody = .none
        var authorization: Authorization?
        var acceptableStatuses: StatusCodes = .successful
        var timeout: Duration?
    }

    @Test(
        "GET, POST, PATCH, PUT and DELETE succeed, and a 404 fails",
        arguments: [HTTPMethod.get, .post, .patch, .put, .delete, .head])
    func methods(method: HTTPMethod) async throws {
        server.on("/echo", .echo)
        let response = try await agent.send(Call(method: method, parameters: ["k": "v"])).value
        #expect(response.status == 200)
        let sent = try #require(server.received.first)
        #expect(sent.method == method)
        if [.get, .head, .delete].contains(method) {
            #expect(sent.query("k") == "v")
        } else {
            #expect(sent.text == "k=v")
        }
        do {
            try await agent.send(Call(method: method, path: "missing"))
            Issue.record("404 was accepted")
        } catch let error as ErrandError { #expect(error.code == .unacceptableStatus && error.response?.status == 404) }
    }

    @Test("headers are sent and received with duplicates in order")
    func headers() async throws {
        var echo = TestResponse.text("x")
        echo.headers.add("X-Many", "1")
        echo.headers.add("x-many", "2")
        server.on("/echo", echo)
        let response = try await agent.send(Call(headers: ["X-Custom": "válue", "X-Empty": ""])).value
        #expect(response.headers.values(of: "X-Many") == ["1", "2"] && response.headers["content-type"] != nil)
        let sent = try #require(server.received.first)
        #expect(sent.headers["X-Custom"] == "válue" && sent.headers["X-Empty"] == "")
    }

    @Test("the right basic credentials succeed, the wrong ones fail")
    func credentials() async throws {
        server.on("/private", .basicAuth(user: "ada", password: "pa:ss"))
        try await agent.send(Call(path: "private", authorization: .basic(user: "ada", password: "pa:ss")))
        for wrong in [Authorization.basic(user: "eve", password: "pa:ss"), .basic(user: "ada", password: "")] {
            do {
                try await agent.send(Call(path: "private", authorization: wrong))
                Issue.record("wrong credentials were accepted")
            } catch let error as ErrandError { #expect(error.response?.status == 401) }
        }
    }

    @Test("a redirect is followed over the wire, and its connection reused")
    func redirect() async throws {
        server.on("/echo", .redirect(to: "/there"))
        server.on("/there", .text("there"))
        // The rest of the first response is read for at most one second, which may elapse on a loaded machine; a
        // manual clock avoids that.
        let agent = NetworkAgent(baseURL: server.url, transport: .system, time: ManualTimeSource())
        let response = try await agent.send(Call()).value
        #expect(response.data == Data("there".utf8) && response.url.path == "/there")
        #expect(server.connectionCount == 1)
    }

    @Test("bodies of every kind arrive unchanged: data, JSON, form, file, stream of known and unknown length")
    func bodies() async throws {
        server.on("/echo", .echoBody)
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let folder = try Folder()
        let file = folder.file("body")
        try bytes.write(to: file)
        let streams: [RequestBody] = [
            .stream(length: Int64(bytes.count)) { HTTPBody(source: Pieces(bytes)) },
            .stream { HTTPBody(source: Pieces(bytes)) },
        ]
        for body in [RequestBody.data(bytes), .file(file)] + streams {
            let response = try await agent.send(Call(method: .put, body: body)).value
            #expect(response.data == bytes)
        }
        #expect(server.received.map(\.isChunked) == [false, false, false, true])
    }

    @Test("trailers and 1xx responses are accepted and reported")
    func oddities() async throws {
        let recorder = RecordingAccessory()
        agent.configure { $0.accessories = [recorder] }
        server.on("/echo", .text("body").chunked().trailers(["X-Sum": "1"]).informational(103, ["Link": "</a>"]))
        #expect(try await agent.send(Call()).value.data == Data("body".utf8))
        let reported = recorder.records().compactMap { record -> String? in
            if case .transport(let event) = record.event {
                switch event {
                case .informational(let status, _): return "\(status)"
                case .trailers(let trailers): return trailers["x-sum"]
                default: return nil
                }
            }
            return nil
        }
        #expect(reported.contains("103") && reported.contains("1"))
    }

    @Test("a response with a wrong length or a truncated body throws a typed error")
    func lies() async throws {
        server.on("/short", .text("abc").contentLength(10).closing(afterBodyBytes: 3))
        server.on("/endless", .repeating(count: 200 << 20))
        agent.configure { $0.maximumBodyBytes = 1 << 20 }
        func code(_ path: String) async -> ErrandError.Code? {
            do {
                try await agent.send(Call(path: path))
                return nil
            } catch { return (error as? ErrandError)?.code }
        }
        #expect(await code("short") == .truncated)
        #expect(await code("endless") == .bodyTooLarge)
        try await server.waitUntilNoConnections()
    }

    @Test("a silent server ends at the timeout, and a cancelled request closes its connection")
    func giving() async throws {
        server.on("/stall", .text("abc").stalled(afterBytes: 0))
        do {
            try await agent.send(Call(path: "stall", timeout: .milliseconds(200)))
            Issue.record("silence was accepted")
        } catch let error as ErrandError { #expect(error.code == .timedOut && error.isRetryable) }
        // On a loaded machine the first request may have been abandoned before it was sent.
        server.on("/held", .text("abc").stalled(afterBytes: 0))
        let handle = agent.start(Call(path: "held"))
        try await eventually { server.received.contains { $0.path == "/held" } }
        handle.cancel()
        do {
            _ = try await handle.value
            Issue.record("not cancelled")
        } catch let error as ErrandError { #expect(error.isCancelled) }
        try await server.waitUntilNoConnections()
    }

    @Test("a stream is read as it arrives, and dropping it closes the connection")
    func streaming() async throws {
        struct Stream: Request {
            typealias Output = HTTPBody
            let path = "long"
        }
        server.on("/long", .repeating(count: 1 << 30))
        do {
            let body = try await agent.send(Stream()).value
            var iterator = body.makeAsyncIterator()
            var seen = 0
            while seen < 1 << 20, let chunk = try await iterator.next() { seen += chunk.count }
            #expect(seen >= 1 << 20)
        }
        try await server.waitUntilNoConnections()
    }

    @Test("of a thousand concurrent requests, a third are cancelled, and each ends once", .endsInTime)
    func thousand() async throws {
        server.on("/echo", .text("x"))
        let recorder = RecordingAccessory()
        agent.configure { $0.accessories = [recorder] }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let handle = agent.start(Call())
                    if number % 3 == 0 { handle.cancel() }
                    _ = await handle.result
                }
            }
        }
        #expect(recorder.activities.count == 1000 && recorder.problems().isEmpty && agent.activities.isEmpty)
    }
}

private final class Pieces: HTTPBodySource {
    private let rest: Mutex<Data>
    init(_ data: Data) { rest = Mutex(data) }
    func nextChunk() async throws -> Data? {
        rest.withLock { rest in
            if rest.isEmpty { return nil }
            defer { rest = Data(rest.dropFirst(7777)) }
            return Data(rest.prefix(7777))
        }
    }
    func cancel() {}
}
