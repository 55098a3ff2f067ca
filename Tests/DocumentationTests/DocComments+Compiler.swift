#if os(Linux) || os(macOS)
import ErrandTestSupport
import Foundation

extension DocComments {
    /// Returns the compiler's errors for blocks of code. Type-checks all blocks as one file, which takes a few seconds.
    static func errors(in blocks: [Block], of root: URL) async throws -> [String] {
        try await SwiftCompiler.diagnostics(of: source(of: blocks), in: root).filter { !$0.contains(": warning: ") }
    }
}
#endif
