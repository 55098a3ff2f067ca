/// What tells values apart by what they mean: numbers by value, strings without escapes, objects in any order. Equal values
/// have equal digests.
struct ValueDigest: Hashable {
    /// Depends on seeds that differ between processes.
    var hash: UInt64
    /// The length of the canonical form, which depends on no seed.
    var length: Int
}

/// Digests of JSON values. Every step has a secret seed, and none loses what it has already: a value that cancelled the
/// key in front of it would have to be known for each key.
enum ValueHash {
    private static let seeds = (
        first: UInt64.random(in: .min ... .max), second: UInt64.random(in: .min ... .max) | 1,
        string: UInt64.random(in: .min ... .max), number: UInt64.random(in: .min ... .max),
        literal: UInt64.random(in: .min ... .max), array: UInt64.random(in: .min ... .max),
        object: UInt64.random(in: .min ... .max)
    )

    /// Takes a word in: nothing but the sum of both can be zero, and the seed is never.
    @inline(__always) private static func absorb(_ word: UInt64, into hash: UInt64) -> UInt64 {
        let seeds = seeds
        return KeyHash.mix(hash &+ word, seeds.second) &+ (word ^ seeds.first)
    }

    /// Where the digest of an array or an object starts.
    @inline(__always) static func start(isObject: Bool) -> ValueDigest {
        ValueDigest(hash: isObject ? seeds.object : seeds.array, length: 2)
    }

    /// The digest of an array with one more element.
    @inline(__always) static func adding(_ element: ValueDigest, to array: ValueDigest) -> ValueDigest {
        ValueDigest(hash: absorb(element.hash, into: array.hash), length: array.length &+ element.length &+ 1)
    }

    /// The digest of an object with one more member; the order does not matter.
    @inline(__always) static func adding(
        _ key: ValueDigest, _ value: ValueDigest, to object: ValueDigest
    ) -> ValueDigest {
        let member = absorb(value.hash, into: absorb(key.hash, into: seeds.object))
        return ValueDigest(hash: object.hash &+ member, length: object.length &+ key.length &+ value.length &+ 2)
    }

    /// The digest of a string, between its quotes and including them.
    static func text(_ start: BytePointer, _ end: BytePointer) -> ValueDigest {
        let text = JSONText(start: start + 1, end: end - 1)
        let hasEscapes = text.hasEscapes
        let hash = KeyHash.hash(text, hasEscapes: hasEscapes)
        let length = hasEscapes ? text.decoded.reduce(0) { count, _ in count + 1 } : text.count
        return ValueDigest(hash: absorb(hash, into: seeds.string), length: length + 2)
    }

    /// The digest of a value that is not an array or an object.
    static func scalar(_ start: BytePointer, _ end: BytePointer) -> ValueDigest {
        switch start.pointee {
        case Lexer.quote: return text(start, end)
        case 0x74, 0x66, 0x6E:
            return ValueDigest(hash: absorb(UInt64(start.pointee), into: seeds.literal), length: end - start)
        default:
            let value = ExactDecimal(start, end)
            let digits = value.isShort ? value.short : KeyHash.hash(value.long)
            // A sign more makes another power, which is far from any that a text can have.
            let power = UInt64(bitPattern: Int64(value.exponent)) ^ (value.isNegative ? 1 << 63 : 0)
            let hash = absorb(power, into: absorb(digits, into: seeds.number))
            return ValueDigest(hash: hash, length: value.digitCount &+ value.exponent)
        }
    }

    /// The digest of any valid value.
    static func digest(_ start: BytePointer, _ end: BytePointer) -> ValueDigest {
        let none = ValueDigest(hash: 0, length: 0)
        // The digests of the open containers, with the key of the member to come.
        var open: [(digest: ValueDigest, key: ValueDigest?, isObject: Bool)] = []
        var p = start
        while p < end {
            p = Lexer.skipSpace(p, end)
            guard p < end else { break }
            let byte = p.pointee
            let value: ValueDigest
            switch byte {
            case Lexer.comma, Lexer.colon:
                p += 1
                continue
            case Lexer.openBrace, Lexer.openBracket:
                let isObject = byte == Lexer.openBrace
                open.append((self.start(isObject: isObject), nil, isObject))
                p += 1
                continue
            case Lexer.closeBrace, Lexer.closeBracket:
                p += 1
                value = open.popLast()?.digest ?? none
            default:
                let first = p
                p = Lexer.scalarEnd(p, end)
                // The lexer accepted the text before; this ends a loop that would make no way.
                if p == first { return none }
                if let last = open.last, last.isObject, last.key == nil {
                    open[open.count - 1].key = text(first, p)
                    continue
                }
                value = scalar(first, p)
            }
            guard let last = open.last else { return value }
            open[open.count - 1].digest =
                if let key = last.key { adding(key, value, to: last.digest) } else { adding(value, to: last.digest) }
            open[open.count - 1].key = nil
        }
        return none
    }
}

extension Lexer {
    /// Where a string, a number or a literal ends that was accepted before.
    static func scalarEnd(_ p: BytePointer, _ end: BytePointer) -> BytePointer {
        switch p.pointee {
        case quote: string(p + 1, end).end
        case 0x2D, 0x30...0x39: number(p, end).scan.end
        default: literal(p, end).end
        }
    }
}
