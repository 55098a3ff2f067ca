import ErrandJSONSyntax

/// A key of an object that was read before, prepared for comparison: its first 16 bytes with the closing quote, and its place
/// in the text.
struct OrderedKey: BitwiseCopyable {
    private let word0: UInt64
    private let mask0: UInt64
    private let word1: UInt64
    private let mask1: UInt64
    private let start: BytePointer
    private let isEscaped: Bool
    let length: Int

    init(_ text: JSONText, hasEscapes: Bool) {
        (start, length, isEscaped) = (text.start, text.count, hasEscapes)
        (word0, mask0) = Self.word(text, from: 0)
        (word1, mask1) = Self.word(text, from: 8)
    }

    var text: JSONText { JSONText(start: start, end: start + length) }
    var hasEscapes: Bool { isEscaped }

    /// Equal bytes up to the closing quote are an equal key, whatever escapes it has.
    @inline(__always) func starts(_ p: BytePointer, _ end: BytePointer) -> Bool {
        guard Bytes.word(p) & mask0 == word0, Bytes.word(p + 8) & mask1 == word1 else { return false }
        return length < 16 || isLong(p, end)
    }

    @inline(never) private func isLong(_ p: BytePointer, _ end: BytePointer) -> Bool {
        end - p > length && p[length] == JSONGrammar.quote && Bytes.equal(p, start, count: length)
    }

    private static func word(_ text: JSONText, from start: Int) -> (UInt64, UInt64) {
        var (word, mask): (UInt64, UInt64) = (0, 0)
        for index in 0..<8 where start + index <= text.count {
            word |= UInt64(text.start[start + index]) << UInt64(8 * index)
            mask |= 0xFF << UInt64(8 * index)
        }
        return (word, mask)
    }
}
