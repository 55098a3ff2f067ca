import Errand
import ErrandResumableDownload
import ErrandResumableUpload
import ErrandStreaming
import ErrandSystemTransport
import ErrandTestSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandInspector

@Suite("Transfers on the page", .endsInTime, .leakChecked)
struct TransferTests {
    private struct GetFilm: DownloadRequest {
        var path: String { "film" }
        let destination: URL
        var downloadOptions: DownloadOptions? { DownloadOptions(retry: .off) }
    }

    private static let length = 4_000_000
    private static let body = Data(repeating: 65, count: length)

    private static func agent(_ server: TestServer, _ visit: Visit) -> NetworkAgent {
        NetworkAgent(baseURL: server.url(""), transport: .system, accessories: [visit.inspector])
    }

    /// Waits for a running activity that shows these numbers.
    private func running(_ visit: Visit, _ numbers: [String: Int]) async throws {
        try await eventually(within: .seconds(60)) {
            try visit.activities().contains { shown in
                shown["state"] as? String == "running" && numbers.allSatisfy { shown[$0.key] as? Int == $0.value }
            }
        }
    }

    @Test("a download shows the bytes that have arrived, and not the announced length")
    func download() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "inspector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (server, gate, visit) = (try TestServer(), Gate(), try Visit())
        server.on(.get, "/film", TestResponse(body: Self.body).waiting(for: gate, afterBodyBytes: 1_000_000))
        let agent = Self.agent(server, visit)
        let handle = agent.start(GetFilm(destination: directory))
        try await running(
            visit, ["size": 1_000_000, "totalToReceive": Self.length, "received": 1_000_000, "percent": 25])
        gate.open()
        _ = try await handle.value
        let details = try #require(try visit.activities().first)
        #expect(details["size"] as? Int == Self.length && details["percent"] == nil)
    }

    @Test("a download that is cut off shows how far it came")
    func cutOff() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "inspector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (server, visit) = (try TestServer(), try Visit())
        server.on(.get, "/film", TestResponse(body: Self.body).truncated(to: 1_000_000))
        await #expect(throws: (any Error).self) {
            try await Self.agent(server, visit).send(GetFilm(destination: directory))
        }
        let details = try #require(try visit.activities().first)
        #expect(details["state"] as? String == "failure" && details["size"] as? Int == 1_000_000)
        #expect(details["totalToReceive"] as? Int == Self.length && details["percent"] as? Int == 25)
    }

    @Test("an upload of a stream shows the bytes that were sent")
    func upload() async throws {
        let (server, gate, visit) = (try TestServer(), Gate(), try Visit())
        server.on(.post, "/film", .text("thanks"))
        let half = Self.body.prefix(Self.length / 2)
        let body = RequestBody.stream(length: Int64(Self.length)) {
            AsyncThrowingStream<Data, any Error> { chunks in
                chunks.yield(half)
                Task {
                    try await gate.wait()
                    chunks.yield(half)
                    chunks.finish()
                }
            }
        }
        let handle = Self.agent(server, visit).start(Call<Data>(.post, "film", body: body))
        try await running(visit, ["sent": 2_000_000, "totalToSend": Self.length, "percent": 50])
        gate.open()
        _ = try await handle.value
        let details = try #require(try visit.activities().first)
        #expect(details["sent"] as? Int == Self.length && details["percent"] == nil)
    }

    @Test("a stream shows its bytes and, if the server announced it, their total")
    func stream() async throws {
        let (server, gate, visit) = (try TestServer(), Gate(), try Visit())
        let lines = Data(String(repeating: "1234567\n", count: 50_000).utf8)
        server.on(.get, "/rows", TestResponse(body: lines).waiting(for: gate, afterBodyBytes: 100_000))
        let agent = Self.agent(server, visit)
        let reader = Task {
            var count = 0
            for try await _ in agent.lines(Call<HTTPBody>(.get, "rows")) { count += 1 }
            return count
        }
        try await running(visit, ["size": 100_000, "totalToReceive": 400_000, "received": 100_000, "percent": 25])
        gate.open()
        #expect(try await reader.value == 50_000)
    }

    @Test("events of an event stream are shown as they come, without their secrets")
    func events() async throws {
        let (server, gate, visit) = (try TestServer(), Gate(), try Visit())
        let first = #"{"news":"apples are back","token":"canary-0123456789"}"#
        let text = "data: \(first)\n\ndata: pears are new\n\n"
        server.on(
            .get, "/news",
            TestResponse(headers: ["Content-Type": "text/event-stream"], body: Data(text.utf8))
                .waiting(for: gate, afterBodyBytes: first.utf8.count + 8))
        let agent = Self.agent(server, visit)
        var events = agent.events(Call<HTTPBody>(.get, "news"), EventOptions(reconnection: .off)).makeAsyncIterator()
        #expect(try await events.next()?.data == first)
        let details = try #require(try visit.activities().first)
        #expect(details["state"] as? String == "running" && details["messages"] as? Int == 1)
        let messages = try #require(details["messageList"] as? [[String: Any]])
        #expect((messages[0]["text"] as? String)?.contains("apples are back") == true)
        #expect(!"\(messages)".contains("canary"))
        gate.open()
        #expect(try await events.next()?.data == "pears are new")
        #expect(try await events.next() == nil)
    }

    @Test("a resumable upload is one row, with its notes")
    func resumableUpload() async throws {
        struct SendFilm: UploadRequest {
            var path: String { "film" }
            var method: HTTPMethod { .post }
            var body: RequestBody { .data(TransferTests.body) }
        }
        let (server, visit) = (try TestServer(), try Visit())
        server.on(.post, "/film", .text("thanks"))
        let directory = FileManager.default.temporaryDirectory.appending(path: "inspector-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let agent = NetworkAgent(
            baseURL: server.url(""), transport: .system, filters: [.uploads(UploadOptions(directory: directory))],
            accessories: [visit.inspector])
        _ = try await agent.send(SendFilm())
        let details = try #require(try visit.activities().first)
        #expect(details["sent"] as? Int == Self.length)
        let notes = try #require(details["noteList"] as? [[String: Any]])
        #expect(notes.contains { $0["name"] as? String == "upload" }, "\(notes)")
    }
}
