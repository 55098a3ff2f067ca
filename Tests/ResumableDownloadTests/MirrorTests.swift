import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandResumableDownload

@Suite("Mirrors, digests and attempts that make progress", .leakChecked) struct MirrorTests {
    private let folder: Folder
    private let film = bytes(900_000)

    init() throws { folder = try Folder() }

    /// Servers with the same file and strong tag, whose responses are all truncated. A front server distributes the
    /// requests to them in a given order.
    private final class Mirrors: Sendable {
        let front: TestServer
        let all: [TestServer]

        init(_ film: Data, order: [Int], cut: Int? = 200_000) throws {
            let all = try (0...(order.max() ?? 0)).map { _ in try TestServer() }
            for mirror in all {
                let whole = TestResponse.ranges(film, etag: "\"1\"")
                mirror.on("/film.mp4", cut.map { whole.truncated(to: $0) } ?? whole)
            }
            self.all = all
            front = try TestServer()
            let count = Mutex(0)
            let places = all.map { $0.url("film.mp4") }
            front.on("/film.mp4") { _ in
                let number = count.withLock { count in
                    defer { count += 1 }
                    return count
                }
                return .redirect(to: places[order[min(number, order.count - 1)]])
            }
        }

        var ranges: [String?] { all.flatMap { $0.received.map(\.range) } }
    }

    private static let turns = (0..<100).map { $0 % 2 }

    @Test("parts from alternating mirrors that break off are joined if a checksum confirms them", arguments: [1, 4])
    func joined(segments: Int) async throws {
        let mirrors = try Mirrors(film, order: Self.turns)
        let request = Get(folder.file("a")).with { $0.checksum = .sha256(sha256(film)) }
        let events = try await events(of: agent(mirrors.front, .system, quick(segments: segments)).download(request))
        #expect(try events.failure == nil && folder.data("a") == film && folder.names == ["a"])
        #expect(mirrors.all.allSatisfy { $0.requestCount > 1 })
        #expect(!events.notices.contains { if case .restarting = $0 { true } else { false } })
    }

    @Test(
        "downloads from alternating mirrors that break off finish even without a checksum",
        arguments: [1, 4])
    func waited(segments: Int) async throws {
        let mirrors = try Mirrors(film, order: Self.turns)
        let events = try await events(
            of: agent(mirrors.front, .system, quick(segments: segments)).download(Get(folder.file("a"))))
        #expect(try events.failure == nil && folder.data("a") == film && folder.names == ["a"])
    }

    @Test("mirrors whose parts don't match the checksum cause one more download, in one piece")
    func wrongMirror() async throws {
        let mirrors = try Mirrors(film, order: [0] + [Int](repeating: 1, count: 20), cut: nil)
        mirrors.all[0].on("/film.mp4", .ranges(bytes(900_000, seed: 2), etag: "\"1\"").truncated(to: 200_000))
        let request = Get(folder.file("a")).with { $0.checksum = .sha256(sha256(film)) }
        try await agent(mirrors.front).send(request)
        #expect(try folder.data("a") == film && mirrors.front.requestCount == 3)
        #expect(mirrors.ranges.last == .some(nil))
    }

    @Test("if a different location keeps responding, the download starts over there")
    func moved() async throws {
        let mirrors = try Mirrors(film, order: [0] + [Int](repeating: 1, count: 20))
        let events = try await events(of: agent(mirrors.front).download(Get(folder.file("a"))))
        #expect(try events.failure == nil && folder.data("a") == film)
        let restarts = events.notices.filter { if case .restarting = $0 { true } else { false } }
        #expect(restarts.count == 1 && "\(restarts)".contains("checksum"))
    }

    @Test(
        "if the location changes with every request, the error suggests a remedy and that another start may succeed"
    )
    func neverTheSame() async throws {
        let mirrors = try Mirrors(film, order: [0] + (0..<20).map { 1 + $0 % 2 })
        let error = await failure { try await agent(mirrors.front).send(Get(folder.file("a"))) }
        let known = try #require(error as? TransferError)
        #expect(known.code == .mirrorMismatch && known.isRetryable && known.message.contains("checksum"))
        let left = try #require(try ResumableDownloadFilter.partialDownloads(in: folder.url).first)
        #expect(left.received == 200_000 && left.canContinue && mirrors.front.requestCount == 6)
    }

    @Test("a wrong digest from the server fetches the file once more, and then fails", arguments: [1, 4])
    func wrongDigest(segments: Int) async throws {
        let wrong = "sha-256=:\(Data(count: 32).base64EncodedString()):"
        for name: HTTPHeaderName in ["Repr-Digest", "Content-Digest"] {
            let origin = try Origin(film)
            origin.set { $0.twist = { _, _, response in response.header(name, wrong) } }
            let error = await failure {
                try await agent(origin.server, .system, quick(segments: segments)).send(Get(folder.file("a")))
            }
            #expect((error as? TransferError)?.code == .serverDigestMismatch && folder.names.isEmpty)
            #expect("\(error as Any)".contains(name.rawName), "\(error as Any)")
            let whole = origin.ranges.filter { $0 == nil }.count
            #expect(whole == (segments == 1 ? 2 : 1), "\(origin.ranges)")
        }
        let origin = try Origin(film)
        let right = "sha-256=:\(Data(sha256(film)).base64EncodedString()):"
        origin.set { [film] in
            $0.twist = { number, _, response in
                let damaged = TestResponse.ranges(film.dropLast() + [0], etag: "\"1\"")
                return (number <= segments ? damaged : response).header("Repr-Digest", right)
            }
        }
        try await agent(origin.server, .system, quick(segments: segments)).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film)
    }

    @Test("attempts that make progress don't count")
    func progress() async throws {
        let origin = try Origin(film)
        origin.set { $0.twist = { _, _, response in response.truncated(to: 20_000) } }
        var options = quick()
        options.retry.maximumFailures = 1
        try await agent(origin.server, .system, options).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && origin.server.requestCount == 45)
    }

    @Test("a file that changes with each attempt doesn't count as progress, and the download ends")
    func changing() async throws {
        let origin = try Origin(film)
        origin.set { [film] in
            $0.twist = { number, request, _ in
                TestResponse.ranges(film, etag: "\"\(number)\"").truncated(to: 1000 * number)
            }
        }
        let error = await failure { try await agent(origin.server).send(Get(folder.file("a"))) }
        #expect(error != nil && origin.server.requestCount < 20)
    }
}
