import ErrandSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// An open file of the process, written without buffering.
struct Descriptor: Sendable {
    var number: Int32

    static let output = Descriptor(number: 1)
    static let error = Descriptor(number: 2)

    var isTerminal: Bool { isatty(number) != 0 }

    /// The size of the terminal, or 80 by 24 if unknown.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// Writes everything. Returns the system's error number if writing fails. Blocks, even if another program has set
    /// the terminal to non-blocking.
    func write(_ bytes: some Collection<UInt8>) -> Int32? {
        let result = bytes.withContiguousStorageIfAvailable {
            SystemFile.write(UnsafeRawBufferPointer($0), to: number)
        }
        return result ?? Array(bytes).withUnsafeBytes { SystemFile.write($0, to: number) }
    }

    /// Opens /dev/null for closed standard streams, so no other file gets their descriptors.
    static func fillStandardStreams() {
        for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 && errno == EBADF {
            let opened = open("/dev/null", O_RDWR)
            if opened > 2 { close(opened) }
        }
    }
}
