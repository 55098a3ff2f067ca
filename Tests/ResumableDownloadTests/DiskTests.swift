import Errand
import ErrandDigests
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandResumableDownload

@Suite("Files on the disk", .leakChecked) struct DiskTests {
    private let folder: Folder
    private let film = bytes(500_000)
    private let origin: Origin

    init() throws {
        folder = try Folder()
        origin = try Origin(film)
    }

    /// Interrupts a download, and returns the names of the partial file and its sidecar.
    private func leave(_ count: Int = 300_000, segments: Int = 1) async throws -> (data: String, sidecar: String) {
        origin.breakFirst(after: count)
        let request = Get(folder.file("a")).with { $0.downloadOptions = quick(segments: segments, tries: 1) }
        _ = await failure { try await agent(origin.server).send(request) }
        origin.set { $0.twist = { _, _, response in response } }
        let names = folder.names
        return (
            try #require(names.first { $0.hasSuffix(".part") }),
            try #require(names.first { $0.hasSuffix(".part-info") })
        )
    }

    @Test("during a long part, the record is at most 1 MiB behind, and exact after the transfer")
    func counter() throws {
        let destination = try Destination(folder.file("a"))
        let file = try PartialFile(destination, request: "r", url: "u")
        let total: Int64 = 24 << 20
        let head = HTTPResponse(
            url: URL(filePath: "/"), status: 200, headers: ["ETag": "\"1\"", "Content-Length": "\(total)"])
        try file.startOver(Representation(head, total: total))
        let chunk = bytes(100_000)
        func recorded() throws -> Int64 {
            let name = try #require(folder.names.first { $0.hasSuffix("-info") })
            return SidecarFormat.read(Array(try folder.data(name)), session: PartialFile.session)?.plan.received ?? 0
        }
        var isBehind = false
        while file.plan.received < 20 << 20 {
            #expect(try file.write(chunk, part: 0) == chunk.count)
            let (written, counted) = (file.plan.received, try recorded())
            #expect(written < 16 << 20 ? counted == written : counted <= written && written - counted < 1 << 20)
            isBehind = isBehind || counted < written
            // Space is reserved beyond the end without changing the file's size.
            try file.check(size: written)
        }
        file.count()
        #expect(try isBehind && recorded() == file.plan.received)
        while !file.plan.isDone { _ = try file.write(chunk, part: 0) }
        #expect(try recorded() == total)
        try file.check(size: total)
        try file.startOver(nil)
        try file.check(size: 0)
    }

    @Test("a sidecar that is damaged anywhere isn't trusted", arguments: 0..<60)
    func damagedSidecar(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed) + 1)
        let names = try await leave()
        var sidecar = try folder.data(names.sidecar)
        switch seed % 4 {
        case 0: sidecar = sidecar.prefix(Int.random(in: 0..<sidecar.count, using: &random))
        case 1:
            sidecar = Data(
                (0..<Int.random(in: 0...70_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
        default:
            for _ in 0..<(seed % 4 == 2 ? 1 : 300) {
                sidecar[Int.random(in: 0..<sidecar.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
        }
        try sidecar.write(to: folder.file(names.sidecar))
        // The file can contradict a recorded count, but doesn't always; the checksum decides.
        let digest = Checksum.sha256(sha256(film))
        try await agent(origin.server).send(Get(folder.file("a")).with { $0.checksum = digest })
        #expect(try folder.data("a") == film && folder.names == ["a"])
    }

    @Test(
        "a pipe or a link in place of the download's files doesn't block the download, and isn't written to",
        arguments: 0..<4)
    func planted(variant: Int) async throws {
        let names = try await leave()
        let precious = folder.file("precious")
        for (place, isSidecar) in [(folder.file(names.sidecar), true), (folder.file(names.data), false)] {
            try Data("precious".utf8).write(to: precious)
            try FileManager.default.removeItem(at: place)
            switch variant {
            case 0: #expect(mkfifo(place.path, 0o600) == 0)
            case 1: try FileManager.default.linkItem(at: precious, to: place)
            case 2: try FileManager.default.createSymbolicLink(at: place, withDestinationURL: precious)
            default:
                try FileManager.default.createSymbolicLink(at: place, withDestinationURL: URL(filePath: "/dev/zero"))
            }
            #expect(try ResumableDownloadFilter.partialDownloads(in: folder.url).count == 1)
            let error = await failure { try await agent(origin.server).send(Get(folder.file("a"))) }
            #expect(try folder.data("precious") == Data("precious".utf8))
            if variant == 1, !isSidecar {
                // A file moved into place by a process that was then killed.
                #expect(error == nil)
            } else {
                #expect((error as? TransferError)?.code == .notAFile, "\(isSidecar)")
                try? FileManager.default.removeItem(at: place)
                if isSidecar { _ = try await leave() }
            }
        }
    }

    @Test("a partial file that was truncated, emptied, or replaced by a link or a directory isn't used")
    func damagedData() async throws {
        for damage in 0..<5 {
            let names = try await leave()
            let data = folder.file(names.data)
            let precious = folder.file("precious")
            try Data("precious".utf8).write(to: precious)
            switch damage {
            case 0: try folder.data(names.data).prefix(1000).write(to: data)
            case 1: try Data().write(to: data)
            case 2: try FileManager.default.removeItem(at: data)
            case 3:
                try FileManager.default.removeItem(at: data)
                try FileManager.default.linkItem(at: precious, to: data)
            default:
                try FileManager.default.removeItem(at: data)
                try FileManager.default.createSymbolicLink(at: data, withDestinationURL: precious)
            }
            let error = await failure { try await agent(origin.server).send(Get(folder.file("a"))) }
            #expect(try folder.data("precious") == Data("precious".utf8))
            if damage == 4 {
                #expect((error as? TransferError)?.code == .notAFile)
                try FileManager.default.removeItem(at: data)
            } else {
                #expect(error == nil)
                #expect(try folder.data("a") == film)
            }
        }
    }

    @Test("the record stays if the partial file can't be opened temporarily")
    func unopened() async throws {
        let names = try await leave()
        let (data, aside) = (folder.file(names.data), folder.file("aside"))
        try FileManager.default.moveItem(at: data, to: aside)
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: false)
        let error = await failure { try await agent(origin.server).send(Get(folder.file("a"))) }
        #expect((error as? TransferError)?.code == .notAFile)
        try FileManager.default.removeItem(at: data)
        try FileManager.default.moveItem(at: aside, to: data)
        try await agent(origin.server).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && folder.names == ["a"])
        #expect(origin.ranges.last != .some(nil))
    }

    @Test("a name in a sidecar doesn't lead to another directory")
    func plantedName() async throws {
        try FileManager.default.createDirectory(at: folder.file("dir"), withIntermediateDirectories: false)
        let directory = folder.file("dir")
        origin.breakFirst(after: 300_000)
        _ = await failure {
            try await agent(origin.server, .system, quick(tries: 1)).send(Get(directory))
        }
        origin.set { $0.twist = { _, _, response in response } }
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: directory.path).first { $0.hasSuffix(".part-info") })
        let path = directory.appending(path: name)
        var sidecar = try Data(contentsOf: path)
        var (record, _, sequence) = try #require(SidecarFormat.read(Array(sidecar), session: PartialFile.session))
        #expect(record.name == "film.mp4")
        record.name = "../film.mp4"
        let slot = try #require(SidecarFormat.slot(record, sequence: sequence + 1))
        let place = Int((sequence + 1) % 2) * SidecarFormat.slotSize
        sidecar.replaceSubrange(place..<(place + slot.count), with: slot)
        try sidecar.write(to: path)
        let file = try await agent(origin.server).send(Get(directory)).value
        #expect(file.path == directory.appending(path: "film.mp4").path)
        #expect(origin.ranges.last != .some(nil) && folder.names == ["dir"])
    }

    @Test("a sidecar with the last possible sequence number is treated as damaged")
    func lastSequence() async throws {
        let url = folder.file(try await leave().sidecar)
        var sidecar = try Data(contentsOf: url)
        let found = try #require(SidecarFormat.read(Array(sidecar), session: PartialFile.session))
        let slot = try #require(SidecarFormat.slot(found.record, sequence: .max))
        let place = Int(UInt64.max % 2) * SidecarFormat.slotSize
        if sidecar.count < place + slot.count { sidecar += Data(count: place + slot.count - sidecar.count) }
        sidecar.replaceSubrange(place..<(place + slot.count), with: slot)
        try sidecar.write(to: url)
        try await agent(origin.server).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && folder.names == ["a"])
    }

    @Test("a download that is cancelled during a check keeps its bytes")
    func cancelledCheck() async throws {
        let began = Gate()
        let checked = Get(folder.file("a")).with { request in
            request.checks = [
                ResponseCheck("slow") { _ in
                    began.open()
                    try await Task.sleep(for: .seconds(600))
                }
            ]
        }
        let task = Task { try await agent(origin.server).send(checked) }
        try await began.wait()
        task.cancel()
        #expect(await failure { _ = try await task.value }?.isCancellation == true)
        let left = try #require(ResumableDownloadFilter.partialDownloads(in: folder.url).first)
        #expect(left.received == 500_000 && left.canContinue)
        try await agent(origin.server).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && origin.ranges.last == "bytes=499999-")
    }

    @Test("a file that was complete when the process was killed is finished with one more byte")
    func wholeBefore() async throws {
        let names = try await leave(499_999)
        // As if the process had died after the last byte and before the rename.
        try film.write(to: folder.file(names.data))
        var sidecar = try folder.data(names.sidecar)
        let (record, _, _) = try #require(SidecarFormat.read(Array(sidecar), session: PartialFile.session))
        let counter = SidecarFormat.counter(500_000, part: 0, plan: record.plan)
        sidecar.replaceSubrange(SidecarFormat.counters..<(SidecarFormat.counters + counter.count), with: counter)
        try sidecar.write(to: folder.file(names.sidecar))
        try await agent(origin.server).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && origin.ranges.last == "bytes=499999-")
    }

    @Test("after a crash of the machine, only flushed bytes count")
    func crash() async throws {
        let names = try await leave()
        var sidecar = try folder.data(names.sidecar)
        let (record, _, sequence) = try #require(SidecarFormat.read(Array(sidecar), session: PartialFile.session))
        var old = record
        old.session = "another"
        let slot = try #require(SidecarFormat.slot(old, sequence: sequence + 1))
        let place = Int((sequence + 1) % 2) * SidecarFormat.slotSize
        sidecar.replaceSubrange(place..<(place + slot.count), with: slot)
        try sidecar.write(to: folder.file(names.sidecar))
        try await agent(origin.server).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && origin.ranges.last == .some(nil))
    }

    @Test("a destination where a file can't be created fails with a typed error")
    func places() async throws {
        let agent = agent(origin.server)
        func code(_ url: URL) async -> TransferError.Code? {
            (await failure { try await agent.send(Get(url)) } as? TransferError)?.code
        }
        try FileManager.default.createDirectory(at: folder.file("dir/film.mp4"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: folder.file("link"), withDestinationURL: folder.file("nowhere"))
        #expect(await code(folder.file("missing/a")) == .noDirectory)
        #expect(await code(folder.file("missing/")) == .noDirectory)
        #expect(await code(folder.file("link")) == .notAFile)
        #expect(await code(URL(filePath: "/dev/null")) == .notAFile)
        #expect(await code(try #require(URL(string: "https://example.com/a"))) == .invalidRequest)
        #expect(await code(folder.file(String(repeating: "a", count: 300))) == .invalidRequest)
        #if os(Linux)
        #expect(await code(URL(filePath: "/sys/errand")) == .noPermission)
        #endif
        #expect(origin.server.requestCount == 0)
        // If a directory has the name already, the file gets a number, or the download fails.
        let file = try await agent.send(Get(folder.file("dir"))).value
        #expect(file.lastPathComponent == "film (2).mp4")
        let options = quick(clash: .replace)
        let error = await failure {
            try await agent.send(Get(folder.file("dir")).with { $0.downloadOptions = options })
        }
        #expect((error as? TransferError)?.code == .notAFile)
    }

    @Test("a file that doesn't fit the disk is refused before it is fetched, and the old file stays")
    func noSpace() async throws {
        try Data("old".utf8).write(to: folder.file("a"))
        origin.set { $0.twist = { _, _, response in response.contentLength(1 << 58) } }
        let error = await failure { try await agent(origin.server).send(Get(folder.file("a"))) }
        #expect((error as? TransferError)?.code == .noSpace)
        #expect(try folder.data("a") == Data("old".utf8) && folder.names == ["a"])
    }

    @Test("if two downloads have the same destination at the same time, the second fails")
    func busy() async throws {
        let gate = Gate()
        origin.set { $0.twist = { _, _, response in response.waiting(for: gate, afterBodyBytes: 1000) } }
        let agent = agent(origin.server)
        let first = agent.start(Get(folder.file("a")))
        _ = try await origin.server.nextRequest()
        for path in ["film.mp4", "other"] {
            let error = await failure { try await agent.send(Get(folder.file("a"), path: path)) }
            #expect((error as? TransferError)?.code == .busy && (error as? TransferError)?.isRetryable == true)
        }
        let leftovers = try ResumableDownloadFilter.partialDownloads(in: folder.url)
        #expect(leftovers.count == 1 && leftovers[0].isActive)
        #expect(try ResumableDownloadFilter.removePartialDownloads(in: folder.url) == 0)
        gate.open()
        _ = try await first.value
        #expect(try folder.data("a") == film)
    }

    @Test("partial files can be listed, continued and cleared")
    func leftovers() async throws {
        #expect(try ResumableDownloadFilter.partialDownloads(in: folder.url).isEmpty)
        _ = try await leave()
        let left = try #require(try ResumableDownloadFilter.partialDownloads(in: folder.url).first)
        #expect(left.received > 0 && left.total == 500_000 && left.canContinue && !left.isActive && left.name == "a")
        #expect(left.url == origin.server.url("film.mp4"))
        #expect(try ResumableDownloadFilter.removePartialDownloads(in: folder.url, olderThan: .seconds(3600)) == 0)
        try left.remove()
        #expect(folder.names.isEmpty)
        _ = try await leave()
        #expect(try ResumableDownloadFilter.removePartialDownloads(in: folder.url) == 1 && folder.names.isEmpty)
        // After a 404 the file may come back, so the partial file stays; after a 410 it is removed.
        _ = try await leave()
        origin.set { $0.twist = { _, _, _ in .status(404) } }
        _ = await failure { try await agent(origin.server).send(Get(folder.file("a"))) }
        #expect(try ResumableDownloadFilter.partialDownloads(in: folder.url).first?.received ?? 0 > 0)
        origin.set { $0.twist = { _, _, _ in .status(410) } }
        _ = await failure { try await agent(origin.server).send(Get(folder.file("a"))) }
        #expect(folder.names.isEmpty)
        #expect(throws: TransferError.self) { try ResumableDownloadFilter.partialDownloads(in: folder.file("missing")) }
    }

    @Test("progress intervals of any length don't trap", arguments: [1, -1])
    func endlessInterval(sign: Int) async throws {
        // Almost the longest duration.
        let endless = (Duration.seconds(Int64.max) * 18 + .seconds(4_120_486_797_083_267_000)) * sign
        origin.breakFirst(after: 300_000)
        let request = Get(folder.file("a")).with {
            $0.downloadOptions = quick()
            $0.downloadOptions?.progressInterval = endless
        }
        _ = try await agent(origin.server).send(request)
        #expect(try folder.data("a") == film)
    }

    @Test("the age of partial files is checked for limits and dates of any size")
    func ages() async throws {
        _ = try await leave()
        let name = try #require(folder.names.first { $0.hasSuffix(".part") })
        func change(_ date: Date) throws {
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.file(name).path)
        }
        func removed(_ age: Duration) throws -> Int {
            try ResumableDownloadFilter.removePartialDownloads(in: folder.url, olderThan: age)
        }
        // The seconds of this duration don't fit in 64 bits.
        let endless = Duration.seconds(Int64.max) * 18
        try change(Date(timeIntervalSince1970: -2_000_000_000))
        #expect(try removed(endless) == 0 && removed(.seconds(Int64.max)) == 0)
        // Written while the clock was wrong.
        try change(Date() + 5_000_000_000)
        #expect(try removed(.zero) == 0 && removed(endless) == 0)
        #expect(try removed(.zero - endless) == 1 && folder.names.isEmpty)
        _ = try await leave()
        try change(Date(timeIntervalSince1970: -2_000_000_000))
        #expect(try removed(.seconds(3_000_000_000)) == 1 && folder.names.isEmpty)
    }

    @Test("no secret is stored next to the file")
    func secrets() async throws {
        origin.breakFirst(after: 300_000)
        let request = Get(folder.file("a"), path: "film.mp4?token=canary-1").with {
            $0.headers = ["Authorization": "Bearer canary-2", "X-Key": "canary-3"]
            $0.downloadOptions = quick(tries: 1)
        }
        _ = await failure { try await agent(origin.server).send(request) }
        let sidecar = try #require(folder.names.first { $0.hasSuffix(".part-info") })
        #expect(try folder.data(sidecar).range(of: Data("canary".utf8)) == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file(sidecar).path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("the requested digest and the server's own digest are checked", arguments: [1, 4])
    func digests(segments: Int) async throws {
        let right = sha256(film)
        let agent = agent(origin.server, .system, quick(segments: segments))
        origin.breakFirst(after: 100_000)
        try await agent.send(Get(folder.file("a")).with { $0.checksum = .sha256(right) })
        #expect(try folder.data("a") == film)
        try Data("old".utf8).write(to: folder.file("a"))
        for wrong in [Checksum.sha256([UInt8](repeating: 0, count: 32)), .sha256("xyz")] {
            let error = await failure { try await agent.send(Get(folder.file("a")).with { $0.checksum = wrong }) }
            #expect([.expectedChecksumMismatch, .invalidRequest].contains((error as? TransferError)?.code))
        }
        #expect(try folder.data("a") == Data("old".utf8) && folder.names == ["a"])
        let field = "sha-256=:\(Data(right).base64EncodedString()):"
        for (name, value, isRight) in [
            ("Repr-Digest", field, true), ("Repr-Digest", "sha-256=:\(Data(count: 32).base64EncodedString()):", false),
            ("Content-Digest", "sha-256=:\(Data(count: 32).base64EncodedString()):", false),
            ("Repr-Digest", "sha-512=:AAAA:", true),
        ] {
            origin.set { $0.twist = { _, _, response in response.header(HTTPHeaderName(name), value) } }
            let error = await failure { try await agent.send(Get(folder.file("b"))) }
            #expect((error == nil) == isRight, "\(name)")
            if !isRight {
                #expect([.serverDigestMismatch, .unusableResponse].contains((error as? TransferError)?.code))
                #expect(!FileManager.default.fileExists(atPath: folder.file("b").path))
            }
            try? FileManager.default.removeItem(at: folder.file("b"))
        }
        #expect(folder.names == ["a"])
    }
}

func sha256(_ data: Data) -> [UInt8] {
    var digest = PlatformSHA256.make()
    digest.update(data.span)
    return digest.finalized()
}
