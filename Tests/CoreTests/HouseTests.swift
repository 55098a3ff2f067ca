import ErrandEssentials
import Testing

@Suite("The house") struct HouseTests {
    private static let sources: [(path: String, lines: [Substring])] = {
        let core = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Core")
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: core.path)) ?? []
        return paths.filter { $0.hasSuffix(".swift") }.map { path in
            let text = (try? String(contentsOf: core.appending(path: path), encoding: .utf8)) ?? ""
            return (path, text.split(separator: "\n"))
        }
    }()

    @Test("what is taken from under a lock has a name, so that a release build ends it after the unlock")
    func locks() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let discarded = try Regex(#"(^|[\s{(])_ = .*withLock\b"#)
        var files = 0
        for folder in ["Sources", "Examples"] {
            let paths = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            for path in paths where path.hasSuffix(".swift") {
                files += 1
                let text = try String(contentsOf: root.appending(path: "\(folder)/\(path)"), encoding: .utf8)
                for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                    #expect(
                        !line.contains("@TaskLocal") || !line.contains("->"),
                        "\(folder)/\(path):\(number + 1): a release build crashes at a task-local closure; use an object"
                    )
                    #expect(
                        line.firstMatch(of: discarded) == nil || line.contains("//"),
                        "\(folder)/\(path):\(number + 1): name it, and withExtendedLifetime after the lock")
                }
            }
        }
        #expect(files > 500, "the sources were not found")
    }

    @Test("Core imports no plugin")
    func imports() {
        let allowed: Set = [
            "Dispatch", "ErrandEssentials", "ErrandHTTP", "ErrandHTTPSyntax", "ErrandSupport", "Synchronization",
        ]
        for (path, lines) in Self.sources {
            for line in lines where line.hasPrefix("import ") || line.contains(" import ") && !line.contains("//") {
                let module = line.split(separator: " ").last.map(String.init) ?? ""
                #expect(allowed.contains(module), "\(path) imports \(module)")
            }
        }
    }
}
