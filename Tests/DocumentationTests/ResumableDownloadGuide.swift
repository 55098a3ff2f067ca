import Errand
import ErrandResumableDownload
import ErrandSystemTransport
import ErrandTesting
import Foundation

/// The code of docs/resumable-download.md.
enum ResumableDownloadGuide {
    struct GetVideo: DownloadRequest {
        var path: String { "videos/7.mp4" }
        let destination: URL  // a file, or a directory
    }

    static func send(_ folder: URL) async throws {
        let agent = NetworkAgent(baseURL: "https://example.com", transport: .system)
        let file = try await agent.send(GetVideo(destination: folder)).value
        _ = file
    }

    static func watch(
        _ agent: NetworkAgent, _ folder: URL, show: (Double, Duration?) -> Void, log: (TransferNotice) -> Void,
        play: (URL) -> Void
    ) async throws {
        for try await event in agent.download(GetVideo(destination: folder)) {
            switch event {
            case .progress(let status): show(status.fraction ?? 0, status.timeLeft)
            case .notice(let notice): log(notice)
            case .finished(let response): play(response.value)
            }
        }
    }

    static func breaks(_ server: TestServer, _ film: Data) {
        server.on("/videos/7.mp4", .ranges(film, etag: "\"1\"").truncated(to: 100_000))
    }
}
