import Errand
import ErrandResumableUpload
import ErrandSystemTransport
import Foundation
import Testing

@Suite("Uploads to NIOResumableUpload", .timeLimit(.minutes(10))) struct NIOUploadTests {
    struct Film: UploadRequest {
        typealias Output = String
        let file: URL
        var method: HTTPMethod { .post }
        var path: String { "films" }
        var body: RequestBody { .file(file) }
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    private var film: Film { Film(file: folder.appending(path: "film.bin")) }

    private func write(_ count: Int) throws -> Data {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var generator = SystemRandomNumberGenerator()
        let words = (0..<(count / 8 + 1)).map { _ in generator.next() }
        let data = words.withUnsafeBytes { Data($0.prefix(count)) }
        try data.write(to: film.file)
        return data
    }

    private func agent(_ server: NIOUploadServer, _ uploadProtocol: UploadProtocol = .automatic, part: Int64? = nil)
        -> NetworkAgent
    {
        let options = UploadOptions(
            directory: folder, uploadProtocol: uploadProtocol,
            retry: TransferRetryPolicy(maximumFailures: 10, backoff: .none), maximumRequestBytes: part,
            progressInterval: .zero)
        return NetworkAgent(baseURL: server.url, transport: .system, filters: [.uploads(options)])
    }

    @Test("a body is sent whole and in parts", arguments: [0, 1000, 5_000_000], [nil, 700_000])
    func whole(count: Int, part: Int64?) async throws {
        let server = try await NIOUploadServer()
        let data = try write(count)
        #expect(try await agent(server, part: part).send(film).value == "done")
        #expect(server.bodies == [data])
        try await server.stop()
    }

    @Test("an older version of the protocol can be chosen", arguments: [UploadProtocol.automatic, .draft6])
    func version(uploadProtocol: UploadProtocol) async throws {
        let server = try await NIOUploadServer()
        let data = try write(100_000)
        #expect(try await agent(server, uploadProtocol).send(film).value == "done")
        #expect(server.bodies == [data])
        try await server.stop()
    }

    @Test("a connection that breaks at any byte continues at the server's offset")
    func cut() async throws {
        let server = try await NIOUploadServer(cutting: (0..<8).map { _ in .random(in: 400..<1_000_000) })
        let data = try write(5_000_000)
        var notices: [TransferNotice] = []
        for try await event in agent(server).upload(film) {
            if case .notice(let notice) = event { notices.append(notice) }
        }
        #expect(server.bodies == [data])
        #expect(notices.contains { if case .continuing(let offset) = $0 { offset > 0 } else { false } })
        try await server.stop()
    }

    @Test("an upload that is interrupted at any moment is continued by the next start")
    func takenUp() async throws {
        let server = try await NIOUploadServer()
        let data = try write(6_000_000)
        let agent = agent(server)
        for _ in 0..<10 {
            let limit = Int64.random(in: 0..<1_000_000)
            var start: Int64?
            for try await event in agent.upload(film) {
                guard case .progress(let progress) = event else { continue }
                let first = start ?? progress.transferred
                start = first
                if progress.transferred > first + limit { break }
            }
            while !agent.activities.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        }
        _ = try await agent.send(film)
        #expect(server.bodies.contains(data) && server.bodies.allSatisfy { $0 == data })
        try await server.stop()
    }
}
