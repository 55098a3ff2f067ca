import Foundation
import Testing

/// `Tests/Lessons.md` lists bug reports of other libraries, with the tests that try them on Errand.
@Suite("Lessons of others", .endsInTime, .leakChecked) struct LessonsTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    private static let root = tests.deletingLastPathComponent()

    @Test("each lesson names a report once, an existing test and, if we decided otherwise, an existing page")
    func list() throws {
        let text = try String(contentsOf: Self.tests.appending(path: "Lessons.md"), encoding: .utf8)
        let problems = Self.problems(of: text, functions: try Self.functions())
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        #expect(Self.rows(of: text).count > 100)
    }

    @Test(
        "a wrong list is found",
        arguments: [
            ("| a/b#1 | x | `JarTests.missing` | no |", "no test"),
            ("| a/b#1 | x | `JarTests.jar` | maybe |", "neither"),
            ("| a/b | x | `JarTests.jar` | no |", "no report"), ("| a/b#1 | x | JarTests.jar | no |", "no test"),
            ("| a/b#1 | x | `JarTests.jar` | decided otherwise: docs/missing.md |", "no page"),
            ("| a/b#1 | x | `JarTests.jar` |", "cells"), ("| a/b#1 |  | `JarTests.jar` | no |", "no lesson"),
            (
                """
                | a/b#1 | x | `JarTests.jar` | no |
                | a/b#1 | y | `JarTests.jar` | yes |
                """, "twice"
            ),
        ])
    func wrong(rows: String, problem: String) {
        let head = "# Lessons\n\n| report | lesson | test | failed here |\n|---|---|---|---|\n"
        let functions = ["JarTests": Set(["jar"])]
        let problems = Self.problems(of: head + rows + "\n", functions: functions)
        #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
        let right = head + "| a/b.c#1 | x | `JarTests.jar` | decided otherwise: docs/cookies.md |\n"
        #expect(Self.problems(of: right, functions: functions).isEmpty)
    }

    @Test("only the suites' test functions are found")
    func types() {
        let source = """
            @Suite("A", .leakChecked) struct FirstTests {
                private func helper() {}
                @Test("x") func one() {}

                @Test(
                    "y, which takes lines",
                    arguments: [1, 2])
                func two(number: Int) async throws {}
            }
            extension SecondTests { @Test func three() {} }
            """
        #expect(Self.functions(in: source) == ["FirstTests": ["one", "two"], "SecondTests": ["three"]])
    }

    /// The cells of each row of the tables, without their heads.
    private static func rows(of text: String) -> [[String]] {
        text.split(separator: "\n").filter { $0.hasPrefix("|") && !$0.hasPrefix("| report |") && !$0.hasPrefix("|---") }
            .map { line in
                line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
            }
    }

    private static func problems(of text: String, functions: [String: Set<String>]) -> [String] {
        var (problems, reports): ([String], Set<String>) = ([], [])
        for row in rows(of: text) {
            let line = row.joined(separator: " | ")
            guard row.count == 4 else {
                problems.append("\(row.count) cells instead of 4: \(line)")
                continue
            }
            if row[0].wholeMatch(of: /[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+#[0-9]+/) == nil {
                problems.append("no report has this name: \(line)")
            } else if !reports.insert(row[0]).inserted {
                problems.append("a report twice: \(line)")
            }
            if row[1].isEmpty { problems.append("no lesson: \(line)") }
            let name = row[2].wholeMatch(of: /`([A-Za-z0-9_]+)\.([A-Za-z0-9_]+)`/)
            let exists = name.map { functions[String($0.1)]?.contains(String($0.2)) ?? false } ?? false
            if !exists { problems.append("no test: \(line)") }
            if let page = row[3].wholeMatch(of: /decided otherwise: (docs\/[a-z0-9-]+\.md)/) {
                let path = root.appending(path: String(page.1)).path
                if !FileManager.default.fileExists(atPath: path) { problems.append("no page: \(line)") }
            } else if row[3] != "yes", row[3] != "no" {
                problems.append("neither yes, no nor decided otherwise: \(line)")
            }
        }
        return problems
    }

    /// The test functions of each type, in all suites. The suite of the recipes is in the folder of its files.
    private static func functions() throws -> [String: Set<String>] {
        let folders = [tests, root.appending(path: "Examples/Recipes")]
        let files = folders.flatMap { folder in
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        }
        return try files.filter { $0.pathExtension == "swift" && !$0.path.contains("/.build") }
            .reduce(into: [:]) { all, file in
                let found = functions(in: try String(contentsOf: file, encoding: .utf8))
                all.merge(found) { $0.union($1) }
            }
    }

    private static func functions(in source: String) -> [String: Set<String>] {
        var functions: [String: Set<String>] = [:]
        var (type, isTest) = ("", false)
        for line in source.split(separator: "\n") {
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "@" }
            // Only top-level types aren't indented. A suite's attribute may precede them.
            if line.first != " ",
                let index = words.lastIndex(where: { ["struct", "class", "extension"].contains($0) }),
                index + 1 < words.count
            {
                type = String(words[index + 1])
            }
            if words.contains("@Test") { isTest = true }
            if isTest, let index = words.firstIndex(of: "func"), index + 1 < words.count {
                functions[type, default: []].insert(String(words[index + 1]))
                isTest = false
            }
        }
        return functions
    }
}
