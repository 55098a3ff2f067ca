#if !canImport(Darwin)
import ErrandEssentials
import ErrandSupport

/// A charset of the C library: looks up one character at a time. Only names from Errand's own table come here, never a
/// label from outside.
///
/// Safe to use: only this object has the converter, from the one call that opens it to the one that closes it, and each
/// call of `iconv` gets pointers into two arrays of this function's with their lengths.
@safe final class SystemCharset {
    private let converter: iconv_t

    /// Nil for a charset that the system doesn't have.
    init?(_ name: String) {
        // Not optional on Android.
        let opened: iconv_t? = unsafe iconv_open("UTF-32BE", name)
        guard let converter = unsafe opened, Int(bitPattern: converter) != -1 else { return nil }
        unsafe self.converter = unsafe converter
    }

    deinit { unsafe iconv_close(converter) }

    /// The one character of the bytes; zero if they are none, or several.
    func scalar(_ bytes: [UInt8]) -> UInt32 {
        var input = bytes.map(CChar.init(bitPattern:))
        var output = [CChar](repeating: 0, count: 16)
        let count = unsafe input.withUnsafeMutableBufferPointer { source -> Int in
            unsafe output.withUnsafeMutableBufferPointer { target in
                var (from, to) = (source.baseAddress, target.baseAddress)
                var (left, room) = (source.count, target.count)
                unsafe iconv(converter, nil, nil, nil, nil)
                guard unsafe iconv(converter, &from, &left, &to, &room) != -1, left == 0 else { return 0 }
                // A letter is held back until the converter knows what follows it.
                guard unsafe iconv(converter, nil, nil, &to, &room) != -1 else { return 0 }
                return target.count - room
            }
        }
        guard count == 4 else { return 0 }
        return output[..<4].reduce(0) { $0 << 8 | UInt32(UInt8(bitPattern: $1)) }
    }
}
#endif
