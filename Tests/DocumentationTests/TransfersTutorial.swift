// The code that docs/tutorials/transfers.md builds, step by step.
import Errand
import ErrandMultipart
import ErrandOutbox
import ErrandResumableDownload
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

enum TransfersTutorial {
    struct GetEpisode: DownloadRequest {
        let number: Int
        let destination: URL
        var path: String { "episodes/\(number).mp3" }
    }

    static func download(
        _ number: Int, to folder: URL, on agent: NetworkAgent, show: (Double) async -> Void
    ) async throws -> URL {
        let file = folder.appending(path: "\(number).mp3")
        let download = agent.download(GetEpisode(number: number, destination: file))
        for try await event in download {
            if case .progress(let status) = event { await show(status.fraction ?? 0) }
        }
        return try await download.file
    }

    struct UploadCover: Request {
        typealias Output = Void
        let show: Int
        let image: URL
        var method: HTTPMethod { .post }
        var path: String { "shows/\(show)/cover" }
        var body: RequestBody { .multipart(.field("show", show), .file(image, name: "cover")) }
    }

    struct PostReview: OutboxRequest {
        typealias Output = Void
        let show: Int
        let text: String
        var method: HTTPMethod { .post }
        var path: String { "shows/\(show)/reviews" }
        var body: RequestBody { .json(["text": text]) }
        var outboxLane: String { "show \(show)" }
    }

    static func outbox(at directory: URL, on agent: NetworkAgent) async throws -> Outbox {
        try await agent.outbox(at: directory, sending: [.type("review", PostReview.self)])
    }
}

@Suite("The tutorial of transfers", .endsInTime, .leakChecked) struct TransfersTutorialTests {
    typealias PostReview = TransfersTutorial.PostReview

    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-transfers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test("an interrupted download continues where it stopped")
    func download() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let (server, sound) = (try TestServer(), Data(repeating: 7, count: 300_000))
        server.enqueue(.ranges(sound, etag: "\"1\"").truncated(to: 200_000))
        server.on("/episodes/7.mp3", .ranges(sound, etag: "\"1\""))
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let file = try await TransfersTutorial.download(7, to: folder, on: agent) { _ in }
        #expect(try Data(contentsOf: file) == sound)
        #expect(server.received.last?.headers[.range] != nil)
    }

    @Test("a review that was written without a network is sent when the network returns")
    func outbox() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let offline = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.failure(ErrandError(.cannotConnect, "offline"))))
        let before = try await TransfersTutorial.outbox(at: folder, on: offline)
        try await before.enqueue(PostReview(show: 7, text: "Good"))
        await before.close()

        let stub = StubTransport(.status(201))
        let online = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let after = try await TransfersTutorial.outbox(at: folder, on: online)
        for await state in after.states where state.entries.isEmpty { break }
        await after.close()
        #expect(stub.received.map(\.url.path) == ["/shows/7/reviews"])
        #expect(stub.received.first?.headers["Idempotency-Key"] != nil)
    }
}
