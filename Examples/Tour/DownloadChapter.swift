import Errand
import ErrandExampleShop
import ErrandResumableDownload
import ErrandSystemTransport
import ErrandTesting
import Foundation

/// Downloads a file over a connection that breaks twice. The file arrives complete, and no byte is fetched twice.
enum DownloadChapter {
    private struct GetVideo: DownloadRequest {
        var path: String { "videos/7.mp4" }
        let destination: URL
    }

    static func run(_ shop: Shop) async throws {
        Chapter.begin("A download that goes on where it was")
        let video = Data(repeating: 0x2A, count: 3_000_000)
        shop.server.on(.get, "/v1/videos/7.mp4") { request in
            let whole = TestResponse.ranges(video, etag: "\"take 1\"")
            return request.headers["Range"] == nil || request.headers["Range"] == "bytes=1000000-"
                ? whole.truncated(to: 1_000_000) : whole
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-quickstart-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let agent = NetworkAgent(baseURL: shop.server.url("v1"), transport: .system)
        var last = TransferStatus(state: .connecting)
        for try await event in agent.download(GetVideo(destination: folder)) {
            switch event {
            case .progress(let progress): last = progress
            case .notice(let notice): Chapter.line("\(notice)")
            case .finished(let response):
                let ranges = shop.server.received.filter { $0.path.hasSuffix("7.mp4") }.compactMap {
                    $0.headers["Range"]
                }
                Chapter.line("the server broke off twice, and was asked for \(ranges.joined(separator: ", then "))")
                Chapter.line(
                    "\(last.transferred) of \(last.total ?? 0) bytes are now \(response.value.lastPathComponent)")
            }
        }
        Chapter.end()
    }
}
