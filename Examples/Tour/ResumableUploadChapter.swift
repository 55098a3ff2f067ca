import Errand
import ErrandExampleShop
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization

/// Uploads a file over a connection that breaks after two thirds. The rest follows, and the server gets the file once.
enum ResumableUploadChapter {
    private struct SendVideo: UploadRequest {
        typealias Output = String
        let file: URL
        var method: HTTPMethod { .post }
        var path: String { "videos" }
        var body: RequestBody { .file(file) }
    }

    static func run() async throws {
        Chapter.begin("An upload that goes on where the server is")
        let server = try TestServer()
        let count = Mutex(0)
        server.on(
            .post, "/videos",
            reading: .watched { _, piece in
                if piece.isEmpty { return [.inform(104, [.location: "/uploads/7"])] }
                return count.withLock { count in
                    count = min(count + piece.count, 2_000_000)
                    return count < 2_000_000 ? [] : [.reset]
                }
            }
        ) { _ in .status(201) }
        server.on(.head, "/uploads/7") { _ in
            .status(204, headers: ["Upload-Offset": "\(count.withLock { $0 })", "Upload-Complete": "?0"])
        }
        server.on(.patch, "/uploads/7") { request in
            let total = count.withLock { count in
                count += request.body.count
                return count
            }
            return .text("stored \(total) bytes")
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "errand-quickstart-\(UUID()).mp4")
        try Data(repeating: 0x2A, count: 3_000_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.uploads(UploadOptions(uploadProtocol: .draft8))])
        for try await event in agent.upload(SendVideo(file: file)) {
            switch event {
            case .notice(let notice): Chapter.line("\(notice)")
            case .finished(let response): Chapter.line("the server says: \(response.value)")
            default: break
            }
        }
        Chapter.end()
    }
}
