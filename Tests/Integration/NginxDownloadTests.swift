#if os(Linux) || os(macOS)
import Errand
import ErrandResumableDownload
import ErrandURLSessionTransport
import Foundation
import Testing

@Suite(
    "Downloads from nginx", .serialized, .enabled(if: Nginx.isInstalled, "\(Nginx.skipReason)"),
    .endsInTime, .leakChecked)
struct NginxDownloadTests {
    struct Film: DownloadRequest {
        var path = "/film.bin"
        let destination: URL
    }

    private static let new = Data(Nginx.film.reversed()) + Data("new".utf8)

    private func agent(_ nginx: Nginx, _ kind: NginxTests.Kind, segments: Int = 1) -> NetworkAgent {
        let options = DownloadOptions(
            maximumSegments: segments, minimumSegmentBytes: 64 << 10, retry: TransferRetryPolicy(backoff: .none),
            progressInterval: .zero)
        return NetworkAgent(baseURL: nginx.url, transport: kind.transport, filters: [.downloads(options)])
    }

    /// Starts a download and cancels it once some bytes are on disk. Tries again if a busy machine had the whole file
    /// before the cancellation.
    private func leave(_ request: Film, on agent: NetworkAgent) async throws -> Int64 {
        for _ in 0..<20 {
            for try await event in agent.download(request) {
                if case .progress(let progress) = event, progress.transferred > 100_000 { break }
            }
            while !agent.activities.isEmpty { await Task.yield() }
            let folder = request.destination.deletingLastPathComponent()
            if let left = try ResumableDownloadFilter.partialDownloads(in: folder).first { return left.received }
            try FileManager.default.removeItem(at: request.destination)
        }
        return 0
    }

    /// Replaces the file atomically, as a careful publisher does.
    private func publish(_ data: Data, on nginx: Nginx) throws {
        try data.write(to: nginx.folder.appendingPathComponent("www/film.bin"), options: .atomic)
    }

    @Test("files are downloaded whole, in segments, and by name into a directory", arguments: NginxTests.Kind.allCases)
    func whole(kind: NginxTests.Kind) async throws {
        let nginx = try await Nginx()
        for segments in [1, 2, 8] {
            let file = try await agent(nginx, kind, segments: segments).send(Film(destination: nginx.folder)).value
            #expect(try Data(contentsOf: file) == Nginx.film)
            let text = Film(path: "/moved", destination: nginx.folder)
            let moved = try await agent(nginx, kind, segments: segments).send(text).value
            #expect(moved.lastPathComponent.hasPrefix("text") && moved.pathExtension == "txt")
            #expect(try Data(contentsOf: moved) == Data(Nginx.text.utf8))
        }
    }

    @Test(
        "interrupted downloads continue, with an entity tag, with a date, and without ranges",
        arguments: NginxTests.Kind.allCases,
        [1, 8])
    func takenUp(kind: NginxTests.Kind, segments: Int) async throws {
        let nginx = try await Nginx()
        let old = Date(timeIntervalSinceNow: -3600)
        let source = nginx.folder.appendingPathComponent("www/film.bin").path
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: source)
        for path in ["/slow/film.bin", "/old/film.bin", "/none/film.bin"] {
            let request = Film(path: path, destination: nginx.folder.appendingPathComponent("a"))
            let agent = agent(nginx, kind, segments: segments)
            let left = try await leave(request, on: agent)
            #expect(left > 0)
            let response = try await agent.send(request)
            #expect(try Data(contentsOf: response.value) == Nginx.film)
        }
        #expect(try ResumableDownloadFilter.partialDownloads(in: nginx.folder).isEmpty)
    }

    @Test(
        "a file that changes during the download is never joined with the old file",
        arguments: NginxTests.Kind.allCases, [1, 2, 8])
    func changes(kind: NginxTests.Kind, segments: Int) async throws {
        let nginx = try await Nginx()
        let agent = agent(nginx, kind, segments: segments)
        let request = Film(path: "/slow/film.bin", destination: nginx.folder.appendingPathComponent("a"))
        // The file is replaced between two starts.
        #expect(try await leave(request, on: agent) > 0)
        try publish(Self.new, on: nginx)
        #expect(try Data(contentsOf: await agent.send(request).value) == Self.new)
        // The file is replaced during a download. Pauses make the download send new requests.
        let download = agent.download(request)
        var versions = [Nginx.film, Self.new]
        for try await event in download {
            guard case .progress(let progress) = event, progress.transferred > 100_000, let version = versions.popLast()
            else { continue }
            download.pause()
            try publish(version, on: nginx)
            download.resume()
        }
        let data = try Data(contentsOf: await download.file)
        #expect(data == Nginx.film || data == Self.new)
    }
}
#endif
