import ErrandEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// Reads a file, a pipe, or standard input.
enum ValidateInput {
    /// The name for standard input.
    static let standardInput = "-"
    /// The most bytes to read: one more than documents and schemas may have.
    static let maximumBytes = (80 << 20) + 1

    /// Returns nil if the path can't be read.
    static func data(at path: String) -> Data? {
        if path == standardInput { return data(of: STDIN_FILENO) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return data(of: descriptor)
    }

    private static func data(of descriptor: Int32) -> Data? {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while data.count < maximumBytes {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            data.append(contentsOf: buffer[..<count])
        }
        return data
    }
}
