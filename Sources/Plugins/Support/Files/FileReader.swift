import Synchronization

import ErrandEssentials

/// A file read piece by piece, opened at the first.
package final class FileReader: Sendable {
    private let path: String
    private let size: Int
    private let file = Mutex<SystemFile?>(nil)

    package init(_ path: String, pieces size: Int = 256 << 10) {
        self.path = path
        self.size = size
    }

    /// The next piece, nil at the end. Blocks.
    package func next() throws(SystemFile.Failure) -> Data? {
        let data = try file.withLock { (file) throws(SystemFile.Failure) in
            if file == nil { file = try SystemFile(reading: path) }
            return try file?.read(size)
        }
        return data.flatMap { $0.isEmpty ? nil : $0 }
    }
}
