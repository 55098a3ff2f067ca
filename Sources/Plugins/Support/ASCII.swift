/// What HTTP and URLs need to know of single bytes.
package enum ASCII {
    /// A `tchar` of RFC 9110, section 5.6.2.
    package static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// The unreserved characters of RFC 3986, section 2.3.
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// What may stand unescaped in a path or a query (`pchar`, `/` and `?` of RFC 3986, section 3).
    package static func isPathOrQuery(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: "/"), UInt8(ascii: ":"),
            UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "?"), UInt8(ascii: "@"):
            true
        default: isUnreserved(byte)
        }
    }

    package static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    package static func lowercase(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }

    package static func equalsIgnoringCase(_ a: String, _ b: String) -> Bool {
        if a.utf8.count != b.utf8.count { return false }
        let isEqual = a.utf8.withContiguousStorageIfAvailable { x in
            b.utf8.withContiguousStorageIfAvailable { y in
                for place in x.indices where x[place] != y[place] && lowercase(x[place]) != lowercase(y[place]) {
                    return false
                }
                return true
            }
        }
        // Strings that are not Swift's own, on Apple's platforms.
        return (isEqual ?? nil) ?? zip(a.utf8, b.utf8).allSatisfy { lowercase($0) == lowercase($1) }
    }

    /// Every byte outside `allowed` as `%XX`.
    package static func percentEncode(_ text: String, into result: inout String, allowed: (UInt8) -> Bool) {
        if text.utf8.allSatisfy(allowed) { return result += text }
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        for byte in text.utf8 {
            if allowed(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result.unicodeScalars.append("%")
                result.unicodeScalars.append(digits[Int(byte >> 4)])
                result.unicodeScalars.append(digits[Int(byte & 15)])
            }
        }
    }
}
