#if os(Linux) || os(macOS)
import Foundation
import Testing

/// Checks the script that people run if Errand doesn't compile for them.
@Suite("What the build report shows", .endsInTime) struct BuildReportTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().standardizedFileURL

    private static func report(on log: String) throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "build-\(UUID().uuidString).log")
        try log.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let script = Process()
        script.executableURL = root.appending(path: "Tests/Platforms/report")
        script.arguments = [file.path]
        script.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": "/private/ada", "USER": "ada",
        ]
        let output = Pipe()
        script.standardOutput = output
        try script.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        script.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    @Test("the report shows the first error with the lines around it, and no text that names a person")
    func error() throws {
        let path = root("Sources/Core/HTTP/Body/RequestBody.swift")
        let report = try Self.report(
            on: """
                Compiling for ada in /private/ada/clone
                \(path):3:8: error: ada can't find 'Synchronization' in /private/ada/Library or /Users/bob/Library
                  3 | import Synchronization

                \(path):9:1: error: the second
                """)
        #expect(report.contains("compiler: Swift version "))
        #expect(
            report.contains(
                """
                the first error, of 2:
                Sources/Core/HTTP/Body/RequestBody.swift:3:8: error: USER can't find 'Synchronization' in ~/Library \
                or ~/Library
                  3 | import Synchronization

                Sources/Core/HTTP/Body/RequestBody.swift, around line 3:
                """), "\(report)")
        #expect(report.contains(">    3  import Synchronization\n"))
        #expect(!report.contains("ada") && !report.contains("bob") && !report.contains("the second"))
    }

    @Test("the text of a file outside the package is left out")
    func elsewhere() throws {
        let report = try Self.report(on: "/private/ada/App/Secret.swift:3:8: error: wrong\n 3 | let password = 7\n")
        #expect(report.contains("~/App/Secret.swift:3:8: error: wrong\n") && !report.contains("password"))
    }

    @Test("without a compiler error, the end of the log is shown")
    func other() throws {
        #expect(try Self.report(on: "linking\nundefined symbol: curl\n").contains("undefined symbol: curl\n"))
    }

    private func root(_ path: String) -> String { Self.root.appending(path: path).path }
}
#endif
