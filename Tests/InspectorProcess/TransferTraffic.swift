import Errand
import ErrandInspector
import ErrandResumableDownload
import ErrandStreaming
import ErrandSystemTransport
import ErrandTesting
import Foundation

/// Transfers that wait halfway, to be seen on the page.
final class TransferTraffic: Sendable {
    private struct GetFilm: DownloadRequest {
        var path: String
        let destination: URL
        var downloadOptions: DownloadOptions? { DownloadOptions(retry: .off) }
    }

    private let server: TestServer
    private let gate = Gate()
    private let directory: URL
    private let tasks: [Task<Void, any Error>]

    private static let film = Data(repeating: 70, count: 8_000_000)
    private static let lines = Data(String(repeating: "apples are back\n", count: 100_000).utf8)

    init(_ inspector: TrafficInspector) throws {
        let (server, gate) = (try TestServer(), gate)
        self.server = server
        server.on(
            .get, "/v1/film.mp4",
            TestResponse(status: 200, headers: ["Content-Type": "video/mp4"], body: Self.film)
                .waiting(for: gate, afterBodyBytes: 3_000_000))
        server.on(
            .get, "/v1/broken.mp4",
            TestResponse(status: 200, headers: ["Content-Type": "video/mp4"], body: Self.film)
                .truncated(to: 5_000_000))
        server.on(
            .get, "/v1/report",
            TestResponse(status: 200, headers: ["Content-Type": "text/plain"], body: Self.lines)
                .waiting(for: gate, afterBodyBytes: 400_000))
        server.on(.post, "/v1/backup", .text("thanks"))
        directory = FileManager.default.temporaryDirectory.appending(path: "errand-inspector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let agent = NetworkAgent(
            baseURL: server.url("v1"), transport: .system, accessories: [inspector.named("media")])
        let folder = directory
        tasks = [
            Task { _ = try await agent.send(GetFilm(path: "film.mp4", destination: folder)) },
            Task { _ = try? await agent.send(GetFilm(path: "broken.mp4", destination: folder)) },
            Task {
                let body = RequestBody.stream(length: 4_000_000) { Self.halves(of: 4_000_000, gate) }
                _ = try await agent.send(Call<Data>(.post, "backup", body: body))
            },
            Task { for try await _ in agent.lines(Call<HTTPBody>(.get, "report")) {} },
        ]
    }

    private static func halves(of count: Int, _ gate: Gate) -> AsyncThrowingStream<Data, any Error> {
        let half = Data(repeating: 66, count: count / 2)
        return AsyncThrowingStream { chunks in
            chunks.yield(half)
            Task {
                do {
                    try await gate.wait()
                    chunks.yield(half)
                    chunks.finish()
                } catch { chunks.finish(throwing: error) }
            }
        }
    }

    func finish() async throws {
        gate.open()
        for task in tasks { try await task.value }
        try FileManager.default.removeItem(at: directory)
    }
}
