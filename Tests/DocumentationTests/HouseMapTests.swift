import Foundation
import Testing

/// Checks that the contributors' map, `docs/house.md`, names everything that exists. Its links are checked along with
/// the other pages'.
@Suite("The map of the house", .endsInTime, .leakChecked) struct HouseMapTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    private static func page() throws -> String {
        try String(contentsOf: root.appending(path: "docs/house.md"), encoding: .utf8)
    }

    @Test("every folder of the map exists, and Core has no other folders")
    func folders() throws {
        let folders = try Self.tree(in: Self.page())
        #expect(folders.contains("Sources/Core/Errand/Pipeline"))
        for folder in folders {
            var isFolder: ObjCBool = false
            let path = Self.root.appending(path: folder).path
            #expect(
                FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue, "\(folder)")
        }
        for parent in ["Sources/Core", "Sources/Core/Errand"] {
            let found = try FileManager.default.contentsOfDirectory(
                at: Self.root.appending(path: parent), includingPropertiesForKeys: [.isDirectoryKey])
            for child in found
            where try child.pathExtension != "docc"
                && child.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
            {
                let folder = "\(parent)/\(child.lastPathComponent)"
                #expect(folders.contains(folder), "the map lacks \(folder)")
            }
        }
    }

    @Test("every file of the request pipeline is linked, and every step of the pipeline is on the map")
    func pipeline() throws {
        let page = try Self.page()
        let folder = Self.root.appending(path: "Sources/Core/Errand/Pipeline")
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift") {
            #expect(page.contains("(../Sources/Core/Errand/Pipeline/\(file))"), "the map lacks \(file)")
        }
    }

    @Test("every lock of the map is a member of its type, and every lock of Errand's module is on it")
    func locks() throws {
        let page = try Self.page()
        let section = try #require(
            page.components(separatedBy: "\n## Locks\n").last?.components(separatedBy: "\n## ").first)
        // Searching bytes is much faster in a debug build than searching strings.
        var sources: [String: Data] = [:]
        for file in Self.sources(in: "Sources") {
            sources[file.deletingPathExtension().lastPathComponent] = try Data(contentsOf: file)
        }
        let locks = section.matches(of: /\| `(\w+)\.(\w+)`/).map { (type: String($0.1), member: String($0.2)) }
        #expect(locks.count > 8)
        for (type, member) in locks {
            let isThere = sources.values.contains { source in
                ["class", "struct", "enum"].contains { source.contains(text: "\($0) \(type)") }
                    && source.contains(text: " let \(member)")
            }
            #expect(isThere, "\(type) has no \(member)")
        }
        for file in Self.sources(in: "Sources/Core/Errand") {
            let type = file.deletingPathExtension().lastPathComponent
            guard let source = sources[type], source.contains(text: "Mutex") else { continue }
            #expect(locks.contains { $0.type == type }, "the map lacks the lock of \(type)")
        }
    }

    @Test("every folder of Tests is a module's suite, or listed in Tests/README.md")
    func testFolders() throws {
        let readme = try String(contentsOf: Self.root.appending(path: "Tests/README.md"), encoding: .utf8)
        let modules = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: "docs/api").path)
        for folder in try FileManager.default.contentsOfDirectory(
            at: Self.root.appending(path: "Tests"), includingPropertiesForKeys: [.isDirectoryKey])
        where try folder.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
            let name = folder.lastPathComponent
            let isOfModule = name.hasSuffix("Tests") && modules.contains("Errand\(name.dropLast(5)).txt")
            #expect(isOfModule || readme.contains("`\(name)`"), "the table lacks \(name)")
        }
    }

    private static func sources(in folder: String) -> [URL] {
        let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
    }

    /// Reads the folders of the tree in the first code block by their indentation.
    private static func tree(in page: String) -> [String] {
        let block = page.components(separatedBy: "```").dropFirst().first ?? ""
        var (path, folders): ([(depth: Int, name: String)], [String]) = ([], [])
        for line in block.components(separatedBy: "\n") {
            let name = line.drop { $0 == " " }.prefix { $0 != " " }
            guard name.hasSuffix("/") else { continue }
            let depth = line.prefix { $0 == " " }.count
            path.removeAll { $0.depth >= depth }
            path.append((depth, String(name.dropLast())))
            folders.append(path.map(\.name).joined(separator: "/"))
        }
        return folders
    }
}

extension Data {
    /// Searches with Foundation's code, which is optimized. A generic algorithm of the standard library would be
    /// compiled for the debug build.
    func contains(text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
