package import ErrandEssentials
import ErrandTesting
import Foundation

/// A unique path for one test, without a file at first. Whatever is there is deleted along with this object.
package final class TemporaryDirectory: Sendable {
    package let url = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString)")

    package init() { CreationObservers.notify(of: self) }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// A directory for one test, deleted along with this object.
package final class Folder: Sendable {
    private let directory = TemporaryDirectory()

    package init(_ files: [String: String] = [:]) throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: file(name)) }
        CreationObservers.notify(of: self)
    }

    package var url: URL { directory.url }

    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }
    package func path(_ name: String) -> String { file(name).path }
    package func data(_ name: String) throws -> Data { try Data(contentsOf: file(name)) }

    package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}
