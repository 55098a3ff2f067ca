#if os(Linux) || os(macOS)
package import Foundation

/// Type-checks code against the modules that were built for this test.
package enum SwiftCompiler {
    /// Returns the error and warning lines without duplicates, as `file:line:column: error: …`. If compilation failed
    /// without any, returns the whole output.
    ///
    /// - Parameters:
    ///   - files: the files of one module.
    ///   - root: the folder of the package.
    ///   - mode: the language mode.
    @concurrent package static func diagnostics(
        of files: [URL], in root: URL, mode: String = "6", _ arguments: [String] = []
    ) async throws -> [String] {
        let output = FileManager.default.temporaryDirectory.appending(path: "errand-compiler-\(UUID().uuidString)")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments =
            ["swiftc", "-typecheck", "-swift-version", mode, "-I", try modules(of: root).path] + moduleMaps(in: root)
            + arguments
            + files.map(\.path)
        compiler.standardOutput = try FileHandle(forWritingTo: output)
        compiler.standardError = compiler.standardOutput
        try compiler.run()
        compiler.waitUntilExit()
        let lines = try String(contentsOf: output, encoding: .utf8).components(separatedBy: "\n")
        let found = lines.filter { ($0.contains(": error: ") || $0.contains(": warning: ")) && !$0.hasPrefix(" ") }
        if !found.contains(where: { $0.contains(": error: ") }), compiler.terminationStatus != 0 { return lines }
        var known: Set<String> = []
        return found.filter { known.insert($0).inserted }
    }

    /// The arguments with which a compiler finds the package's C modules.
    package static func moduleMaps(in root: URL) -> [String] {
        ["Core/Syntax/International", "Plugins/CurlTransport/CShim", "Plugins/Kits/Keys/CShim", "Plugins/Kits/Codings"]
            .flatMap {
                ["-Xcc", "-fmodule-map-file=\(root.path)/Sources/\($0)/include/module.modulemap"]
            }
    }

    package static func diagnostics(
        of text: String, in root: URL, mode: String = "6", _ arguments: [String] = []
    ) async throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "Code\(UUID().uuidString.prefix(8)).swift")
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await diagnostics(of: [file], in: root, mode: mode, arguments)
    }

    /// The additional arguments for code of this package's tests: the macros of Swift Testing, and the package's name.
    package static func argumentsOfTests(in root: URL) -> [String] {
        let name = root.standardizedFileURL.lastPathComponent.lowercased()
        // The package manager derives the identifier this way: it doesn't start with a digit.
        let identifier = String(
            name.enumerated().map { place, letter in
                letter.isLetter || letter == "_" || letter.isNumber && place > 0 ? letter : "_"
            })
        return ["-package-name", identifier, "-enable-bare-slash-regex"] + macros()
    }

    private static func macros() -> [String] {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        for folder in path {
            let tool = URL(filePath: "\(folder)/swiftc").resolvingSymlinksInPath()
            let plugins = tool.deletingLastPathComponent().appending(path: "../lib/swift/host/plugins/testing")
                .standardized
            if FileManager.default.fileExists(atPath: plugins.path) { return ["-plugin-path", plugins.path] }
        }
        return []
    }

    /// Returns the folder of the built modules, which is next to the program that runs the tests.
    private static func modules(of root: URL) throws -> URL {
        #if os(Linux)
        let program = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        return program.deletingLastPathComponent().appending(path: "Modules")
        #else
        return root.appending(path: ".build/debug/Modules")
        #endif
    }
}
#endif
