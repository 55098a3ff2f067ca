import Errand
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandResumableDownload

@Suite("Segments that take over work from each other", .endsInTime, .leakChecked) struct SegmentTests {
    private let folder: Folder
    private let film = bytes(4 << 20)
    private let origin: Origin

    init() throws {
        folder = try Folder()
        origin = try Origin(film)
    }

    private func agent(_ time: ManualTimeSource, minimum: Int64) -> NetworkAgent {
        var options = quick(segments: 4)
        options.minimumSegmentBytes = minimum
        return NetworkAgent(
            baseURL: origin.server.url, transport: .system, filters: [.downloads(options)], time: time)
    }

    @Test(
        "a range that stalls is finished by other segments, whole or in halves",
        arguments: [Int64(64 << 10), 1 << 20], [0, 100_000])
    func stopped(minimum: Int64, after count: Int) async throws {
        let (time, gate) = (ManualTimeSource(), Gate())
        defer { gate.open() }
        // The gate stays closed, so code that waits for that response hangs.
        origin.set {
            $0.twist = { number, _, response in
                guard number == 3 else { return response }
                return count == 0 ? response.waiting(for: gate) : response.waiting(for: gate, afterBodyBytes: count)
            }
        }
        let request = Get(folder.file("a")).with { $0.timeout = .seconds(1_000_000) }
        _ = try await agent(time, minimum: minimum).start(request).value(passing: time, by: .milliseconds(50))
        #expect(try folder.data("a") == film && folder.names == ["a"] && !gate.isOpen)
        #expect(origin.ranges.count >= 4)
    }

    @Test("a slow range is shared among segments, without missing bytes", arguments: [Int64(64 << 10), 256 << 10])
    func drips(minimum: Int64) async throws {
        let time = ManualTimeSource()
        origin.set {
            $0.twist = { number, _, response in
                number == 2 ? response.slowly(bytesPerChunk: 512, every: .milliseconds(200)) : response
            }
        }
        let request = Get(folder.file("a")).with {
            $0.timeout = .seconds(1_000_000)
            $0.checksum = .sha256(sha256(film))
        }
        _ = try await agent(time, minimum: minimum).start(request).value(passing: time, by: .milliseconds(50))
        #expect(try folder.data("a") == film && folder.names == ["a"])
        // At this speed, the range would have taken six minutes; its second half was requested again.
        #expect(origin.ranges.count > 5)
    }

    @Test("if slow ranges are all cancelled, the next run continues", arguments: 0..<5)
    func cancelled(seed: Int) async throws {
        let time = ManualTimeSource()
        origin.set { $0.twist = { _, _, response in response.slowly(bytesPerChunk: 8 << 10, every: .milliseconds(1)) } }
        let request = Get(folder.file("a")).with { $0.timeout = .seconds(1_000_000) }
        let agent = agent(time, minimum: 64 << 10)
        let handle = agent.start(request)
        let passing = Task { try await handle.value(passing: time, by: .milliseconds(50)) }
        try await eventually {
            try ResumableDownloadFilter.partialDownloads(in: folder.url).first?.received ?? 0 > Int64(seed) * 500_000
        }
        handle.cancel()
        _ = await passing.result
        origin.set { $0.twist = { _, _, response in response } }
        // A cancelled run ends at once, but releases the file a moment later.
        while folder.names != ["a"] {
            do { try await agent.send(request) } catch let error as TransferError where error.code == .busy {
                await Task.yield()
            }
        }
        #expect(try folder.data("a") == film && folder.names == ["a"])
    }

    @Test("a part that is split while it is written doesn't count more bytes than the disk has")
    func divided() async throws {
        let destination = try Destination(folder.file("a"))
        let file = try PartialFile(destination, request: "r", url: "u")
        var representation = Representation(
            HTTPResponse(
                url: URL(filePath: "/"), status: 200, headers: ["ETag": "\"1\"", "Content-Length": "\(film.count)"]),
            total: Int64(film.count))
        representation.source = ""
        try file.startOver(representation)
        // Each task claims half of a remaining part, while another task writes.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try Self.fill(file, 0, film) }
            group.addTask {
                for _ in 0..<40 {
                    let rest = file.plan.parts.filter { !$0.isDone }.max { $0.left ?? 0 < $1.left ?? 0 }
                    if let rest, let start = file.halve(rest.start, minimum: 1000) {
                        try Self.fill(file, start, film)
                    }
                    let (record, plan, _) = try #require(
                        SidecarFormat.read(
                            Array(folder.data(folder.names.first { $0.hasSuffix("-info") } ?? "")),
                            session: PartialFile.session))
                    #expect(plan.received <= file.plan.received && record.flushed.received <= plan.received)
                }
            }
            try await group.waitForAll()
        }
        for part in file.plan.parts where !part.isDone { try Self.fill(file, part.start, film) }
        #expect(file.plan.isDone && file.plan.received == Int64(film.count))
        #expect(try file.read(at: 0, film.count) == film)
        let found = SidecarFormat.read(
            Array(try folder.data(folder.names.first { $0.hasSuffix("-info") } ?? "")), session: PartialFile.session)
        #expect(found?.plan == file.plan)
    }

    private static func fill(_ file: PartialFile, _ start: Int64, _ film: Data) throws {
        while let part = file.part(start), !part.isDone {
            let end = min(Int(part.next) + 3000, film.count)
            _ = try file.write(film[Int(part.next)..<end], part: start)
        }
    }
}
