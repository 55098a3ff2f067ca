#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reading and writing at a place of an open file, as much as is asked for, whatever the system does in one call. Blocks.
package enum PositionedIO {
    /// What the system said.
    package struct Failure: Error {
        package let code: Int32
    }

    /// Writes all of it.
    package static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int64) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let written = pwrite(
                file, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + off_t(done))
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw Failure(code: written < 0 ? errno : EIO) }
            done += written
        }
    }

    /// Fills the buffer as far as the file reaches, and returns how far that is.
    package static func read(_ buffer: UnsafeMutableRawBufferPointer, from file: Int32, at offset: Int64)
        throws(Failure)
        -> Int
    {
        var done = 0
        while done < buffer.count {
            let received = pread(
                file, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
            if received < 0 && errno == EINTR { continue }
            if received < 0 { throw Failure(code: errno) }
            if received == 0 { break }
            done += received
        }
        return done
    }
}
