import Errand
import ErrandEssentials
import ErrandSupport

/// The bytes of an archive: in memory, or in a file that stays open and is read piece by piece.
final class HARSource: Sendable {
    private enum Storage: ~Copyable, Sendable {
        case data(Data)
        case file(SystemFile)
    }

    /// A file of at most this many bytes is read into memory, so that many small ones hold no file open.
    static let memoryLimit = 4 << 20

    private let storage: Storage
    let byteCount: Int

    init(_ data: Data) {
        storage = .data(data)
        byteCount = data.count
    }

    /// - Throws: ``HARError/Code/fileFailed``.
    convenience init(contentsOf url: URL) throws(HARError) {
        guard url.isFileURL else { throw HARError(.fileFailed, "the URL is not that of a file") }
        do throws(SystemFile.Failure) {
            let size = Int(try SystemFile.size(of: url.path))
            let file = try SystemFile(url.path, [.read, .onlyRegular])
            if size > Self.memoryLimit {
                self.init(file, size)
            } else {
                self.init(try file.read(size, at: 0))
            }
        } catch { throw HARError(.fileFailed, error.description) }
    }

    private init(_ file: consuming SystemFile, _ size: Int) {
        storage = .file(file)
        byteCount = size
    }

    /// The bytes from an offset, at most `count`; fewer at the end.
    func read(_ count: Int, at offset: Int) throws(HARError) -> [UInt8] {
        let end = min(offset + max(0, count), byteCount)
        guard offset >= 0, offset < end else { return [] }
        switch storage {
        case .data(let data): return Array(data[data.startIndex + offset..<data.startIndex + end])
        case .file(let file):
            do throws(SystemFile.Failure) { return Array(try file.read(end - offset, at: Int64(offset))) } catch {
                throw HARError(.fileFailed, error.description, byte: offset)
            }
        }
    }
}
