import Errand
import ErrandCompression
import ErrandExampleShop
import ErrandMultipart
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization

/// Uploads a form with a file, shows progress, compresses a body, and reads a multipart response.
enum UploadChapter {
    private struct UploadPhoto: Request {
        typealias Output = Void
        let photo: URL
        var method: HTTPMethod { .post }
        var path: String { "photos" }
        var body: RequestBody {
            .multipart(.field("title", "Apples"), .file(photo, name: "photo", contentType: "image/jpeg"))
        }
    }

    static func run(_ shop: Shop) async throws {
        Chapter.begin("Uploads: a form with a file, a compressed body, a response in parts")
        let server = try TestServer()
        server.on(.post, "/photos", .redirect(to: "/archive", status: 307))
        server.on("/archive", .status(201))
        server.on(.get, "/album") { request in
            let parts = ["one", "two"].map { "--cut\r\nContent-Type: text/plain\r\n\r\npage \($0)\r\n" }
            return .data(Data((parts.joined() + "--cut--").utf8), contentType: "multipart/mixed; boundary=cut")
        }
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let photo = FileManager.default.temporaryDirectory.appending(path: "errand-quickstart-\(UUID().uuidString).jpg")
        try Data(repeating: 0x2E, count: 1_000_000).write(to: photo)
        defer { try? FileManager.default.removeItem(at: photo) }
        let steps = Mutex<[Int: [Double]]>([:])
        let options = CallOptions(progress: { progress in
            steps.withLock { $0[progress.transfer, default: []].append(progress.fraction ?? 0) }
        })
        try await agent.send(UploadPhoto(photo: photo), options: options)
        for (transfer, fractions) in steps.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            Chapter.line("transfer \(transfer) ended at \(Int((fractions.last ?? 0) * 100)) %")
        }
        let gzip = CallOptions(filters: [.bodyCompression(.gzip)])
        try await agent.send(Call<Void>(.put, "archive", body: .file(photo)), options: gzip)
        if let last = server.received.last {
            Chapter.line(
                "1,000,000 bytes went out as \(last.bodyLength), in \(last.headers[.contentEncoding] ?? "")")
        }
        for try await part in try await agent.send(Call<ReceivedParts>(.get, "album")).value {
            Chapter.line(String(decoding: try await part.data(upTo: 1000), as: UTF8.self))
        }
        Chapter.end()
    }
}
