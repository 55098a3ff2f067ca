#if os(Linux)
import ErrandEssentials

/// An nginx with text files of three sizes: `1k`, `text.txt`, which is compressible, and `48m`.
extension Nginx {
    /// Starts it with a server block for each of `servers`: its name, and the text after its port in the block.
    static func site(_ servers: [(name: String, block: String)], hasLargeFile: Bool = true) async throws -> Nginx {
        var files = [
            "1k": Data(repeating: 120, count: 1024),
            "text.txt": Data(String(repeating: "a line of text\n", count: 5000).utf8),
        ]
        if hasLargeFile { files["48m"] = Data(repeating: 120, count: 48 << 20) }
        return try await Nginx(servers.map { ($0.name, $0.block + " default_type text/plain;") }, files: files)
    }
}
#endif
