#if os(Linux) || os(macOS)
import Errand
import ErrandTesting
import Foundation
import Testing

@Suite("errand-upload", .leakChecked) struct ToolTests {
    private let folder: Folder
    private let film = bytes(6 << 20)

    init() throws {
        folder = try Folder()
        try film.write(to: folder.file("film.mp4"))
    }

    private func start(_ origin: UploadOrigin, _ options: String...) throws -> RunningProgram {
        try Program(built: "errand-upload").start(
            ["--state", folder.path("state"), "--quiet"] + options + [folder.path("film.mp4"), origin.url + "/files"])
    }

    @Test("sends a file, writes the response, and leaves no files", arguments: kinds)
    func sends(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        let ended = try await start(origin, "--header", "X-User: 7", "--metadata", "owner=Ada", "--digest").ended()
        #expect(ended.status == 0 && ended.text == (kind == .tus ? "" : "stored"), "\(ended)")
        #expect(origin.snapshot.bodies.map { Data($0) } == [film])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("state")).isEmpty)
    }

    @Test("a wrong command is reported, with status 2")
    func wrong() async throws {
        let program = try Program(built: "errand-upload")
        for arguments in [
            [], ["a"], ["a", "b"], ["--protocol", "x", "a", "http://b"], ["--tries"], ["--unknown"],
            ["--segments", "17", "a", "http://b"],
        ] {
            let ended = try await program.start(arguments).ended()
            #expect(ended.status == 2 && ended.complaint.hasPrefix("errand-upload: "), "\(arguments)")
        }
        let empty = try await program.start(["--state", "", "/etc/hostname", "http://127.0.0.1:1"]).ended()
        #expect(empty.status == 2 && empty.complaint.contains("--state needs a value"))
        let missing = try await program.start(["--state", folder.path("state"), "/none", "http://127.0.0.1:1"]).ended()
        #expect(missing.status == 2 && missing.complaint.contains("/none"))
        let help = try await program.start(["--help"]).ended()
        #expect(help.status == 0 && help.text.hasPrefix("usage: errand-upload"))
    }

    @Test("a permanent failure ends with status 2, a temporary one with 1")
    func failures() async throws {
        let origin = try UploadOrigin(.draft(8))
        for (status, expected) in [(403, 2), (503, 1)] {
            origin.set { $0.fault = { _, request in request.method == .options ? nil : .respond(status) } }
            let ended = try await start(origin, "--tries", "1").ended()
            #expect(ended.status == expected && ended.complaint.contains("\(status)"), "\(ended)")
        }
    }

    @Test("an upload that is killed twenty times at random arrives once, byte for byte", arguments: kinds)
    func killed(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        var random = SeededGenerator(seed: 7)
        var kills = 0
        while kills < 20, origin.snapshot.bodies.isEmpty {
            // The server stops each body after a random number of bytes until the kill.
            let most = Int.random(in: 0...(film.count / 25), using: &random)
            origin.set {
                $0.fault = { _, request in
                    request.method == .patch || kind != .tus && request.method == .post ? .cut(most, .stall) : nil
                }
            }
            let tool = try start(origin)
            try await eventually { tool.hasEnded || origin.snapshot.stalls > kills }
            tool.signal(SIGKILL)
            let ended = try await tool.ended()
            #expect(ended.status == 0 || ended.wasKilled, "\(ended)")
            kills += 1
            try await origin.server.waitUntilNoConnections()
        }
        origin.set { $0.fault = { _, _ in nil } }
        let last = try await start(origin).ended()
        #expect(last.status == 0 && kills == 20, "\(last)")
        #expect(origin.snapshot.bodies.map { Data($0) } == [film])
        #expect(origin.snapshot.misplaced == 0 && origin.snapshot.log.filter { $0 == "HEAD" }.count > 5)
    }

    @Test("an upload in segments that is killed twenty times at random arrives once, byte for byte")
    func killedInSegments() async throws {
        let origin = try joiningOrigin()
        var random = SeededGenerator(seed: 11)
        for _ in 0..<20 {
            let most = Int.random(in: 0...(film.count / 100), using: &random)
            origin.set { $0.fault = { _, request in request.method == .patch ? .cut(most, .stall) : nil } }
            let stalls = origin.snapshot.stalls + Int.random(in: 0...3, using: &random)
            let tool = try start(origin, "--segments", "4")
            try await eventually { tool.hasEnded || origin.snapshot.stalls > stalls }
            tool.signal(SIGKILL)
            let ended = try await tool.ended()
            #expect(ended.wasKilled, "\(ended)")
            try await origin.server.waitUntilNoConnections()
        }
        origin.set { $0.fault = { _, _ in nil } }
        let last = try await start(origin, "--segments", "4").ended()
        #expect(last.status == 0, "\(last)")
        #expect(origin.snapshot.bodies.map { Data($0) } == [film] && origin.snapshot.joined.count == 1)
        #expect(origin.snapshot.misplaced == 0 && origin.snapshot.log.filter { $0 == "HEAD" }.count > 5)
    }
}
#endif
