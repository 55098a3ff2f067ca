#if os(Linux) || os(macOS)
import ErrandTestPrograms
import ErrandTestSupport
import Foundation
import Testing

@testable import errand_check_requests

@Suite("check-requests finds members that look like requirements and aren't", .endsInTime)
struct CheckRequestsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    /// The folder of module interfaces built for this test.
    private static func modules() throws -> URL {
        let program = try Program(built: "errand-check-requests")
        return URL(filePath: program.path).deletingLastPathComponent().appending(path: "Modules")
    }

    private static let tools = SwiftCompiler.moduleMaps(in: root)

    private static func run(_ arguments: [String]) async throws -> String {
        let output = try await #require(Program("/usr/bin/env")).run(arguments, limit: .seconds(200))
        try #require(output.status == 0, "\(arguments.first ?? ""): \(output.complaint)")
        return output.text
    }

    private static func graphs(of module: String, access: String, in folder: URL, to output: URL) async throws {
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        let information = try await run(["swiftc", "-print-target-info"])
        let triple = try #require(information.firstMatch(of: /"triple": "([^"]+)"/)).output.1
        _ = try await run(
            [
                "swift-symbolgraph-extract", "-module-name", module, "-target", String(triple), "-I", folder.path, "-I",
                modules().path, "-minimum-access-level", access, "-output-dir", output.path,
            ] + tools)
    }

    /// Checks a module's sources with the program, and returns its output and exit status.
    private static func check(
        _ sources: String, _ folder: Folder, extending others: [URL] = []
    ) async throws -> Program.Output {
        let file = folder.url.appending(path: "Tried.swift")
        try sources.write(to: file, atomically: true, encoding: .utf8)
        let module = folder.url.appending(path: "Tried.swiftmodule")
        _ = try await run(
            [
                "swiftc", "-emit-module", "-wmo", "-enable-testing", "-swift-version", "6", "-module-name", "Tried",
                "-parse-as-library",
                "-o", module.path, "-I", modules().path, "-I", folder.url.path, file.path,
            ] + tools)
        let checked = folder.url.appending(path: "checked")
        try await graphs(of: "Tried", access: "private", in: folder.url, to: checked)
        var arguments = others.flatMap { ["--extended", $0.path] }
        for module in ["Errand", "ErrandCache"] {
            let requirements = folder.url.appending(path: module)
            try await graphs(of: module, access: "public", in: folder.url, to: requirements)
            arguments += ["--requirements", requirements.path]
        }
        return try await Program(built: "errand-check-requests").run(arguments + [checked.path])
    }

    @Test("each of twenty mistakes is reported at its line, and other lines aren't reported")
    func mistakes() async throws {
        let folder = try Folder()
        let output = try await Self.check(CheckedTypes.wrong, folder)
        let lines = CheckedTypes.wrong.components(separatedBy: "\n")
        let wrong = lines.indices.filter { lines[$0].hasSuffix("// wrong") }.map { $0 + 1 }
        #expect(wrong.count >= 20)
        let found = output.text.matches(of: #/Tried\.swift:(\d+):\d+: error:/#).compactMap { Int($0.output.1) }
        #expect(found == wrong, "\(output.text)")
        #expect(output.status == 1)
        #expect(output.text.contains("'headers' of Headers isn't the 'headers' that Request requires"))
        #expect(output.text.contains("write 'var headers: HTTPHeaders { get }'"))
        #expect(output.text.contains("'querry' of Query isn't a requirement of Request, but 'query' is"))
    }

    @Test("overloads, overrides, defaults in protocols, static members and unrelated names are accepted")
    func rightTypes() async throws {
        let folder = try Folder()
        let output = try await Self.check(CheckedTypes.right, folder)
        #expect(output.status == 0, "\(output.text)")
    }

    @Test("a member that another module's type gets in an extension is compared with the protocols of that type")
    func extended() async throws {
        let folder = try Folder()
        let base = folder.url.appending(path: "Base.swift")
        try "public import Errand\npublic protocol Service: Request {}".write(
            to: base, atomically: true, encoding: .utf8)
        _ = try await Self.run(
            [
                "swiftc", "-emit-module", "-swift-version", "6", "-module-name", "Base", "-parse-as-library", "-o",
                folder.url.appending(path: "Base.swiftmodule").path, "-I", Self.modules().path, base.path,
            ] + Self.tools)
        let graph = folder.url.appending(path: "graph")
        try await Self.graphs(of: "Base", access: "internal", in: folder.url, to: graph)
        let sources = "import Base\nimport Errand\nextension Service where Output == Int { var deadline: Int { 3 } }"
        let alone = try await Self.check(sources, folder)
        #expect(alone.status == 0)
        let output = try await Self.check(sources, folder, extending: [graph])
        #expect(
            output.status == 1 && output.text.contains("Tried.swift:3:45: error: 'deadline' of Service"),
            "\(output.text)")
    }

    @Test(
        "a name counts as misspelled if it differs by one letter, or by two letters in a long name",
        arguments: [
            ("path", "pth", 1), ("headers", "haeders", 1), ("query", "querry", 1), ("tags", "pages", 2), ("", "", 0),
        ])
    func distances(a: String, b: String, distance: Int) {
        #expect(RequirementCheck.distance(a, b) == distance)
        #expect(RequirementCheck.distance(b, a) == distance)
    }

    @Test("without folders, or with a missing folder, the program prints how it is used")
    func usage() async throws {
        let program = try Program(built: "errand-check-requests")
        let usage = try await program.run([])
        #expect(usage.status == 2 && usage.complaint.contains("usage: "))
        let missing = try await program.run(["--requirements", "/nowhere/at/all", "/nowhere"])
        #expect(missing.status == 2 && missing.complaint.hasPrefix("errand-check-requests: "))
    }
}
#endif
