/// Undoes the escape sequences of a JSON string (RFC 8259, section 7), fed piece by piece.
///
/// Two things go beyond the standard, so that a body comes back byte for byte: bytes that are no UTF-8 stay as they are, and
/// an unpaired surrogate from U+DC80 to U+DCFF is the byte from 0x80 to 0xFF, as Python writes what it could not decode.
struct JSONStringDecoder {
    /// The escape sequence that a piece ended in.
    private var pending: [UInt8] = []
    /// A high surrogate whose other half may follow.
    private var high: UInt32?

    /// The value of a hexadecimal digit.
    static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte) - 0x30
        case 0x41...0x46: UInt32(byte) - 0x41 + 10
        case 0x61...0x66: UInt32(byte) - 0x61 + 10
        default: nil
        }
    }

    /// Appends what the bytes stand for.
    mutating func decode(_ bytes: [UInt8], into result: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            if pending.isEmpty {
                let plain = bytes.plainEnd(from: index)
                if plain > index {
                    flush(into: &result)
                    result += bytes[index..<plain]
                    index = plain
                    continue
                }
                // A string that was read before has nothing but escape sequences here.
                guard bytes[index] == 0x5C else {
                    result.append(bytes[index])
                    index += 1
                    continue
                }
            }
            pending.append(bytes[index])
            index += 1
            if pending.count == (pending.count > 1 && pending[1] == UInt8(ascii: "u") ? 6 : 2) {
                unescape(into: &result)
                pending.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Appends what is still held back at the end.
    mutating func finish(into result: inout [UInt8]) { flush(into: &result) }

    private mutating func unescape(into result: inout [UInt8]) {
        guard pending[1] == UInt8(ascii: "u") else {
            flush(into: &result)
            switch pending[1] {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            default: result.append(pending[1])
            }
            return
        }
        let unit = pending[2...].reduce(0 as UInt32) { $0 << 4 | (Self.digit($1) ?? 0) }
        switch unit {
        case 0xD800...0xDBFF:
            flush(into: &result)
            high = unit
        case 0xDC00...0xDFFF:
            if let first = high {
                high = nil
                append(0x10000 + (first - 0xD800) << 10 + (unit - 0xDC00), to: &result)
            } else if (0xDC80...0xDCFF).contains(unit) {
                result.append(UInt8(unit - 0xDC00))
            } else {
                append(0xFFFD, to: &result)
            }
        default:
            flush(into: &result)
            append(unit, to: &result)
        }
    }

    private mutating func flush(into result: inout [UInt8]) {
        guard high != nil else { return }
        high = nil
        append(0xFFFD, to: &result)
    }

    private func append(_ value: UInt32, to result: inout [UInt8]) {
        guard let scalar = Unicode.Scalar(value) else { return }
        if let bytes = UTF8.encode(scalar) { result += bytes }
    }
}
