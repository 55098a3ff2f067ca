#if !canImport(Darwin)
import ErrandEssentials
import ErrandSupport

/// A charset in the C library. Its name comes only from Errand's own table.
///
/// Safe to use: only this object has the converter, from `iconv_open` to `iconv_close`. Each `iconv` call gets pointers
/// to two local arrays, with their lengths.
@safe final class SystemCharset {
    private let converter: iconv_t

    init?(_ name: String) {
        // The type is declared because Android imports the result of `iconv_open` as nonoptional.
        let opened: iconv_t? = unsafe iconv_open("UTF-32BE", name)
        guard let converter = unsafe opened, Int(bitPattern: converter) != -1 else { return nil }
        unsafe self.converter = unsafe converter
    }

    deinit { unsafe iconv_close(converter) }

    /// Returns the character that the bytes encode, or zero unless they encode exactly one character.
    func scalar(_ bytes: [UInt8]) -> UInt32 {
        var input = bytes.map(CChar.init(bitPattern:))
        var output = [CChar](repeating: 0, count: 16)
        let count = unsafe input.withUnsafeMutableBufferPointer { source -> Int in
            unsafe output.withUnsafeMutableBufferPointer { target in
                var (from, to) = (source.baseAddress, target.baseAddress)
                var (left, room) = (source.count, target.count)
                unsafe iconv(converter, nil, nil, nil, nil)
                guard unsafe iconv(converter, &from, &left, &to, &room) != -1, left == 0 else { return 0 }
                // Flush the character, because the converter can hold it back.
                guard unsafe iconv(converter, nil, nil, &to, &room) != -1 else { return 0 }
                return target.count - room
            }
        }
        guard count == 4 else { return 0 }
        return output[..<4].reduce(0) { $0 << 8 | UInt32(UInt8(bitPattern: $1)) }
    }
}
#endif
