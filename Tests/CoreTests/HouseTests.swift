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

    @Test("Core holds what every request needs: at most 2,400 lines of code, without comments and blank lines")
    func size() {
        let code = Self.sources.flatMap(\.lines).filter { line in
            let text = line.drop { $0 == " " }
            return !text.isEmpty && !text.hasPrefix("//")
        }
        #expect(code.count > 1000, "the sources were not found")
        #expect(code.count <= 2400)
        // Nothing hides from the count.
        #expect(!code.contains { $0.contains("/*") || $0.contains("; ") && !$0.contains("\"") && !$0.contains("//") })
        #expect(code.allSatisfy { $0.count <= 120 })
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
