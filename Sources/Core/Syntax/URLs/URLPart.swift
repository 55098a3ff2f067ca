/// A part of a URL. The part determines which bytes are escaped.
///
/// Escapes the bytes in the WHATWG standard's percent-encode sets (section 1.3). Also escapes bytes that RFC 3986
/// doesn't allow in the part: `[`, `]`, `^`, `|`, `{`, `}`, a backslash or a lone `%`. Some servers and proxies reject
/// these bytes if they aren't escaped.
enum URLPart {
    case user, opaqueHost, path, query, specialQuery, fragment

    func allows(_ byte: UInt8) -> Bool {
        switch self {
        case .user: isUserByte(byte)
        case .opaqueHost: isUserByte(byte) || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "=")
        case .path: ASCII.isPathOrQuery(byte) && byte != UInt8(ascii: "?")
        case .query, .fragment: ASCII.isPathOrQuery(byte)
        case .specialQuery: ASCII.isPathOrQuery(byte) && byte != UInt8(ascii: "'")
        }
    }

    private func isUserByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","): true
        default: ASCII.isUnreserved(byte)
        }
    }

    /// Appends bytes, escaped as this part requires. Keeps existing escapes.
    func append(_ bytes: ArraySlice<UInt8>, to result: inout [UInt8]) {
        for index in bytes.indices {
            let byte = bytes[index]
            if allows(byte) || byte == UInt8(ascii: "%") && URLPart.isEscape(bytes, at: index) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(URLPart.digit(byte >> 4))
                result.append(URLPart.digit(byte & 15))
            }
        }
    }

    func encoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        append(bytes, to: &result)
        return result
    }

    static func isEscape(_ bytes: ArraySlice<UInt8>, at index: Int) -> Bool {
        index + 2 < bytes.endIndex && ASCII.isHexDigit(bytes[index + 1]) && ASCII.isHexDigit(bytes[index + 2])
    }

    static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "%"), isEscape(bytes, at: index),
                let high = ASCII.hexValue(bytes[index + 1]), let low = ASCII.hexValue(bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    private static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "A") - 10 + number
    }
}
