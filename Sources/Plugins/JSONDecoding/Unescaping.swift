import ErrandJSONSyntax

/// Strings with escapes, which the index has found to be valid (RFC 8259, section 7).
enum Unescaping {
    /// The characters between two quotes.
    static func string(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> String {
        // No escape is shorter than what it stands for.
        String(unsafeUninitializedCapacity: end - start) { buffer in
            guard let base = buffer.baseAddress else { return 0 }
            var (p, out) = (start, base)
            while p < end {
                let plain = JSONGrammar.plainEnd(p, end)
                out.update(from: p, count: plain - p)
                out += plain - p
                guard plain < end else { break }
                p = escape(plain, &out)
            }
            return out - base
        }
    }

    /// Writes the character of an escape, and returns where the text goes on.
    private static func escape(
        _ p: UnsafePointer<UInt8>, _ out: inout UnsafeMutablePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        guard p[1] == 0x75 else {
            out.pointee = JSONGrammar.character(escapedAs: p[1]) ?? 0
            out += 1
            return p + 2
        }
        var (value, next) = (unit(p + 2), p + 6)
        if value & 0xFC00 == 0xD800 {
            value = 0x10000 + (value & 0x3FF) << 10 + unit(next + 2) & 0x3FF
            next += 6
        }
        if let scalar = Unicode.Scalar(value) {
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                out.pointee = byte
                out += 1
            }
        }
        return next
    }

    private static func unit(_ p: UnsafePointer<UInt8>) -> UInt32 { JSONGrammar.hexUnit(p, p + 4) ?? 0 }
}
