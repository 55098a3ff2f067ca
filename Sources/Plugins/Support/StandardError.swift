#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The stream for messages to people.
package enum StandardError {
    /// Writes a line; what cannot be written is dropped.
    package static func write(_ line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in
            #if canImport(Glibc)
            _ = Glibc.write(2, bytes.baseAddress, bytes.count)
            #elseif canImport(Musl)
            _ = Musl.write(2, bytes.baseAddress, bytes.count)
            #elseif canImport(Darwin)
            _ = Darwin.write(2, bytes.baseAddress, bytes.count)
            #endif
        }
    }
}
