import ErrandJSONSyntax
import ErrandMessageSyntax
import ErrandSupport

/// Decodes the escapes in a JSON string (RFC 8259, section 7), piece by piece.
///
/// Bodies have to be restored byte for byte, so invalid UTF-8 stays unchanged. An unpaired surrogate from U+DC80 to
/// U+DCFF becomes a byte from 0x80 to 0xFF, because Python writes bytes that it can't decode in this way.
struct JSONStringDecoder {
    private var pending: [UInt8] = []
    /// The high surrogate of a pair whose low surrogate hasn't arrived.
    private var high: UInt32?

    mutating func decode(_ bytes: [UInt8], into result: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            if pending.isEmpty {
                let plain = bytes.withSpan { JSONGrammar.plainEnd(in: $0, from: index) }
                if plain > index {
                    flush(into: &result)
                    result += bytes[index..<plain]
                    index = plain
                    continue
                }
                // Only an escape can be here, because the string was scanned before.
                guard bytes[index] == JSONGrammar.backslash else {
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

    mutating func finish(into result: inout [UInt8]) { flush(into: &result) }

    private mutating func unescape(into result: inout [UInt8]) {
        guard pending[1] == UInt8(ascii: "u") else {
            flush(into: &result)
            result.append(JSONGrammar.character(escapedAs: pending[1]) ?? pending[1])
            return
        }
        let unit = pending[2...].reduce(0 as UInt32) { $0 << 4 | UInt32(ASCII.hexValue($1) ?? 0) }
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
