#if os(Linux)
import Errand
import ErrandMultipart
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite("Uploads", .endsInTime, .leakChecked) struct UploadTests {
    /// 1 GB if `ERRAND_LONG_TESTS` is set.
    private static let size =
        ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] == nil ? 100_000_000 : 1_000_000_000

    @Test(
        "a large upload takes little memory, has the right framing and ends at its total",
        arguments: ["file", "form", "stream"])
    func memory(kind: String) async throws {
        let folder = try Folder(["large": ""])
        // A sparse file: it takes no disk space.
        let handle = try FileHandle(forWritingTo: folder.file("large"))
        try handle.truncate(atOffset: UInt64(Self.size))
        try handle.close()
        let server = try TestServer()
        server.on("/upload", .status(204), reading: .discarded)
        let value = kind == "stream" ? "\(Self.size)" : folder.path("large")
        let program = try Program(built: "errand-upload-process")
        let output = try await program.run([server.url, kind, value], limit: .seconds(500))
        #expect(output.status == 0, "\(output)")
        let numbers = output.text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 4)
        let came = try #require(server.received.last)
        #expect(numbers[0] == Int(came.bodyLength) && numbers[1] == numbers[0])
        #expect(numbers[0] >= Self.size && numbers[0] < Self.size + 1000)
        #expect(numbers[2] == 0)
        #expect(numbers[3] <= 20 << 10, "KiB")
        #expect(came.isChunked == (kind == "stream"))
        #expect(came.headers[.contentLength] == (kind == "stream" ? nil : "\(came.bodyLength)"))
    }

    @Test("if the server dies during an upload, the body is sent again if possible, and otherwise the upload fails")
    func death() async throws {
        let log = Log<Int>()
        let server = try RawServer { peer in
            log.add(1)
            _ = peer.readHead()
            if log.count == 2 {
                _ = peer.readChunked()
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            } else {
                _ = peer.read(100_000)
                peer.reset()
            }
        }
        let again = ClosureFilter { exchange, next in
            do { return try await next(exchange) } catch { return try await next(exchange) }
        }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system, filters: [again])
        @Sendable func stream() -> HTTPBody {
            let left = Counter()
            return HTTPBody(next: { left.increment() <= 100 ? Data(count: 100_000) : nil })
        }
        let reported = Log<TransferProgress>()
        let body = RequestBody.multipart(.field("a", "b"), .stream(name: "s", open: stream))
        try await agent.send(Call<Void>(.put, "up", body: body), options: CallOptions(progress: reported.add))
        #expect(log.count == 2)
        #expect(reported.all.last?.transfer == 2)
        #expect(reported.all.last?.sent == reported.all.last?.totalToSend)
        let once = RequestBody.multipart(.field("a", "b"), .stream(stream(), name: "s"))
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<Void>(.put, "up", body: once))
        }
        #expect(error?.code == .bodyNotReplayable)
    }
}
#endif
