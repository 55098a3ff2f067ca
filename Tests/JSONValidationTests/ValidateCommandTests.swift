import Foundation
import Testing

@testable import errand_validate

@Suite("errand-validate", .timeLimit(.minutes(10)))
struct ValidateCommandTests {
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(
            path: "errand-validate-\(UInt64.random(in: 0 ... .max))")

        init(_ files: [String: String]) throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            for (name, text) in files { try Data(text.utf8).write(to: url.appending(path: name)) }
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        func path(_ name: String) -> String { url.appending(path: name).path() }
    }

    private func folder() throws -> Folder {
        try Folder([
            "example.json": #"[{"id":1,"name":"Ada"}]"#, "right.json": #"[{"id":2,"name":"Bob"}]"#,
            "wrong.json": #"[{"id":"2"}]"#, "broken.json": "[1",
            "many.json": "[\(Array(repeating: "1", count: 50).joined(separator: ","))]",
        ])
    }

    private func run(_ arguments: [String]) -> (ValidateCommand.Outcome, output: [String], complaints: [String]) {
        var (output, complaints): ([String], [String]) = ([], [])
        let outcome = withoutActuallyEscaping({ output.append($0) }) { print in
            withoutActuallyEscaping({ complaints.append($0) }) { complain in
                ValidateCommand(arguments: arguments, output: print, complaint: complain).run()
            }
        }
        return (outcome, output, complaints)
    }

    @Test("a document that fits")
    func valid() throws {
        let folder = try folder()
        let result = run([folder.path("example.json"), folder.path("right.json")])
        #expect(result.0 == .valid && result.output.isEmpty && result.complaints.isEmpty)
    }

    @Test("a document that does not fit is explained, a line for each problem")
    func invalid() throws {
        let folder = try folder()
        let result = run([folder.path("example.json"), folder.path("wrong.json")])
        #expect(result.0 == .invalid)
        #expect(
            result.output == [
                "/0/id: expected an integer, found a string (byte 7)", "/0/name: missing, expected a string",
            ])
        #expect(run([folder.path("example.json"), folder.path("broken.json")]).0 == .invalid)
        #expect(run([folder.path("example.json"), folder.path("many.json")]).output.last == "… and 30 more")
    }

    @Test("what cannot be used")
    func unusable() throws {
        let folder = try folder()
        let (example, right) = (folder.path("example.json"), folder.path("right.json"))
        for arguments in [
            [], [example], [example, right, right], ["--strict", right], [example, folder.path("none.json")],
            [folder.path("broken.json"), right],
        ] {
            let result = run(arguments)
            #expect(result.0 == .unusable && result.output.isEmpty && !result.complaints.isEmpty, "\(arguments)")
        }
        #expect(run(["--help"]).output.first?.hasPrefix("usage: errand-validate EXAMPLE.json DOCUMENT.json") == true)
    }

    #if os(Linux) || os(macOS)
    @Test(
        "the process has the exit status 0, 1 or 2",
        arguments: [("right.json", 0), ("wrong.json", 1), ("none.json", 2)] as [(String, Int32)])
    func process(document: String, status: Int32) async throws {
        let folder = try folder()
        let executable: URL = try #require(Self.executable, "errand-validate is not beside the tests")
        let process = Process()
        process.executableURL = executable
        process.arguments = [folder.path("example.json"), folder.path(document)]
        let (output, complaints) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = complaints
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        let complained = try complaints.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == status)
        #expect(printed.isEmpty == (status != 1) && complained.isEmpty == (status != 2))
    }

    /// The build puts it beside the tests, which stand within a bundle on Apple's platforms.
    private static var executable: URL? {
        var folder = URL(filePath: CommandLine.arguments[0])
        for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") { folder = bundle.bundleURL }
        for _ in 0..<4 {
            folder.deleteLastPathComponent()
            let candidate = folder.appending(path: "errand-validate")
            if FileManager.default.isExecutableFile(atPath: candidate.path()) { return candidate }
        }
        return nil
    }
    #endif
}
