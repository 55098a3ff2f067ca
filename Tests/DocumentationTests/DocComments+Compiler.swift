#if os(Linux) || os(macOS)
import Foundation

extension DocComments {
    /// What the compiler says against blocks of code: one type check of one file, against the modules that were built for
    /// this test. Takes some seconds.
    @concurrent static func errors(in blocks: [Block], of root: URL) async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-doc-comments-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "DocComments.swift")
        try source(of: blocks).write(to: file, atomically: true, encoding: .utf8)
        let output = folder.appending(path: "output")
        try Data().write(to: output)
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", file.path, "-I", try modules(of: root).path, "-Xcc",
            "-fmodule-map-file=\(root.path)/Sources/Plugins/CurlTransport/CShim/include/module.modulemap",
            "-Xcc", "-fmodule-map-file=\(root.path)/Sources/Plugins/Compression/CShim/include/module.modulemap",
        ]
        compiler.standardOutput = try FileHandle(forWritingTo: output)
        compiler.standardError = compiler.standardOutput
        try compiler.run()
        compiler.waitUntilExit()
        let lines = try String(contentsOf: output, encoding: .utf8).components(separatedBy: "\n")
        let errors = lines.filter { $0.contains(": error: ") && !$0.hasPrefix(" ") }
        if errors.isEmpty, compiler.terminationStatus != 0 { return lines }
        var known: Set<String> = []
        return errors.filter { known.insert($0).inserted }
    }

    /// Beside the program that runs the tests.
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
