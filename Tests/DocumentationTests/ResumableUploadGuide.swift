import Errand
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// The code of docs/resumable-upload.md.
enum ResumableUploadGuide {
    nonisolated struct Video: Codable, Sendable {
        let id: Int
    }

    struct SendVideo: UploadRequest {
        typealias Output = Video
        let file: URL

        var method: HTTPMethod { .post }
        var path: String { "videos" }
        var body: RequestBody { .file(file) }
    }

    static func send(_ file: URL, _ directory: URL) async throws {
        let options = UploadOptions(directory: directory)  // for the records of unfinished uploads
        let agent = NetworkAgent(baseURL: "https://example.com", transport: .system, filters: [.uploads(options)])
        let video = try await agent.send(SendVideo(file: file)).value
        _ = video
    }

    static func show(_ fraction: Double, _ left: Duration?) {}
    static func show(_ video: Video) {}

    static func watch(_ agent: NetworkAgent, _ file: URL, log: (TransferNotice) -> Void) async throws {
        for try await event in agent.upload(SendVideo(file: file)) {
            switch event {
            case .progress(let status): show(status.fraction ?? 0, status.timeLeft)
            case .notice(let notice): log(notice)
            case .finished(let response): show(response.value)
            }
        }
    }

    static func anywhere(_ data: Data) {
        let body = RequestBody.stream(length: Int64(data.count)) { offset in HTTPBody(data.dropFirst(Int(offset))) }
        _ = body
    }
}

@Suite("The guide of resumable uploads", .endsInTime, .leakChecked) struct ResumableUploadGuideTests {
    @Test("an upload that breaks continues after the bytes that have arrived")
    func breaks() async throws {
        let film = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        let file = FileManager.default.temporaryDirectory.appending(path: "film-\(UUID().uuidString)")
        try film.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let server = try TestServer()
        let arrived = Mutex(Data())
        server.on(
            .post, "/videos",
            reading: .watched { _, piece in
                if piece.isEmpty { return [.inform(104, ["Location": "/uploads/7"])] }
                let count = arrived.withLock { data in
                    data.append(piece)
                    return data.count
                }
                return count > 100_000 ? [.reset] : []
            }
        ) { _ in .status(201) }
        server.on(.head, "/uploads/7") { _ in
            .status(204).header("Upload-Complete", "?0").header("Upload-Offset", "\(arrived.withLock { $0.count })")
        }
        server.on(
            .patch, "/uploads/7",
            reading: .watched { _, piece in
                arrived.withLock { $0.append(piece) }
                return []
            }
        ) { _ in .json(#"{"id":7}"#, status: 201).header("Upload-Complete", "?1") }

        var options = UploadOptions()
        options.retry = TransferRetryPolicy(backoff: Backoff(base: .milliseconds(10)))
        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [.uploads(options)])
        #expect(try await agent.send(ResumableUploadGuide.SendVideo(file: file)).value.id == 7)
        #expect(arrived.withLock { $0 } == film)
        #expect(server.received.contains { $0.method == .patch })
    }
}
