import ErrandSupport

import ErrandEssentials
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reading and writing at a place, whole or not at all. Everything blocks.
enum FileDescriptor {
    static func write(_ file: Int32, _ bytes: some ContiguousBytes, at offset: Int64) throws(DownloadError) {
        let result: Result<Void, PositionedIO.Failure> = bytes.withUnsafeBytes { bytes in
            Result { () throws(PositionedIO.Failure) in try PositionedIO.write(bytes, to: file, at: offset) }
        }
        do { try result.get() } catch { throw DownloadError(system: error.code, "the partial file cannot be written") }
    }

    /// At most `count` bytes; fewer at the end.
    static func read(_ file: Int32, at offset: Int64, _ count: Int) throws(DownloadError) -> Data {
        var data = Data(count: count)
        let result: Result<Int, PositionedIO.Failure> = data.withUnsafeMutableBytes { buffer in
            Result { () throws(PositionedIO.Failure) in try PositionedIO.read(buffer, from: file, at: offset) }
        }
        do {
            let received = try result.get()
            return received == count ? data : Data(data.prefix(received))
        } catch {
            throw DownloadError(system: error.code, "the partial file cannot be read")
        }
    }

    /// Everything from the start on; nothing if that is more than `limit` or cannot be read.
    static func readAll(_ file: Int32, limit: Int) -> [UInt8] {
        guard let data = try? read(file, at: 0, limit + 1), data.count <= limit else { return [] }
        return Array(data)
    }

    static func flush(_ file: Int32) throws(DownloadError) {
        #if os(Linux)
        let result = fdatasync(file)
        #else
        // fsync(2) on Darwin leaves the bytes in the drive's own memory.
        let result = fcntl(file, F_FULLFSYNC) == 0 ? 0 : fsync(file)
        #endif
        // A file system that cannot is no reason to fail.
        if result != 0, errno != EINVAL, errno != ENOTSUP {
            throw DownloadError(system: errno, "the file cannot be flushed to disk")
        }
    }

    static func beginFlush(_ file: Int32) {
        #if os(Linux)
        _ = syncFileRange?(file, 0, 0, 2)
        #endif
    }

    #if os(Linux)
    /// sync_file_range(2) with SYNC_FILE_RANGE_WRITE; the header that Swift sees does not have it.
    private static let syncFileRange: (@convention(c) (Int32, Int64, Int64, UInt32) -> Int32)? =
        dlsym(nil, "sync_file_range").map {
            unsafeBitCast($0, to: (@convention(c) (Int32, Int64, Int64, UInt32) -> Int32).self)
        }
    #endif

    /// So that the new name survives a crash as well.
    static func flushDirectory(of path: String) {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        let directory = end == path.startIndex ? "/" : String(path[..<end])
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 {
            fsync(descriptor)
            close(descriptor)
        }
    }
}
