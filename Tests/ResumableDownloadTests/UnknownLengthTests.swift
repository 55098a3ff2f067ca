import Errand
import ErrandResumableDownload
import ErrandTesting
import Foundation
import Testing

@Suite("Files without a length", .leakChecked) struct UnknownLengthTests {
    private let folder: Folder
    private let film = bytes(900_000)
    private let origin: Origin

    init() throws {
        folder = try Folder()
        origin = try Origin(film)
    }

    /// The first byte of each requested range; nil for the whole file.
    private var firsts: [Int?] {
        origin.ranges.map { range in range.flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) } }
    }

    /// Sends the first response in chunks, and ends it after this many bytes of the chunked body.
    private func cutChunks(after count: Int) {
        origin.set { resource in
            resource.twist = { number, _, response in
                number == 1 ? response.chunked(sizes: [400_000]).truncated(to: count) : response
            }
        }
    }

    @Test(
        "after an interruption, the remaining bytes are requested with the entity tag as the condition",
        arguments: Wire.allCases)
    func resumes(wire: Wire) async throws {
        cutChunks(after: 600_000)
        try await agent(origin.server, wire).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && folder.names == ["a"])
        #expect(firsts.count == 2 && firsts[0] == nil && firsts[1] ?? 0 > 0)
        #expect(origin.server.received.last?.headers["If-Range"] == "\"1\"")
    }

    @Test("a later start resumes, too, and announces that first", arguments: Wire.allCases)
    func resumesLater(wire: Wire) async throws {
        cutChunks(after: 600_000)
        let request = Get(folder.file("a")).with { $0.downloadOptions = quick(tries: 1) }
        #expect(await failure { try await agent(origin.server, wire).send(request) } != nil)
        let partial = try #require(ResumableDownloadFilter.partialDownloads(in: folder.url).first)
        #expect(partial.canContinue && partial.received > 0 && partial.total == nil)
        try await agent(origin.server, wire).send(request)
        #expect(try folder.data("a") == film && firsts.count == 2 && firsts[1] ?? 0 > 0)
    }

    @Test("several interruptions repeat only the last byte of each", arguments: Wire.allCases)
    func resumesOften(wire: Wire) async throws {
        origin.set { resource in
            resource.twist = { number, _, response in
                number < 4 ? response.chunked(sizes: [100_000]).truncated(to: 200_000) : response
            }
        }
        try await agent(origin.server, wire).send(Get(folder.file("a")))
        let found = firsts.compactMap { $0 }
        #expect(try folder.data("a") == film && found.count == 3 && found == found.sorted() && found[0] > 0)
    }

    @Test("if only the end of the body was lost, one byte is requested")
    func lostEnd() async throws {
        // Sends all chunks, but not the empty chunk that terminates them.
        cutChunks(after: 7 + 400_000 + 2 + 7 + 500_000 + 2)
        try await agent(origin.server).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && firsts == [nil, 899_999])
    }

    @Test("a server that never sends the length gets requests until no bytes are left")
    func neverKnown() async throws {
        let film = film
        origin.set { resource in
            resource.twist = { number, request, response in
                guard number > 1, let first = request.range.flatMap({ Int($0.dropFirst(6).prefix { $0 != "-" }) })
                else {
                    return response.chunked().truncated(to: 300_000)
                }
                if first >= film.count {
                    return TestResponse.status(416).header("Content-Range", "bytes */900000").header("ETag", "\"1\"")
                }
                let last = min(first + 250_000, film.count) - 1
                return TestResponse(status: 206, body: film[first...last])
                    .header("Content-Range", "bytes \(first)-\(last)/*").header("ETag", "\"1\"")
            }
        }
        try await agent(origin.server).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film)
    }

    @Test("bytes of another version are never joined", arguments: Wire.allCases, [true, false])
    func changed(wire: Wire, knowsConditions: Bool) async throws {
        let new = bytes(910_000, seed: 3)
        origin.set { resource in
            resource.twist = { number, request, response in
                if number == 1 { return response.chunked().truncated(to: 600_000) }
                if knowsConditions || request.range == nil { return .ranges(new, etag: "\"2\"") }
                let first = request.range.flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) } ?? 0
                return TestResponse(status: 206, body: new[first...])
                    .header("Content-Range", "bytes \(first)-\(new.count - 1)/\(new.count)").header("ETag", "\"2\"")
            }
        }
        try await agent(origin.server, wire).send(Get(folder.file("a")))
        #expect(try folder.data("a") == new && folder.names == ["a"])
    }

    @Test("a server without ranges sends the whole file, and known bytes aren't written again")
    func withoutRanges() async throws {
        let film = film
        origin.set { resource in
            resource.twist = { number, _, _ in
                let whole = TestResponse.data(film).header("ETag", "\"1\"").chunked()
                return number == 1 ? whole.truncated(to: 600_000) : whole
            }
        }
        let notices = Log<TransferNotice>()
        for try await event in agent(origin.server).download(Get(folder.file("a"))) {
            if case .notice(let notice) = event { notices.add(notice) }
        }
        #expect(try folder.data("a") == film)
        #expect(notices.all.contains { if case .skipping = $0 { true } else { false } })
    }

    @Test("a body of the same version that is shorter than the bytes on disk doesn't count as complete")
    func shorter() async throws {
        let film = film
        origin.set { resource in
            resource.twist = { number, _, _ in
                let count = number == 2 ? 100_000 : 900_000
                let whole = TestResponse.data(film.prefix(count)).header("ETag", "\"1\"").chunked()
                return number == 1 ? whole.truncated(to: 600_000) : whole
            }
        }
        try await agent(origin.server).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film)
    }

    @Test("without a strong entity tag the download starts over", arguments: ["W/\"1\"", nil])
    func weak(tag: String?) async throws {
        origin.set { $0.etag = tag }
        let film = film
        origin.set { resource in
            resource.twist = { number, _, response in
                var response = response
                response.headers.set("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
                if number == 1 { response = response.chunked().truncated(to: 600_000) }
                return response
            }
        }
        try await agent(origin.server).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && firsts == [nil, nil])
    }
}
