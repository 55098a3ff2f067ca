/// Hashes of JSON values by what they mean: numbers by value, strings without escapes, objects in any order. Equal values
/// have equal hashes; the seed differs between processes.
enum ValueHash {
    static let null: UInt64 = 0x8D5A_91C3_3F1B_7E01
    static let `true`: UInt64 = 0x1F83_D9AB_FB41_BD6B
    static let `false`: UInt64 = 0x5BE0_CD19_137E_2179
    private static let string: UInt64 = 0xA54F_F53A_5F1D_36F1
    private static let array: UInt64 = 0x510E_527F_ADE6_82D1
    private static let object: UInt64 = 0x9B05_688C_2B3E_6C1F
    private static let number: UInt64 = 0xCBBB_9D5D_C105_9ED8

    /// Where the hash of an array or an object starts.
    @inline(__always) static func start(isObject: Bool) -> UInt64 { isObject ? object : array }

    /// The hash of an array with one more element.
    @inline(__always) static func adding(_ element: UInt64, to hash: UInt64) -> UInt64 {
        KeyHash.mix(hash ^ element, 0xE703_7ED1_A0B4_28DB) &+ element
    }

    /// The hash of an object with one more member; the order does not matter.
    @inline(__always) static func adding(_ key: UInt64, _ value: UInt64, to hash: UInt64) -> UInt64 {
        hash &+ KeyHash.mix(key ^ 0x8EBC_6AF0_9C88_C6E3, value ^ 0x5899_65CC_7537_4CC3)
    }

    static func text(_ start: BytePointer, _ end: BytePointer) -> UInt64 {
        let text = JSONText(start: start + 1, end: end - 1)
        return KeyHash.hash(text, hasEscapes: text.hasEscapes)
    }

    /// The hash of a value that is not an array or an object.
    static func scalar(_ start: BytePointer, _ end: BytePointer) -> UInt64 {
        switch start.pointee {
        case Lexer.quote: return string ^ text(start, end)
        case 0x74: return `true`
        case 0x66: return `false`
        case 0x6E: return null
        default:
            let value = ExactDecimal(start, end)
            let digits = value.isShort ? value.short : KeyHash.hash(value.long)
            let power = UInt64(bitPattern: Int64(value.exponent))
            return KeyHash.mix(digits ^ number, power ^ 0x1D8E_4E27_C47D_124F) ^ (value.isNegative ? number : 0)
        }
    }

    /// The hash of any valid value.
    static func hash(_ start: BytePointer, _ end: BytePointer) -> UInt64 {
        // The hashes of the open containers, with the key of the member to come.
        var open: [(hash: UInt64, key: UInt64, isObject: Bool, hasKey: Bool)] = []
        var p = start
        while p < end {
            p = Lexer.skipSpace(p, end)
            guard p < end else { break }
            let byte = p.pointee
            let value: UInt64
            switch byte {
            case Lexer.comma, Lexer.colon:
                p += 1
                continue
            case Lexer.openBrace, Lexer.openBracket:
                let isObject = byte == Lexer.openBrace
                open.append((self.start(isObject: isObject), 0, isObject, false))
                p += 1
                continue
            case Lexer.closeBrace, Lexer.closeBracket:
                p += 1
                value = open.popLast()?.hash ?? 0
            default:
                let first = p
                switch byte {
                case Lexer.quote: p = Lexer.string(p + 1, end).end
                case 0x2D, 0x30...0x39: p = Lexer.number(p, end).scan.end
                default: p = Lexer.literal(p, end).end
                }
                // The lexer accepted the text before; this ends a loop that would make no way.
                if p == first { return 0 }
                if let last = open.last, last.isObject, !last.hasKey {
                    open[open.count - 1].key = text(first, p)
                    open[open.count - 1].hasKey = true
                    continue
                }
                value = scalar(first, p)
            }
            guard let last = open.last else { return value }
            open[open.count - 1].hash =
                last.isObject ? adding(last.key, value, to: last.hash) : adding(value, to: last.hash)
            open[open.count - 1].hasKey = false
        }
        return 0
    }
}
