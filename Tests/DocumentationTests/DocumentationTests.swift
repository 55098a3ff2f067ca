import Foundation
import Testing

/// The code in README and docs/ is compiled: every paragraph of it stands in a source file beside this one. That in doc
/// comments is handed to the compiler as it is.
@Suite("Documentation", .timeLimit(.minutes(10))) struct DocumentationTests {
    private static let here = URL(filePath: #filePath).deletingLastPathComponent()
    private static let root = here.deletingLastPathComponent().deletingLastPathComponent()

    @Test(
        "every paragraph of code is compiled",
        arguments: [
            "README.md", "docs/getting-started.md", "docs/writing-an-accessory.md", "docs/writing-a-filter.md",
            "docs/writing-a-transport.md", "docs/writing-a-composite.md",
            "docs/json-validation.md", "docs/url-filters.md", "docs/batch.md",
            "docs/chain.md", "docs/cache.md", "docs/loading-indicator.md", "docs/log.md", "docs/recording.md",
            "docs/resumable-download.md", "docs/transport-conformance.md",
            "docs/urlsession-transport.md", "docs/system-transport.md",
        ])
    func compiled(page: String) throws {
        let sources = try FileManager.default.contentsOfDirectory(at: Self.here, includingPropertiesForKeys: nil)
        let compiled = try sources.filter { $0.pathExtension == "swift" }.map { source in
            Self.lines(try String(contentsOf: source, encoding: .utf8)).joined(separator: "\n")
        }
        let paragraphs = try Self.paragraphs(of: Self.root.appending(path: page))
        #expect(!paragraphs.isEmpty)
        for paragraph in paragraphs {
            #expect(compiled.contains { $0.contains(paragraph) }, "not compiled:\n\(paragraph)")
        }
    }

    #if os(Linux) || os(macOS)
    @Test("every block of code in the doc comments compiles")
    func docComments() async throws {
        let blocks = try DocComments.blocks(in: Self.root.appending(path: "Sources"))
        #expect(blocks.count > 80)
        let errors = try await DocComments.errors(in: blocks, of: Self.root)
        #expect(errors.isEmpty, "\(errors.joined(separator: "\n"))")
    }

    @Test("a block that does not compile is found, with the file and the line of its comment")
    func brokenDocComment() async throws {
        let comment = """
            /// A thing.
            ///
            /// ```swift
            /// let number = 7
            /// number.removeFirst()
            /// ```
            struct Thing {}
            """
        let blocks = DocComments.blocks(of: comment, in: "Core/Thing.swift")
        #expect(blocks.map(\.line) == [4] && blocks.map(\.subject) == ["struct Thing {}"])
        let errors = try await DocComments.errors(in: blocks, of: Self.root)
        #expect(errors.count == 1 && errors.first?.hasPrefix("Core/Thing.swift:5:") == true, "\(errors)")
    }
    #endif

    @Test("every link in README and docs/ leads to a file")
    func links() throws {
        let docs = try FileManager.default.contentsOfDirectory(
            at: Self.root.appending(path: "docs"), includingPropertiesForKeys: nil)
        for page in docs.filter({ $0.pathExtension == "md" }) + [Self.root.appending(path: "README.md")] {
            let text = try String(contentsOf: page, encoding: .utf8)
            for match in text.matches(of: /\]\(([^)#:]+)\)/) {
                let target = page.deletingLastPathComponent().appending(path: String(match.1))
                #expect(FileManager.default.fileExists(atPath: target.path), "\(page.lastPathComponent): \(match.1)")
            }
        }
    }

    /// The paragraphs of the blocks marked as Swift, each line trimmed.
    private static func paragraphs(of page: URL) throws -> [String] {
        var paragraphs: [String] = []
        var current: [String] = []
        var isCode = false
        for line in try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n") {
            let isFence = line.hasPrefix("```")
            if isCode, !isFence, !line.allSatisfy(\.isWhitespace) {
                current.append(line.trimmingCharacters(in: .whitespaces))
            } else if !current.isEmpty {
                paragraphs.append(current.joined(separator: "\n"))
                current = []
            }
            if isFence { isCode = line == "```swift" }
        }
        return paragraphs
    }

    private static func lines(_ text: String) -> [String] {
        text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
