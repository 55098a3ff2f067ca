import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandResumableUpload

@Suite("Files of an upload in segments", .leakChecked) struct SegmentRecordTests {
    private let folder: Folder
    private let records: URL
    private let film = bytes(900_001)

    init() throws {
        folder = try Folder()
        records = folder.file("records")
        try film.write(to: folder.file("film.mp4"))
    }

    private var send: Send { Send(.file(folder.file("film.mp4"))) }
    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: records.path)) ?? [] }

    private func agent(_ origin: UploadOrigin, tries: Int = 5, segments: Int = 4) -> NetworkAgent {
        ErrandResumableUploadTests.agent(origin, quick(in: records, tries: tries, segments: segments))
    }

    /// Interrupts an upload once each segment has some bytes.
    private func leave(_ origin: UploadOrigin, _ count: Int = 100_000) async throws {
        let stalls = origin.snapshot.stalls
        origin.set { $0.fault = { _, request in request.method == .patch ? .cut(count, .stall) : nil } }
        let handle = agent(origin).start(send)
        try await eventually { origin.snapshot.stalls == stalls + 4 }
        handle.cancel()
        _ = try? await handle.value
        try await origin.server.waitUntilNoConnections()
        origin.set {
            $0.fault = { _, _ in nil }
            $0.log = []
        }
    }

    @Test("a later start continues each segment at its offset, and leaves no files at the end", arguments: [1, 2, 4])
    func resumed(segments: Int) async throws {
        let origin = try joiningOrigin()
        try await leave(origin)
        let pending = try ResumableUploadFilter.pendingUploads(in: records)
        #expect(pending.count == 1 && pending.first?.total == 900_001)
        _ = try await agent(origin, segments: segments).send(send)
        #expect(bodies(of: origin) == [film] && names.isEmpty)
        let log = origin.snapshot.log
        #expect(log.filter { $0 == "HEAD" }.count == 4 && log.filter { $0 == "PATCH 100000" }.count == 4)
        #expect(log.count == 9 && log.last == "POST" && origin.snapshot.received == 900_001)
        if segments == 1 { #expect(log == Array(repeating: ["HEAD", "PATCH 100000"], count: 4).joined() + ["POST"]) }
    }

    @Test("an upload that is cancelled at any moment arrives once, byte for byte", arguments: 0..<4)
    func cancelled(seed: Int) async throws {
        let origin = try joiningOrigin()
        var random = SeededGenerator(seed: UInt64(seed) + 1)
        for _ in 0..<12 where origin.snapshot.bodies.isEmpty {
            let most = Int.random(in: 1..<60_000, using: &random)
            let bytes = Int.random(in: 1..<100_000, using: &random)
            origin.set {
                $0.fault = { number, request in
                    if request.method == .patch { return .cut(most, .stall) }
                    return number % 5 == 0 ? .cut(0) : nil
                }
            }
            let before = origin.snapshot
            let handle = agent(origin).start(send)
            try await eventually {
                let now = origin.snapshot
                return now.received > before.received + bytes || now.stalls > before.stalls || handle.activity.isOver
            }
            handle.cancel()
            _ = try? await handle.value
            try await origin.server.waitUntilNoConnections()
        }
        origin.set { $0.fault = { _, _ in nil } }
        if origin.snapshot.bodies.isEmpty { _ = try await agent(origin).send(send) }
        #expect(bodies(of: origin) == [film] && names.isEmpty && origin.snapshot.misplaced == 0)
    }

    @Test("a modified file starts over, and the server discards each segment")
    func changed() async throws {
        let origin = try joiningOrigin()
        try await leave(origin)
        var other = film
        other[300_000] ^= 1
        try other.write(to: folder.file("film.mp4"))
        let upload = agent(origin).upload(send)
        #expect(try await notices(of: upload).map(\.name) == ["restarting"])
        #expect(bodies(of: origin) == [other])
        #expect(origin.snapshot.log.filter { $0 == "DELETE" }.count == 4)
        #expect((1...4).allSatisfy { origin.snapshot.uploads["\($0)"] == nil })
    }

    @Test("a file that is modified while its segments are sent never arrives completely")
    func changedMeanwhile() async throws {
        let origin = try joiningOrigin()
        let path = folder.file("film.mp4")
        let other = bytes(700_000, seed: 3)
        let patches = Counter()
        origin.set {
            $0.fault = { _, request in
                guard request.method == .patch else { return nil }
                patches.increment()
                guard patches.value == 2 else { return nil }
                try? other.write(to: path, options: .atomic)
                return .cut(100_000)
            }
        }
        _ = try await agent(origin).send(send)
        #expect(bodies(of: origin) == [other])
        // Every segment that was begun is deleted.
        #expect(origin.snapshot.log.filter { $0 == "DELETE" }.count == 4)
    }

    @Test("segments of a modified file that may have been joined are left to the server")
    func joined() async throws {
        let origin = try joiningOrigin()
        origin.set { $0.fault = { _, request in UploadOrigin.joins(request) ? .loseResponse : nil } }
        _ = await failure { _ = try await agent(origin).send(send) }
        origin.set { $0.fault = { _, _ in nil } }
        try bytes(900_001, seed: 2).write(to: folder.file("film.mp4"))
        _ = try await agent(origin).send(send)
        #expect(bodies(of: origin) == [film, bytes(900_001, seed: 2)] && !origin.snapshot.log.contains("DELETE"))
    }

    @Test("segments that the server reports as forgotten aren't requested again")
    func expired() async throws {
        let origin = try joiningOrigin()
        origin.set { $0.expires = "Sun, 06 Nov 1994 08:49:37 GMT" }
        try await leave(origin)
        #expect(try ResumableUploadFilter.pendingUploads(in: records).first?.expiry != nil)
        _ = try await agent(origin).send(send)
        #expect(bodies(of: origin) == [film] && !origin.snapshot.log.contains("HEAD"))
    }

    @Test("segments of another body, or with other locations, aren't used")
    func foreign() async throws {
        for change in [
            { (record: inout UploadRecord) in record.segments?[1].start += 1 },
            { $0.segments?.removeLast() },
            { $0.segments?[2].acknowledged = 1 << 50 },
            { $0.segments?[3].resource = URL(string: "file:///etc/passwd").map { UploadResource(url: $0) } },
            { $0.segments = nil },
            { $0.server.extensions = [] },
        ] {
            let origin = try joiningOrigin()
            try await leave(origin)
            let id = try #require(names.first.flatMap(UploadRecordFile.id))
            let file = try UploadRecordFile(id, in: records.path)
            var record = try #require(file.found)
            change(&record)
            try file.write(record)
            _ = consume file
            _ = try await agent(origin).send(send)
            #expect(bodies(of: origin) == [film] && origin.snapshot.log.first == "OPTIONS")
        }
    }

    @Test("a record of an upload in one piece is continued in one piece, even if segments are allowed now")
    func before() async throws {
        let origin = try joiningOrigin()
        origin.set { $0.fault = { _, request in request.method == .patch ? .cut(250_000) : nil } }
        _ = await failure { _ = try await agent(origin, tries: 1, segments: 1).send(send) }
        origin.set {
            $0.fault = { _, _ in nil }
            $0.log = []
        }
        _ = try await agent(origin).send(send)
        #expect(bodies(of: origin) == [film] && origin.snapshot.log == ["HEAD", "PATCH 250000"])
    }

    @Test("a segment without a location in the record is created")
    func partly() async throws {
        let origin = try joiningOrigin()
        try await leave(origin)
        let id = try #require(names.first.flatMap(UploadRecordFile.id))
        let file = try UploadRecordFile(id, in: records.path)
        var record = try #require(file.found)
        record.segments?[2].resource = nil
        try file.write(record)
        _ = consume file
        _ = try await agent(origin).send(send)
        #expect(bodies(of: origin) == [film] && origin.snapshot.log.filter { $0 == "POST" }.count == 2)
    }
}
