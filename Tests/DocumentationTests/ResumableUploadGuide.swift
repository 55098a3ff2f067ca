import Errand
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTesting
import Foundation

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

    static func watch(_ agent: NetworkAgent, _ file: URL, log: (UploadNotice) -> Void) async throws {
        for try await event in agent.upload(SendVideo(file: file)) {
            switch event {
            case .progress(let progress): show(progress.fraction ?? 0, progress.timeLeft)
            case .notice(let notice): log(notice)
            case .finished(let response): show(response.value)
            }
        }
    }

    static func anywhere(_ data: Data) {
        let body = RequestBody.stream(length: Int64(data.count)) { offset in HTTPBody(data.dropFirst(Int(offset))) }
        _ = body
    }

    static func breaks(_ server: TestServer) {
        server.on(
            .post, "/videos",
            reading: .watched { request, piece in
                piece.isEmpty
                    ? [.inform(104, ["Location": "/uploads/7"])] : request.bodyLength > 100_000 ? [.reset] : []
            }
        ) { _ in .status(201) }
    }
}
