/// The content of a string that the lexer has accepted, between its quotes.
struct JSONText {
    let start: BytePointer
    let end: BytePointer

    var count: Int { end - start }

    /// Whether the content has escapes.
    var hasEscapes: Bool {
        var p = start
        while end - p >= 8 {
            let slashes = Lexer.word(p) ^ 0x5C5C_5C5C_5C5C_5C5C
            if (slashes &- 0x0101_0101_0101_0101) & ~slashes & 0x8080_8080_8080_8080 != 0 { return true }
            p += 8
        }
        while p < end {
            if p.pointee == Lexer.backslash { return true }
            p += 1
        }
        return false
    }

    /// The characters in UTF-8, with escapes resolved.
    var decoded: Decoded { Decoded(p: start, end: end) }

    /// The characters, up to a number of bytes.
    func string(limit: Int = .max) -> String {
        var bytes: [UInt8] = []
        for byte in decoded {
            // Truncated between characters.
            if bytes.count >= limit, byte & 0xC0 != 0x80 {
                return String(decoding: bytes, as: UTF8.self) + "…"
            }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The number of Unicode scalars; counting stops after a limit.
    func scalars(limit: Int) -> Int {
        var count = 0
        for byte in decoded where byte & 0xC0 != 0x80 {
            count += 1
            if count > limit { break }
        }
        return count
    }

    struct Decoded: Sequence, IteratorProtocol {
        var p: BytePointer
        let end: BytePointer
        /// The remaining bytes of an escape, the next one lowest.
        private var pending: UInt32 = 0

        init(p: BytePointer, end: BytePointer) {
            self.p = p
            self.end = end
        }

        mutating func next() -> UInt8? {
            if pending != 0 {
                defer { pending >>= 8 }
                return UInt8(truncatingIfNeeded: pending)
            }
            guard p < end else { return nil }
            guard p.pointee == Lexer.backslash else {
                defer { p += 1 }
                return p.pointee
            }
            return escaped()
        }

        private mutating func escaped() -> UInt8? {
            guard end - p >= 2 else { return nil }
            let letter = p[1]
            p += 2
            switch letter {
            case 0x62: return 0x08
            case 0x66: return 0x0C
            case 0x6E: return 0x0A
            case 0x72: return 0x0D
            case 0x74: return 0x09
            case 0x75: break
            default: return letter
            }
            guard var value = Lexer.hexUnit(p, end) else { return nil }
            p += 4
            if value & 0xFC00 == 0xD800, end - p >= 6, let low = Lexer.hexUnit(p + 2, end) {
                value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
                p += 6
            }
            guard let scalar = Unicode.Scalar(value) else { return nil }
            var bytes = UTF8.encode(scalar)?.makeIterator()
            let first = bytes?.next()
            var shift: UInt32 = 0
            while let byte = bytes?.next() {
                pending |= UInt32(byte) << shift
                shift += 8
            }
            return first
        }
    }
}
