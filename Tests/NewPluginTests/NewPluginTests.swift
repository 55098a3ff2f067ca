#if os(Linux) || os(macOS)
import Foundation
import Testing

@Suite("errand-new writes a package for a plugin")
struct NewPluginTests {
    private static let kinds = ["filter", "accessory", "transport", "cache-store", "log-sink", "check"]

    private static func run(_ arguments: String..., in directory: URL) async throws -> Program.Output {
        try await Program(built: "errand-new").run(arguments, in: directory, limit: .seconds(300))
    }

    @Test("each kind has a manifest, a type, tests and a README", arguments: kinds)
    func files(kind: String) async throws {
        let directory = try Folder()
        let output = try await Self.run(kind, "RateLimit", "--directory", "made", in: directory.url)
        #expect(output.status == 0, "\(output)")
        for file in [
            "README.md", "Package.swift", "Sources/ErrandRateLimit/RateLimit.swift",
            "Tests/ErrandRateLimitTests/RateLimitTests.swift", ".gitignore",
        ] {
            let path = directory.url.appending(path: "made/\(file)")
            #expect(FileManager.default.fileExists(atPath: path.path), "\(file)")
            #expect(output.text.contains("made/\(file)"))
        }
        #expect(output.text.contains("swift test --package-path made"))
        let tests = try Self.text("made/Tests/ErrandRateLimitTests/RateLimitTests.swift", directory)
        #expect(tests.contains("Conformance.cases(") || tests.contains("CacheStoreSuite.cases"))
    }

    @Test("the written package compiles", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/exe")))
    func compiles() async throws {
        let directory = try Folder()
        var sources: [String] = []
        for (index, kind) in Self.kinds.enumerated() {
            // All of them in one module, to run the compiler only once.
            let name = "Tried\(index)"
            _ = try await Self.run(kind, name, "--directory", kind, in: directory.url)
            sources.append("\(kind)/Sources/Errand\(name)/\(name).swift")
        }
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let modules = URL(filePath: program).deletingLastPathComponent().appending(path: "Modules").path
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let features = [
            "ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault",
        ].flatMap { ["-enable-upcoming-feature", $0] }
        let output = try await #require(Program("/usr/bin/env")).run(
            [
                "swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-module-name", "Tried", "-I",
                modules,
            ]
                + SwiftCompiler.moduleMaps(in: root) + features + sources, in: directory.url, limit: .seconds(300))
        #expect(output.status == 0, "\(output.complaint)")
    }

    @Test(
        "a name is converted to the form that Swift requires",
        arguments: [
            ("HTTPSigner", "X-HTTP-Signer", "func httpSigner("), ("Default", "X-Default", "func `default`("),
            ("Gate2", "X-Gate2", "func gate2("), ("ErrandGate", "X-Errand-Gate", "func errandGate("),
        ])
    func names(name: String, field: String, factory: String) async throws {
        let directory = try Folder()
        let output = try await Self.run("filter", name, "--prefix", "Acme", in: directory.url)
        #expect(output.status == 0, "\(output)")
        let source = try Self.text("Acme\(name)/Sources/Acme\(name)/\(name).swift", directory)
        #expect(source.contains("\"\(field)\"") && source.contains(factory))
    }

    @Test("the package refers to Errand by a directory or a URL")
    func source() async throws {
        let directory = try Folder()
        let url = "https://example.com/team/errand.git"
        _ = try await Self.run("check", "Gate", "--directory", "remote", "--errand", url, in: directory.url)
        let manifest = try Self.text("remote/Package.swift", directory)
        #expect(manifest.contains(".package(url: \"\(url)\", .upToNextMinor(from: \"0.1.0\"))"))
        #expect(manifest.contains(".product(name: \"Errand\", package: \"errand\")"))
        let missing = try await Self.run("check", "Gate", "--errand", "nowhere", in: directory.url)
        #expect(missing.status == 2 && missing.complaint.contains("nowhere isn't a clone of Errand"))
    }

    @Test(
        "wrong arguments are refused, and no file is written",
        arguments: [
            [], ["filter"], ["filters", "Gate"], ["filter", "gate"], ["filter", "Ga te"], ["filter", "../Gate"],
            ["filter", "Gâte"], ["filter", ""], ["filter", "Filter"], ["filter", "String"], ["filter", "Cache"],
            ["filter", "Gate", "Two"], ["filter", "Gate", "--directory"], ["filter", "Gate", "--colour", "red"],
            ["filter", "Gate", "--prefix", "acme"], ["filter", "Gate", "--prefix", "A", "--prefix", "B"],
        ])
    func refused(arguments: [String]) async throws {
        let directory = try Folder()
        let output = try await Program(built: "errand-new").run(arguments, in: directory.url, limit: .seconds(300))
        #expect(output.status == 2)
        #expect(output.complaint.hasPrefix("errand-new: "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    }

    @Test("a plugin can't have the name of a module of this package")
    func modules() async throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Plugins")
        let directory = try Folder()
        let folders = try [sources, sources.appending(path: "Kits")].flatMap {
            try FileManager.default.contentsOfDirectory(atPath: $0.path)
        }
        for module in folders where !module.hasPrefix(".") && module != "Kits" {
            let output = try await Self.run("filter", module, in: directory.url)
            #expect(output.status == 2, "\(module) is not on the list of PluginName")
        }
    }

    @Test("existing files stay as they are")
    func occupied() async throws {
        let directory = try Folder()
        let file = directory.url.appending(path: "made")
        try Data("mine".utf8).write(to: file)
        let first = try await Self.run("filter", "Gate", "--directory", "made", in: directory.url)
        #expect(first.status == 1 && first.complaint.contains("made is a file"))
        let second = try await Self.run("filter", "Gate", "--directory", ".", in: directory.url)
        #expect(second.status == 1 && second.complaint.contains(". is not empty"))
        #expect(try Self.text("made", directory) == "mine")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["made"])
    }

    @Test("it prints how it is used")
    func help() async throws {
        let directory = try Folder()
        let output = try await Self.run("--help", in: directory.url)
        #expect(output.status == 0 && output.text.hasPrefix("usage: errand-new KIND NAME"))
        for kind in Self.kinds { #expect(output.text.contains(kind)) }
    }

    private static func text(_ path: String, _ directory: Folder) throws -> String {
        try String(contentsOf: directory.url.appending(path: path), encoding: .utf8)
    }
}
#endif
