import ErrandEssentials
import Synchronization

/// Reads a regular file in pieces, starting at an offset. Opens the file at the first read.
package final class FileReader: Sendable {
    private let path: String
    private let offset: Int64
    private let size: Int
    private let file = Mutex<SystemFile?>(nil)

    /// Creates a reader. The pieces' `size` is at most a chunk.
    package init(_ path: String, from offset: Int64 = 0, pieces size: Int = ChunkPool.chunkBytes) {
        (self.path, self.offset, self.size) = (path, offset, size)
    }

    /// Returns the next piece, or nil at the end. Blocks the thread.
    package func next() throws(SystemFile.Failure) -> Data? {
        try file.withLock { (file) throws(SystemFile.Failure) in
            if file == nil {
                file = try SystemFile(path, [.read, .onlyRegular])
                if offset > 0 { try file?.seek(to: offset) }
            }
            guard let piece = try file?.readChunk(size), !piece.isEmpty else { return nil }
            return piece
        }
    }
}
