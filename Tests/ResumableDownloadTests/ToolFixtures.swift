#if os(Linux) || os(macOS)
import Foundation

final class Tool: Sendable {
    private let process: RunningProgram
    /// Keeps the input file while the process reads it.
    private let files: Folder?

    convenience init(_ arguments: String...) throws { try self.init(arguments: arguments) }

    convenience init(shell script: String, _ arguments: String...) throws {
        try self.init(
            path: "/bin/bash", ["-c", script, "errand", try Program(built: "errand-download").path] + arguments)
    }

    /// - Parameter environment: Added to the test's environment, from which proxy settings are removed.
    convenience init(
        arguments: [String], in directory: URL? = nil, input: String? = nil, environment: [String: String] = [:]
    ) throws {
        try self.init(
            path: try Program(built: "errand-download").path, arguments, directory, input, environment)
    }

    private init(
        path: String, _ arguments: [String], _ directory: URL? = nil, _ input: String? = nil,
        _ environment: [String: String] = [:]
    ) throws {
        guard let program = Program(path) else { throw CocoaError(.fileNoSuchFile) }
        files = try input.map { try Folder(["input": $0]) }
        process = try program.start(
            arguments, environment: environment, in: directory, input: files?.path("input") ?? "/dev/null")
    }

    var identifier: Int32 { process.identifier }

    func ended() async throws -> Program.Output { try await process.ended() }
}
#endif
