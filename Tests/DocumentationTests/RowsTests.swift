import Foundation
import Testing

/// `Tests/rows.txt` maps the rows of the comparison with YTKNetwork and CTNetworking to the tests that check them.
@Suite("Rows of the comparison", .endsInTime, .leakChecked) struct RowsTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    private static let root = tests.deletingLastPathComponent()

    @Test("the mapping names existing tests and rows, each once")
    func mapping() throws {
        #expect(Self.names.count > 1_000)
        let problems = try Self.problems(of: String(contentsOf: Self.file, encoding: .utf8), names: Self.names)
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test(
        "a wrong mapping is found",
        arguments: [
            ("Y1: no such test", "no test"), ("Y1: two tests", "2 tests"), ("Y1 Y1: a test", "twice"),
            ("Y1: a test\nY2: a test", "twice"), ("Y1 X2: a test", "no row"), ("a test", "no rows"),
        ])
    func wrong(text: String, problem: String) {
        let names = ["a test": 1, "two tests": 2]
        let problems = Self.problems(of: "# The rows\n\(text)\n", names: names)
        #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
        #expect(Self.problems(of: "# The rows\nY1 D2: a test\n", names: names).isEmpty)
    }

    @Test("row numbers appear only in the mapping")
    func rowNumbers() throws {
        let names = Self.names.keys.filter { $0.contains(/\([YCSTBKD][0-9]{1,2}[,)]/) }
        #expect(names.isEmpty, "in names of tests: \(names.joined(separator: "; "))")
        let row = try NSRegularExpression(pattern: "[(,;] ?([YCSTBKD][0-9]{1,2})[,;)]")
        let comment = try NSRegularExpression(pattern: "//.*?[(,;] ?([YCSTBKD][0-9]{1,2})[,;)]")
        for file in Self.files(in: ["Sources", "Examples", "Tests", "docs", "README.md", "CONTRIBUTING.md"]) {
            let isTest = file.path.contains("/Tests/") && file.pathExtension == "swift"
            let content = try String(contentsOf: file, encoding: .utf8)
            let whole = NSRange(content.startIndex..., in: content)
            for match in (isTest ? comment : row).matches(in: content, range: whole) {
                let number = Range(match.range(at: 1), in: content).map { content[$0] } ?? ""
                Issue.record("\(file.lastPathComponent): \(number)")
            }
        }
    }

    private static let file = tests.appending(path: "rows.txt")

    private static func problems(of mapping: String, names: [String: Int]) -> [String] {
        var problems: [String] = []
        var mapped: Set<Substring> = []
        for line in mapping.split(separator: "\n") where !line.hasPrefix("#") {
            guard let colon = line.firstRange(of: ": ") else {
                problems.append("no rows: \(line)")
                continue
            }
            let (rows, name) = (line[..<colon.lowerBound].split(separator: " "), line[colon.upperBound...])
            for row in rows where row.wholeMatch(of: /[YCSTBKD][0-9]{1,2}/) == nil {
                problems.append("no row is called \(row): \(line)")
            }
            if Set(rows).count != rows.count { problems.append("a row twice: \(line)") }
            if !mapped.insert(name).inserted { problems.append("a test twice: \(line)") }
            switch names[String(name)] {
            case 1: break
            case nil: problems.append("no test: \(line)")
            case let count?: problems.append("\(count) tests: \(line)")
            }
        }
        return problems
    }

    /// The number of tests and suites for each display name in the sources.
    private static let names: [String: Int] = files(in: ["Tests"]).filter { $0.pathExtension == "swift" }
        .reduce(into: [:]) { names, file in
            for part in ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "@") {
                guard part.hasPrefix("Test(") || part.hasPrefix("Suite("),
                    let quote = part.firstIndex(where: { $0 != "(" && !$0.isLetter && !$0.isWhitespace }),
                    part[quote] == "\""
                else { continue }
                var isEscaped = false
                let name = part[part.index(after: quote)...].prefix { character in
                    defer { isEscaped = character == "\\" && !isEscaped }
                    return character != "\"" || isEscaped
                }
                names[String(name), default: 0] += 1
            }
        }

    /// The sources and pages in folders of the repository, and explicitly named files.
    private static func files(in folders: [String]) -> [URL] {
        folders.flatMap { folder in
            let url = root.appending(path: folder)
            let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)
            return ([url] + (files?.compactMap { $0 as? URL } ?? [])).filter {
                ["md", "swift"].contains($0.pathExtension) && !$0.path.contains("/.build")
            }
        }
    }
}
