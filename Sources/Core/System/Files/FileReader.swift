import ErrandEssentials
import Synchronization

/// A file read piece by piece from an offset, opened at the first; anything but a regular file is refused, at once.
package final class FileReader: Sendable {
    private let path: String
    private let offset: Int64
    private let size: Int
    private let file = Mutex<SystemFile?>(nil)

    package init(_ path: String, from offset: Int64 = 0, pieces size: Int = 256 << 10) {
        (self.path, self.offset, self.size) = (path, offset, size)
    }

    /// The next piece, nil at the end. Blocks.
    package func next() throws(SystemFile.Failure) -> Data? {
        let data = try file.withLock { (file) throws(SystemFile.Failure) in
            if file == nil {
                file = try SystemFile(path, [.read, .onlyRegular])
                if offset > 0 { try file?.seek(to: offset) }
            }
            return try file?.read(size)
        }
        return data.flatMap { $0.isEmpty ? nil : $0 }
    }
}
