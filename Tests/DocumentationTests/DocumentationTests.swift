import Foundation
import Testing

/// Compiles the code in README and docs/. Every paragraph of code must appear in a source file next to this one, or in
/// a package that the page is about; those packages are built if their dependencies are available. Code in doc comments
/// is passed to the compiler directly.
@Suite("Documentation", .endsInTime, .leakChecked) struct DocumentationTests {
    private static let here = URL(filePath: #filePath).deletingLastPathComponent()
    private static let root = here.deletingLastPathComponent().deletingLastPathComponent()

    @Test("every paragraph of code is compiled")
    func compiled() throws {
        let sources = [Self.here, Self.example, Self.integrations].flatMap { Self.swiftFiles(in: $0) }
        let compiled = try sources.map { source in
            // On the page, the clone is next to the app.
            let text = try String(contentsOf: source, encoding: .utf8).replacing("\"../..\"", with: "\"../errand\"")
            return Data(Self.lines(text).joined(separator: "\n").utf8)
        }
        for page in try Self.pages() {
            for paragraph in try Self.paragraphs(of: page) {
                #expect(
                    compiled.contains { $0.contains(text: paragraph) },
                    "\(page.lastPathComponent): not compiled:\n\(paragraph)")
            }
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

    @Test("a file that a page shows in full imports Foundation if it uses Foundation's types")
    func foundation() throws {
        var count = 0
        for page in try Self.pages() {
            let text = try String(contentsOf: page, encoding: .utf8)
            for block in text.matches(of: /```swift\n((?:(?!```).*\n)*)```/).map(\.1) {
                guard block.contains(/(?:^|\n)import Errand\n/) else { continue }
                count += 1
                let type = block.firstMatch(of: /\b(?:Data|Date|FileManager|JSONDecoder|URL)\b/)?.0
                let imports = block.contains(/\nimport (?:Foundation|ErrandEssentials|SwiftUI|UIKit)\n/)
                #expect(type == nil || imports, "\(page.lastPathComponent): \(type ?? "") has no import")
            }
        }
        #expect(count > 5)
    }

    @Test("every link leads to an existing file and heading")
    func links() throws {
        for page in try Self.pages() {
            for link in try Self.links(of: page) {
                #expect(
                    FileManager.default.fileExists(atPath: link.file.path), "\(page.lastPathComponent): \(link.text)")
                guard let heading = link.heading, link.file.pathExtension == "md" else { continue }
                #expect(try Self.headings(of: link.file).contains(heading), "\(page.lastPathComponent): \(link.text)")
            }
        }
    }

    @Test("every page is linked from the README, or from a page that is")
    func reachable() throws {
        var reached: Set<String> = []
        var next = [Self.root.appending(path: "README.md")]
        while let page = next.popLast() {
            guard reached.insert(page.standardized.path).inserted else { continue }
            next += try Self.links(of: page).map(\.file).filter {
                $0.pathExtension == "md" && FileManager.default.fileExists(atPath: $0.path)
            }
        }
        for page in try Self.pages() {
            #expect(reached.contains(page.standardized.path), "nothing links to \(page.lastPathComponent)")
        }
    }

    @Test(
        "the tables of getting started have every member, with its type",
        arguments: [
            ("Sources/Core/Errand/Hooks/Request.swift", "    var "),
            ("Sources/Core/Errand/Agent/AgentConfiguration.swift", "    public var "),
        ])
    func tables(source: String, declaration: String) throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/getting-started.md"), encoding: .utf8)
        let lines = try String(contentsOf: Self.root.appending(path: source), encoding: .utf8)
            .components(separatedBy: "\n").filter { $0.hasPrefix(declaration) }
        #expect(lines.count > 10)
        for line in lines {
            let name = line.dropFirst(declaration.count).prefix { $0.isLetter }
            #expect(page.contains("`\(name)`"), "\(name) is missing")
            if let type = line.wholeMatch(of: /.*var \w+: (.+) \{ get \}/)?.1 {
                #expect(page.contains("| `\(name)` | `\(type)` |"), "\(name) has the type \(type)")
            }
        }
    }

    private static let example = root.appending(path: "Examples/Hello")
    private static let integrations = root.appending(path: "Examples/Integrations")

    private static func pages() throws -> [URL] {
        let docs = try ["docs", "docs/tutorials"].flatMap {
            try FileManager.default.contentsOfDirectory(at: root.appending(path: $0), includingPropertiesForKeys: nil)
        }
        return docs.filter { $0.pathExtension == "md" }
            + ["README.md", "CONTRIBUTING.md", "Tests/README.md"].map { root.appending(path: $0) }
    }

    private static func swiftFiles(in folder: URL) -> [URL] {
        var found: [URL] = []
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            if file.pathExtension == "swift", !file.path.contains("/.build/") { found.append(file) }
        }
        return found
    }

    private struct Link {
        let text: String
        let file: URL
        let heading: String?
    }

    private static func links(of page: URL) throws -> [Link] {
        try String(contentsOf: page, encoding: .utf8).matches(of: /\]\(([^)#:]*)(?:#([^)]+))?\)/).map { match in
            let file = match.1.isEmpty ? page : page.deletingLastPathComponent().appending(path: String(match.1))
            return Link(text: String(match.0), file: file, heading: match.2.map(String.init))
        }
    }

    /// The anchors of a page's headings, as GitHub generates them.
    private static func headings(of page: URL) throws -> Set<String> {
        var found: Set<String> = []
        var isCode = false
        for line in try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n") {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode, line.hasPrefix("#") else { continue }
            let title = line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
            found.insert(
                String(title.filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }).replacing(
                    " ", with: "-"))
        }
        return found
    }

    /// The paragraphs of Swift code blocks, with each line trimmed.
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
