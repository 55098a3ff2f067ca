/// Decodes Base64 (RFC 4648, section 4), fed piece by piece; accepts the alphabet for URLs, line breaks, and a text whose
/// padding is left out.
struct Base64Decoder {
    private var bits: UInt32 = 0
    private var count = 0
    private var isPadded = false

    /// Appends the decoded bytes; false if a character is not allowed.
    mutating func decode(_ bytes: ArraySlice<UInt8>, into result: inout [UInt8]) -> Bool {
        result.reserveCapacity(result.count + bytes.count / 4 * 3 + 3)
        for byte in bytes {
            let value: UInt32
            switch byte {
            case 0x41...0x5A: value = UInt32(byte) - 0x41
            case 0x61...0x7A: value = UInt32(byte) - 0x61 + 26
            case 0x30...0x39: value = UInt32(byte) - 0x30 + 52
            case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
            case UInt8(ascii: "="):
                isPadded = true
                continue
            case 0x0A, 0x0D, 0x20, 0x09: continue
            default: return false
            }
            if isPadded { return false }
            bits = bits << 6 | value
            count += 1
            guard count == 4 else { continue }
            result.append(UInt8(truncatingIfNeeded: bits >> 16))
            result.append(UInt8(truncatingIfNeeded: bits >> 8))
            result.append(UInt8(truncatingIfNeeded: bits))
            (bits, count) = (0, 0)
        }
        return true
    }

    /// Appends the last bytes; false if a single character is left over.
    mutating func finish(into result: inout [UInt8]) -> Bool {
        switch count {
        case 0: return true
        case 2: result.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3:
            result.append(UInt8(truncatingIfNeeded: bits >> 10))
            result.append(UInt8(truncatingIfNeeded: bits >> 2))
        default: return false
        }
        return true
    }
}
