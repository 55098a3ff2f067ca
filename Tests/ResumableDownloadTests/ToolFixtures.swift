#if os(Linux) || os(macOS)
import Foundation
import Testing

/// The tool as a process of its own.
final class Tool: Sendable {
    struct Ended: CustomStringConvertible {
        let status: Int32
        let wasKilled: Bool
        /// What it wrote to standard output.
        let bytes: Data
        let complaint: String
        var output: String { String(decoding: bytes, as: UTF8.self) }
        var description: String { "\(status) \(complaint)" }
    }

    private let process: Process
    private let end: AsyncStream<Void>
    private let files: Folder

    convenience init(_ arguments: String...) throws { try self.init(arguments: arguments) }

    convenience init(shell script: String, _ arguments: String...) throws {
        try self.init(URL(filePath: "/bin/bash"), ["-c", script, "errand", try Self.executable().path] + arguments)
    }

    /// - Parameter environment: added to the test's own, less what would change proxies and homes.
    convenience init(
        arguments: [String], in directory: URL? = nil, input: String? = nil, environment: [String: String] = [:]
    ) throws {
        try self.init(try Self.executable(), arguments, directory, input, environment)
    }

    private init(
        _ executable: URL, _ arguments: [String], _ directory: URL? = nil, _ input: String? = nil,
        _ environment: [String: String] = [:]
    ) throws {
        let (end, ending) = AsyncStream<Void>.makeStream()
        (self.end, files, process) = (end, try Folder(), Process())
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.lowercased().hasSuffix("_proxy") }
            .merging(environment) { $1 }
        // Into files: what a child of another test inherits keeps a pipe open.
        for name in ["output", "complaint"] { try Data().write(to: files.file(name)) }
        process.standardInput = FileHandle.nullDevice
        if let input {
            try Data(input.utf8).write(to: files.file("input"))
            process.standardInput = try FileHandle(forReadingFrom: files.file("input"))
        }
        process.standardOutput = try FileHandle(forWritingTo: files.file("output"))
        process.standardError = try FileHandle(forWritingTo: files.file("complaint"))
        process.terminationHandler = { _ in ending.finish() }
        try process.run()
    }

    var identifier: Int32 { process.processIdentifier }

    func ended() async throws -> Ended {
        for await _ in end {}
        return Ended(
            status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal,
            bytes: try files.data("output"),
            complaint: String(decoding: try files.data("complaint"), as: UTF8.self))
    }

    /// Where the build puts programs.
    private static func executable() throws -> URL {
        #if os(Linux)
        let tests = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        #else
        let tests = try #require(Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }).bundleURL
        #endif
        return tests.deletingLastPathComponent().appending(path: "errand-download")
    }
}
#endif
