import ErrandEssentials

/// The encoding of a JSON text, by its byte order mark or by where zeros stand among its first bytes (RFC 4627, section 3).
enum TextEncoding {
    /// The text in UTF-8 and without its byte order mark.
    static func utf8(_ data: Data) throws(JSONDecodingError) -> [UInt8] {
        let bytes = Array(data)
        let (encoding, mark) = detect(bytes)
        if encoding == .utf8 { return mark == 0 ? bytes : Array(bytes.dropFirst(mark)) }
        guard let converted = String(bytes: bytes.dropFirst(mark), encoding: encoding) else {
            throw JSONDecodingError(
                .invalidEncoding, "text in the encoding of its first bytes expected", byte: 0)
        }
        return Array(converted.utf8)
    }

    /// The encoding, and how many bytes its mark takes.
    private static func detect(_ bytes: [UInt8]) -> (String.Encoding, mark: Int) {
        let count = bytes.count
        // The common case: neither a zero nor a mark.
        if count < 2 || bytes[0] != 0 && bytes[1] != 0 && bytes[0] < 0xEF { return (.utf8, 0) }
        let (a, b) = (bytes[0], bytes[1])
        let (c, d) = (count > 2 ? bytes[2] : 1, count > 3 ? bytes[3] : 1)
        switch (a, b, c, d) {
        case (0, 0, 0xFE, 0xFF): return (.utf32BigEndian, 4)
        case (0xFE, 0xFF, 0, 0): return (.utf32LittleEndian, 4)
        case (0xFE, 0xFF, _, _): return (.utf16BigEndian, 2)
        case (0xFF, 0xFE, _, _): return (.utf16LittleEndian, 2)
        case (0xEF, 0xBB, 0xBF, _): return (.utf8, 3)
        default: break
        }
        // Two bytes are a digit in UTF-16; three are in no encoding of more than one byte.
        if count == 3 { return (.utf8, 0) }
        let isShort = count == 2
        switch (a == 0, b == 0, isShort ? a == 0 : c == 0, isShort ? b == 0 : d == 0) {
        case (true, true, true, false): return (.utf32BigEndian, 0)
        case (true, false, true, false): return (.utf16BigEndian, 0)
        case (false, true, true, true): return (.utf32LittleEndian, 0)
        case (false, true, false, true): return (.utf16LittleEndian, 0)
        default: return (.utf8, 0)
        }
    }
}
