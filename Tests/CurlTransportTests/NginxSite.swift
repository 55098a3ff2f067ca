#if os(Linux)
import ErrandEssentials

/// An nginx with files of three sizes, as text: `1k`, `48m` and `text.txt`, of which the last can be compressed.
extension Nginx {
    /// Starts it with a server block for each of `servers`: its name, and what follows its port in the block.
    static func site(_ servers: [(name: String, block: String)]) async throws -> Nginx {
        try await Nginx(
            servers.map { ($0.name, $0.block + " default_type text/plain;") },
            files: [
                "1k": Data(repeating: 120, count: 1024), "48m": Data(repeating: 120, count: 48 << 20),
                "text.txt": Data(String(repeating: "a line of text\n", count: 5000).utf8),
            ])
    }
}
#endif
