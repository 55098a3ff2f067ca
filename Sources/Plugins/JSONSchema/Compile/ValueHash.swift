import ErrandJSONSyntax
import ErrandJSONValidation

/// A digest of a JSON value. Values that are equal by ``JSONEquality`` have equal digests.
struct ValueDigest: Hashable {
    /// Differs between processes, because the seeds are random.
    var hash: UInt64
    /// A length that equal values share, such as the length of a string without escapes.
    var length: Int
}

/// Computes digests of JSON values. Every step mixes in a random seed, so attackers can't choose different values with
/// the same digest.
struct ValueHash: Sendable {
    private let first = UInt64.random(in: .min ... .max)
    private let second = UInt64.random(in: .min ... .max) | 1
    private let string = UInt64.random(in: .min ... .max)
    private let number = UInt64.random(in: .min ... .max)
    private let literal = UInt64.random(in: .min ... .max)
    private let array = UInt64.random(in: .min ... .max)
    private let object = UInt64.random(in: .min ... .max)

    /// Code that hashes often keeps a copy, because each access to a static property checks whether the property is
    /// initialized.
    static let shared = ValueHash()

    private init() {}

    /// `second` is never 0. If the other factor is 0, the added term still depends on the word.
    @inline(__always) private func absorb(_ word: UInt64, into hash: UInt64) -> UInt64 {
        KeyHash.mix(hash &+ word, second) &+ (word ^ first)
    }

    @inline(__always) func start(isObject: Bool) -> ValueDigest {
        ValueDigest(hash: isObject ? object : array, length: 2)
    }

    @inline(__always) func adding(_ element: ValueDigest, to array: ValueDigest) -> ValueDigest {
        ValueDigest(hash: absorb(element.hash, into: array.hash), length: array.length &+ element.length &+ 1)
    }

    /// Members may be added in any order.
    @inline(__always) func adding(
        _ key: ValueDigest, _ value: ValueDigest, to object: ValueDigest
    ) -> ValueDigest {
        let member = absorb(value.hash, into: absorb(key.hash, into: self.object))
        return ValueDigest(hash: object.hash &+ member, length: object.length &+ key.length &+ value.length &+ 2)
    }

    /// The range includes the quotes.
    func text(_ text: Span<UInt8>, _ range: Range<Int>) -> ValueDigest {
        let content = JSONContent(range.lowerBound + 1, range.upperBound - 1)
        if content.hasEscapes(in: text) {
            let decoded = content.decoded(in: text)
            return ValueDigest(hash: absorb(KeyHash.hash(decoded), into: string), length: decoded.count + 2)
        }
        let hash = KeyHash.hash(text, from: content.start, count: content.count)
        return ValueDigest(hash: absorb(hash, into: string), length: content.count + 2)
    }

    func scalar(_ text: Span<UInt8>, _ range: Range<Int>) -> ValueDigest {
        let first = text[range.lowerBound]
        switch first {
        case JSONGrammar.quote: return self.text(text, range)
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            return ValueDigest(hash: absorb(UInt64(first), into: literal), length: range.count)
        default:
            let value = ExactDecimal(text, range)
            let digits = value.isShort ? value.short : KeyHash.hash(value.long)
            // A negative number flips the highest bit of its exponent, which no text is long enough to set.
            let power = UInt64(bitPattern: Int64(value.exponent)) ^ (value.isNegative ? 1 << 63 : 0)
            let hash = absorb(power, into: absorb(digits, into: number))
            return ValueDigest(hash: hash, length: value.digitCount &+ value.exponent)
        }
    }

    func digest(_ text: Span<UInt8>, _ range: Range<Int>) -> ValueDigest {
        let none = ValueDigest(hash: 0, length: 0)
        var open: [(digest: ValueDigest, key: ValueDigest?, isObject: Bool)] = []
        var p = range.lowerBound
        while p < range.upperBound {
            p = JSONGrammar.skipSpace(in: text, from: p)
            guard p < range.upperBound else { break }
            let byte = text[p]
            let value: ValueDigest
            switch byte {
            case JSONGrammar.comma, JSONGrammar.colon:
                p += 1
                continue
            case JSONGrammar.openBrace, JSONGrammar.openBracket:
                let isObject = byte == JSONGrammar.openBrace
                open.append((self.start(isObject: isObject), nil, isObject))
                p += 1
                continue
            case JSONGrammar.closeBrace, JSONGrammar.closeBracket:
                p += 1
                value = open.popLast()?.digest ?? none
            default:
                let first = p
                p = JSONGrammar.scalarEnd(text, p)
                // Prevents an endless loop, which valid text can't cause.
                if p == first { return none }
                if let last = open.last, last.isObject, last.key == nil {
                    open[open.count - 1].key = self.text(text, first..<p)
                    continue
                }
                value = scalar(text, first..<p)
            }
            guard let last = open.last else { return value }
            open[open.count - 1].digest =
                if let key = last.key { adding(key, value, to: last.digest) } else { adding(value, to: last.digest) }
            open[open.count - 1].key = nil
        }
        return none
    }
}

extension JSONGrammar {
    static func scalarEnd(_ text: Span<UInt8>, _ p: Int) -> Int {
        switch text[p] {
        case quote: string(in: text, from: p + 1).index
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): number(in: text, from: p).end.index
        default: literal(in: text, from: p).index
        }
    }
}
