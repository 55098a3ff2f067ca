#if os(Linux) || os(macOS)
import Errand
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite(
    "Uploads to tuspyserver", .enabled("python3 with tuspyserver is needed") { await TusServer.isInstalled() },
    .endsInTime, .leakChecked)
struct TusUploadTests {
    private struct Film: UploadRequest {
        typealias Output = HTTPResponse
        let file: URL
        var method: HTTPMethod { .post }
        var path: String { "files/" }
        var body: RequestBody { .file(file) }
        // Without these, the server responds 400 to a question about an upload.
        var uploadMetadata: [String: String] { ["filename": "film.bin", "filetype": "application/octet-stream"] }
    }

    private let folder: Folder
    private let film: Film

    init() throws {
        folder = try Folder()
        film = Film(file: folder.file("film.bin"))
    }

    private func write(_ count: Int, seed: Int = 1) throws -> Data {
        var random = SeededGenerator(seed: seed)
        let data = Data(random.bytes(count))
        try data.write(to: film.file)
        return data
    }

    private func agent(_ server: TusServer, part: Int64? = nil, segments: Int = 1) -> NetworkAgent {
        let options = UploadOptions(
            directory: folder.url, retry: TransferRetryPolicy(maximumFailures: 10, backoff: .none),
            maximumRequestBytes: part, maximumSegments: segments, minimumSegmentBytes: 1000, progressInterval: .zero)
        return NetworkAgent(baseURL: server.url, transport: .system, filters: [.uploads(options)])
    }

    /// Uploads, and cancels after at most this many further bytes.
    private func leave(_ agent: NetworkAgent, within limit: Int64) async throws {
        let limit = Int64.random(in: 0..<limit)
        var start: Int64?
        for try await event in agent.upload(film) {
            guard case .progress(let progress) = event else { continue }
            let first = start ?? progress.transferred
            start = first
            if progress.transferred > first + limit { break }
        }
        try await eventually { agent.activities.isEmpty }
    }

    @Test(
        "a body is sent whole, with the creating request, and in parts", arguments: [0, 1000, 3_000_000],
        [nil, 700_000])
    func whole(count: Int, part: Int64?) async throws {
        let server = try await TusServer()
        let data = try write(count)
        let response = try await agent(server, part: part).send(film).value
        #expect(200...299 ~= response.status)
        #expect(try server.contents() == [data])
    }

    @Test("a connection that breaks at any byte continues at the server's offset")
    func cut() async throws {
        let server = try await TusServer(cutting: (0..<8).map { _ in .random(in: 10_000..<1_000_000) })
        let data = try write(5_000_000)
        var notices: [TransferNotice] = []
        for try await event in agent(server).upload(film) {
            if case .notice(let notice) = event { notices.append(notice) }
        }
        #expect(try server.contents() == [data])
        #expect(notices.contains { if case .continuing(let offset) = $0 { offset > 0 } else { false } })
    }

    @Test("an upload that is interrupted at any moment is continued by the next start")
    func takenUp() async throws {
        let server = try await TusServer()
        let data = try write(6_000_000)
        let agent = agent(server)
        for _ in 0..<10 { try await leave(agent, within: 1_000_000) }
        _ = try await agent.send(film)
        #expect(try server.contents().contains(data))
    }

    @Test("segments are joined by the server: whole, in parts and cut at any byte", arguments: [2, 5], [nil, 300_000])
    func segments(count: Int, part: Int64?) async throws {
        let server = try await TusServer(cutting: part == nil ? (0..<6).map { _ in .random(in: 10_000..<400_000) } : [])
        let data = try write(5_000_003)
        let response = try await agent(server, part: part, segments: count).send(film).value
        #expect(response.status == 201 && response.location != nil)
        // The server deletes the segments once it has joined them.
        #expect(try server.contents() == [data])
    }

    @Test("an upload in segments that is interrupted at any moment is continued by the next start")
    func segmentsTakenUp() async throws {
        let server = try await TusServer()
        let data = try write(6_000_000)
        let agent = agent(server, segments: 4)
        // Each cancelled upload may block the server for half a minute, because the server waits for the lock on the
        // sent bytes.
        for _ in 0..<2 { try await leave(agent, within: 500_000) }
        _ = try await agent.send(film)
        #expect(try server.contents().contains(data))
    }

    @Test("a file that was changed starts over, and the server forgets the old upload")
    func changed() async throws {
        // Two connections, because a slow machine may not send the bytes over the connection of the first request.
        let server = try await TusServer(cutting: [200_000, 200_000])
        _ = try write(1_000_000)
        var options = UploadOptions(directory: folder.url, retry: .off)
        options.progressInterval = .zero
        let careless = NetworkAgent(baseURL: server.url, transport: .system, filters: [.uploads(options)])
        await #expect(throws: (any Error).self) { try await careless.send(film) }
        let data = try write(1_000_000, seed: 2)
        _ = try await agent(server).send(film)
        #expect(try server.contents() == [data])
    }
}
#endif
