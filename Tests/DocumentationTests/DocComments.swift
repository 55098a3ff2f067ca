import Foundation

/// The Swift blocks in the doc comments of `Sources`, wrapped so the compiler can check them.
///
/// A block becomes the body of an async throwing function, next to the declarations of ``DocCommentContext``. Lines
/// that begin with a dot are values of the documented type. A line `filters: […]` is an argument of an agent. A line
/// `…` marks code that the reader supplies.
struct DocComments {
    struct Block {
        let file: String
        /// The source line on which the code begins.
        let line: Int
        let code: [String]
        /// The documented declaration: the line of code after the comment.
        var subject = ""
    }

    /// Returns all blocks, except in code for Apple's platforms or for the package itself.
    static func blocks(in sources: URL) throws -> [Block] {
        var found: [Block] = []
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            let path = String(file.path.dropFirst(sources.path.count + 1))
            let isOfPackage = [
                "Core/System/", "Plugins/Kits/Digests/", "Plugins/Kits/Collections/", "Plugins/Kits/Platform/",
                "Plugins/Kits/Transfers/",
            ].contains {
                path.hasPrefix($0)
            }
            if isOfPackage || path.hasSuffix("+Darwin.swift") || isOfApple(text) { continue }
            // If a declaration has a branch for each platform, its comment appears twice.
            for block in blocks(of: text, in: path)
            where !found.contains(where: { $0.file == path && $0.code == block.code }) {
                found.append(block)
            }
        }
        return found.sorted { ($0.file, $0.line) < ($1.file, $1.line) }
    }

    private static func isOfApple(_ text: String) -> Bool {
        ["#if canImport(UIKit)", "#if canImport(os)", "#if canImport(Security)", "#if canImport(Darwin)"].contains {
            text.hasPrefix($0)
        }
    }

    static func blocks(of text: String, in file: String) -> [Block] {
        var found: [Block] = []
        var pending: [Block] = []
        var code: [String]?
        var isSwift = false
        var start = 0
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            guard trimmed.hasPrefix("///") else {
                for var block in pending where !trimmed.hasPrefix("@") {
                    block.subject = trimmed
                    found.append(block)
                }
                if !trimmed.hasPrefix("@") { pending = [] }
                code = nil
                continue
            }
            let content = String(trimmed.dropFirst(trimmed.hasPrefix("/// ") ? 4 : 3))
            if content.hasPrefix("```") {
                if let lines = code {
                    if isSwift { pending.append(Block(file: file, line: start, code: lines)) }
                    code = nil
                } else {
                    (code, isSwift, start) = ([], content == "```swift", index + 2)
                }
            } else {
                code?.append(content)
            }
        }
        return found
    }

    /// Returns one source file with all blocks. Compiler errors in it refer to the file and line of the comment.
    static func source(of blocks: [Block]) -> String {
        var text = DocCommentContext.source + "\n"
        for (number, block) in blocks.enumerated() {
            let (outer, inner) = parts(of: block)
            text += located(outer, block)
            text += "private func block\(number)() async throws {\n\(located(lines(inner, of: block), block))}\n"
        }
        return text
    }

    private static func located(_ code: [String], _ block: Block) -> String {
        "#sourceLocation(file: \"\(block.file)\", line: \(block.line))\n\(code.joined(separator: "\n"))\n#sourceLocation()\n"
    }

    /// Splits a block into protocols and extensions, which can't be nested in a function, and the rest. Each part has
    /// empty lines in place of the other.
    private static func parts(of block: Block) -> (outer: [String], inner: [String]) {
        var (outer, inner): ([String], [String]) = ([], [])
        var depth = 0
        for line in block.code {
            let begins = ["extension ", "protocol ", "public protocol "].contains {
                line.hasPrefix($0) || line.hasPrefix("nonisolated " + $0)
            }
            let isOuter = depth > 0 || begins
            if isOuter {
                depth += line.count { $0 == "{" } - line.count { $0 == "}" }
            }
            let shown = line.trimmingCharacters(in: .whitespaces) == "…" ? "" : line
            outer.append(isOuter ? shown : "")
            inner.append(isOuter ? "" : shown)
        }
        return (outer, inner)
    }

    private static func lines(_ code: [String], of block: Block) -> [String] {
        if code.allSatisfy({ $0.isEmpty || $0.hasPrefix(".") || $0.hasPrefix("//") }) {
            return code.map { $0.hasPrefix(".") ? "let _: \(type(of: block)) = \($0)" : $0 }
        }
        return code.map { line in
            if line.hasPrefix("filters: [") {
                return "_ = NetworkAgent(baseURL: url, transport: .stub(.text(\"\")), \(line))"
            }
            // The arguments and the function of a test, without the macro.
            if let match = line.wholeMatch(of: /@Test\(arguments: (.+?)\)( func .*)?/) {
                return "_ = (\(match.1)); \(match.2 ?? "")"
            }
            return line
        }
    }

    /// Returns `StubResponse` for a comment of `public struct StubResponse: Sendable {`, otherwise the function's
    /// result type.
    private static func type(of block: Block) -> String {
        if let type = DocCommentContext.types[block.file] { return type }
        let subject = block.subject.split(separator: " ").map(String.init)
        if let place = subject.firstIndex(where: { ["struct", "class", "enum", "actor"].contains($0) }),
            place + 1 < subject.count
        {
            let name = subject[place + 1].prefix { $0.isLetter || $0.isNumber }
            return DocCommentContext.filters.contains(String(name)) ? "any Filter" : String(name)
        }
        return "Never"
    }
}
