#if os(Linux)
import Foundation
import Testing

@Suite("errand-watch", .endsInTime, .leakChecked)
struct WatchCommandTests {
    @Test("help, unknown options and missing directories print a sentence each")
    func arguments() async throws {
        let program = try Program(built: "errand-watch")
        let help = try await program.run(["--help"])
        #expect(help.status == 0 && help.text.hasPrefix("usage: errand-watch [DIRECTORY]") && help.complaint.isEmpty)
        let missing = try await program.run(["/nowhere/at/all"])
        #expect(missing.status == 2)
        #expect(missing.complaint.hasPrefix("errand-watch: there is no directory /nowhere/at/all\n"))
        let file = try await program.run(["/dev/null"])
        #expect(file.status == 2 && file.complaint.contains("/dev/null is not a directory"))
        let both = try await program.run(["--inspect", "/tmp"])
        #expect(both.status == 2 && both.complaint.contains("unknown option: --inspect"))
        let option = try await program.run(["--colour"])
        #expect(option.status == 2 && option.complaint.contains("unknown option: --colour"))
        let two = try await program.run(["/tmp", "/tmp"])
        #expect(two.status == 2)
        let empty = try await program.run([""])
        #expect(empty.status == 2 && empty.complaint.contains("the directory's name is empty"))
    }

    @Test("with a directory, it writes an archive and a waterfall there")
    func files() async throws {
        let folder = try Folder()
        let result = try await Program(built: "errand-watch").run([folder.url.path])
        #expect(result.status == 0, "\(result.complaint)")
        #expect(result.text.contains("the shop has plums, and more"))
        let archive = try Data(contentsOf: folder.file("errand.har"))
        #expect(try JSONSerialization.jsonObject(with: archive) is [String: Any])
        #expect(FileManager.default.fileExists(atPath: folder.path("errand.html")))
    }
}
#endif
