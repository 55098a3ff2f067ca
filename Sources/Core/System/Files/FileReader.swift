import ErrandEssentials
import Synchronization

/// A file read piece by piece from an offset, opened at the first; anything but a regular file is refused, at once.
package final class FileReader: Sendable {
    private let path: String
    private let offset: Int64
    private let size: Int
    private let file = Mutex<SystemFile?>(nil)

    /// - Parameter size: the bytes of each piece, at most those of a chunk.
    package init(_ path: String, from offset: Int64 = 0, pieces size: Int = ChunkPool.chunkBytes) {
        (self.path, self.offset, self.size) = (path, offset, size)
    }

    /// The next piece, nil at the end. Blocks.
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
