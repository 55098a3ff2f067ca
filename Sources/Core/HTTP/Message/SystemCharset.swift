#if !canImport(Darwin)
import ErrandEssentials
import ErrandSupport

/// A charset of the C library: looks up one character at a time. Only names from Errand's own table come here, never a
/// label from outside.
final class SystemCharset {
    private let converter: iconv_t

    /// Nil for a charset that the system doesn't have.
    init?(_ name: String) {
        // Not optional on Android.
        let opened: iconv_t? = iconv_open("UTF-32BE", name)
        guard let converter = opened, Int(bitPattern: converter) != -1 else { return nil }
        self.converter = converter
    }

    deinit { iconv_close(converter) }

    /// The one character of the bytes; zero if they are none, or several.
    func scalar(_ bytes: [UInt8]) -> UInt32 {
        var input = bytes.map(CChar.init(bitPattern:))
        var output = [CChar](repeating: 0, count: 16)
        let count = input.withUnsafeMutableBufferPointer { source -> Int in
            output.withUnsafeMutableBufferPointer { target in
                var (from, to) = (source.baseAddress, target.baseAddress)
                var (left, room) = (source.count, target.count)
                iconv(converter, nil, nil, nil, nil)
                guard iconv(converter, &from, &left, &to, &room) != -1, left == 0 else { return 0 }
                // A letter is held back until the converter knows what follows it.
                guard iconv(converter, nil, nil, &to, &room) != -1 else { return 0 }
                return target.count - room
            }
        }
        guard count == 4 else { return 0 }
        return output[..<4].reduce(0) { $0 << 8 | UInt32(UInt8(bitPattern: $1)) }
    }
}
#endif
