#if os(Linux) || os(macOS)
import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandResumableDownload

@Suite("errand-download", .endsInTime, .leakChecked) struct ToolTests {
    private let folder: Folder
    private let film = bytes(6 << 20)
    private let origin: Origin

    init() throws {
        folder = try Folder()
        origin = try Origin(film)
    }

    private var url: String { origin.server.url("film.mp4") }
    private var destination: String { folder.file("a").path }

    @Test("a file is downloaded from the shell: its path on standard output, plain lines on standard error")
    func plain() async throws {
        let ended = try await Tool(url, destination).ended()
        #expect(ended.status == 0 && ended.text == destination + "\n")
        #expect(try folder.data("a") == film && folder.names == ["a"])
        #expect(ended.complaint.hasSuffix("\n") && ended.complaint.contains("100%"))
        #expect(!ended.complaint.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        let quiet = try await Tool(url, "--directory", folder.url.path, "--quiet", "--segments", "4").ended()
        #expect(quiet.status == 0 && quiet.complaint.isEmpty && quiet.text.hasSuffix("/film.mp4\n"))
        #expect(try folder.data("film.mp4") == film)
    }

    @Test("headers are sent, a digest is checked, and no secret is printed")
    func options() async throws {
        let hex = sha256(film).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let right = try await Tool(
            url, destination, "--sha256", hex, "--header", "X-Key: canary", "--header", "X-Other:b"
        ).ended()
        #expect(right.status == 0 && origin.server.received.last?.headers["X-Key"] == "canary")
        #expect(origin.server.received.last?.headers["X-Other"] == "b")
        let wrong = try await Tool(url, destination, "--sha256", String(repeating: "0", count: 64)).ended()
        #expect(wrong.status == 2 && wrong.complaint.contains("SHA-256"))
        #expect(try folder.data("a") == film && folder.names == ["a"])
        #expect(!(right.complaint + right.text).contains("canary"))
    }

    @Test("the exit status is 1 for temporary failures and 2 for permanent ones, with a one-line message")
    func statuses() async throws {
        func status(_ arguments: String...) async throws -> (Int32, String) {
            let ended = try await Tool(arguments: arguments).ended()
            #expect(ended.text.isEmpty)
            let lines = ended.complaint.split(separator: "\n").filter { $0.hasPrefix("errand-download: ") }
            #expect(lines.count == 1, "\(arguments)")
            return (ended.status, ended.complaint)
        }
        origin.server.on("/gone", .status(404))
        origin.server.on("/busy", .status(503, headers: ["Retry-After": "0"]))
        origin.server.on("/never", .status(503, headers: ["Retry-After": "86400"]))
        origin.server.on("/short", .data(film).truncated(to: 10))
        let place = folder.file("b").path
        #expect(try await status(origin.server.url("gone"), place).0 == 2)
        #expect(try await status(origin.server.url("busy"), place, "--tries", "2").0 == 1)
        #expect(try await status(origin.server.url("never"), place).0 == 1)
        #expect(try await status(origin.server.url("short"), place, "--tries", "2").0 == 1)
        #expect(try await status("http://127.0.0.1:1/x", place, "--tries", "1").0 == 1)
        #expect(try await status(url, "/nowhere/b").0 == 2)
        #expect(try await status(url, "/dev/null").0 == 2)
        for wrong in [
            [], [url, place, "c"], ["ftp://x/y", place], [url, place, "--segments", "0"], [url, place, "--x"],
            [url, place, "--header", "a"], [url, place, "--sha256"], [url, ""], ["http://a b/", place],
        ] {
            let ended = try await Tool(arguments: wrong).ended()
            #expect(ended.status == 2 && ended.complaint.hasPrefix("errand-download: "), "\(wrong)")
        }
        #expect(folder.names.isEmpty)
        let help = try await Tool("--help").ended()
        #expect(help.status == 0 && help.text.hasPrefix("usage: errand-download [OPTION]... URL... [DESTINATION]"))
    }

    @Test("an interrupt ends the program with 130, and the next run continues")
    func interrupt() async throws {
        let gate = Gate()
        origin.holdFirst(at: gate, after: 4 << 20)
        // The server is silent until the gate opens, and other tests may slow this test down.
        let tool = try Tool(url, destination, "--timeout", "600")
        try await eventually {
            try ResumableDownloadFilter.partialDownloads(in: folder.url).contains { $0.received > 1 << 20 }
        }
        kill(tool.identifier, SIGINT)
        let ended = try await tool.ended()
        #expect(ended.status == 130 && ended.complaint.contains("interrupted") && ended.text.isEmpty)
        gate.open()
        #expect(try await Tool(url, destination).ended().status == 0)
        #expect(try folder.data("a") == film && origin.ranges.last.flatMap { $0 } != nil)
    }

    @Test("a second run at the same time is refused, and a full disk doesn't lose bytes")
    func busyAndFull() async throws {
        let gate = Gate()
        origin.holdFirst(at: gate, after: 4 << 20)
        let first = try Tool(url, destination, "--timeout", "600")
        try await origin.server.wait(forRequests: 1)
        let second = try await Tool(url, destination).ended()
        #expect(second.status == 1 && second.complaint.contains("another download"))
        gate.open()
        #expect(try await first.ended().status == 0)
        // A file size limit simulates a disk that fills up midway.
        let full = try await Tool(shell: "trap '' XFSZ; ulimit -f 4096; exec \"$@\"", url, destination).ended()
        #expect(full.status == 2 && full.complaint.contains("written"))
        #expect(try folder.data("a") == film)
        origin.set { _ in }
        #expect(try await Tool(url, destination).ended().status == 0)
        #expect(origin.ranges.last.flatMap { $0 } != nil && folder.names == ["a"])
    }

    @Test(
        "a download that is killed a hundred times at random gives the right file and fetches few bytes twice",
        arguments: [1, 4])
    func killed(segments: Int) async throws {
        origin.set {
            $0.twist = { _, _, response in response.slowly(bytesPerChunk: 64 << 10, every: .milliseconds(1)) }
        }
        var random = SeededGenerator(seed: UInt64(segments))
        var (kills, files, isWhole) = (0, 0, false)
        while kills < 50 || !isWhole {
            let tool = try Tool(url, destination, "--segments", "\(segments)", "--quiet")
            if kills < 50 {
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...180, using: &random)))
                kill(tool.identifier, SIGKILL)
            }
            let ended = try await tool.ended()
            #expect(folder.names.allSatisfy { $0 == "a" || $0.hasPrefix("errand-") })
            #expect(ended.status == 0 || ended.wasKilled, "\(ended)")
            if ended.status != 0 { kills += 1 }
            // Either the whole file is in place, or no file.
            isWhole = FileManager.default.fileExists(atPath: destination)
            if !isWhole { continue }
            #expect(try folder.data("a") == film)
            try FileManager.default.removeItem(at: folder.file("a"))
            files += 1
        }
        // Bytes that the server handed to the system count as fetched, though a killed process hasn't read them all.
        try await origin.server.waitUntilNoConnections()
        let twice = origin.server.sentBytes - Int64(files * film.count)
        #expect(twice <= Int64(kills) << 20, "\(twice) bytes for \(kills) kills")
        #expect(origin.ranges.contains { $0 != nil } && files > 0)
    }
}
#endif
