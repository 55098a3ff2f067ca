#if os(Linux) || os(macOS)
import ErrandTestSupport
import Foundation

extension DocComments {
    /// What the compiler says against blocks of code: one type check of one file. Takes some seconds.
    static func errors(in blocks: [Block], of root: URL) async throws -> [String] {
        try await SwiftCompiler.diagnostics(of: source(of: blocks), in: root).filter { !$0.contains(": warning: ") }
    }
}
#endif
