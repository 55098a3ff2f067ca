#if os(Linux) || os(macOS)
import ErrandHTTPSyntax
import Foundation
import Testing

/// Resolves the references that `Tests/URLs/generate.js` writes, and compares the results with node's `URL`.
///
/// `ERRAND_URL_CASES=cases.jsonl swift test --filter URLOracleTests` compares a file of any length.
@Suite("URL references, compared with node", .timeLimit(.minutes(60)), .leakChecked) struct URLOracleTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "URLs")
    private static let environment = ProcessInfo.processInfo.environment
    static let node: String? =
        (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/node" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    static let given = environment["ERRAND_URL_CASES"]
    /// Without libidn2, hosts in other scripts can't be resolved.
    static let hasTable = (try? URLReference("http://b\u{FC}cher.test/").resolved()) != nil

    /// One line of the file: a base, a reference, and the resolved URL, or nil if node refuses it.
    private struct Case: Decodable {
        let base: String
        let reference: String
        let expected: String?

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            base = try values.decode(String.self)
            reference = try values.decode(String.self)
            expected = try values.decodeIfPresent(String.self)
        }

        /// Returns the resolved URL, or nil if the reference isn't a URL.
        func resolved() throws -> String? {
            try URLReference(reference).resolvedText(against: #require(URL(string: base)))
        }
    }

    private func compare(_ lines: Data, atLeast count: Int) throws {
        var differences: [String] = []
        var (equal, refused, tables) = (0, 0, 0)
        for line in lines.split(separator: 0x0A) {
            let item = try JSONDecoder().decode(Case.self, from: line)
            let found = try item.resolved()
            if found == item.expected {
                if found == nil { refused += 1 } else { equal += 1 }
                if let found { #expect(try URLReference(found).resolved().absoluteString == found) }
            } else if (found ?? item.expected ?? "").contains("xn--"), found == nil || item.expected == nil {
                // libidn2 refuses more names than UTS 46, and Punycode isn't examined.
                tables += 1
            } else {
                differences.append("\(item): \(found ?? "refused")")
            }
        }
        #expect(differences.isEmpty, "\(differences.count): \(differences.prefix(40).joined(separator: "\n"))")
        #expect(equal + refused >= count * 9 / 10 && equal > count / 2 && refused > count / 50)
        #expect(tables < count / 10)
    }

    @Test("references have the URLs that node has recorded")
    func recorded() throws {
        try compare(Data(contentsOf: Self.folder.appending(path: "references.jsonl")), atLeast: 1400)
    }

    @Test(
        "random references have the same URLs as in node",
        .enabled(if: node != nil, "NOT RUN: node, the oracle for URLs, is not in the PATH"), arguments: 1...4)
    func random(part: Int) throws {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.node))
        process.arguments = [
            Self.folder.appending(path: "generate.js").path(percentEncoded: false), "5000", "\(part * 1_000)",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let lines = try #require(try output.fileHandleForReading.readToEnd())
        process.waitUntilExit()
        try compare(lines, atLeast: 4800)
    }

    @Test("references in a file have the URLs that are written in it", .enabled(if: given != nil))
    func file() throws {
        let lines = try Data(contentsOf: URL(filePath: #require(Self.given)))
        try compare(lines, atLeast: lines.split(separator: 0x0A).count)
    }
}

extension URLReference {
    fileprivate func resolvedText(against base: URL) -> String? { try? resolved(against: base).absoluteString }
}
#endif
