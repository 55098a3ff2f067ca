import ErrandJSONSyntax

/// A key of an object that was read before, prepared for comparison: its first 16 bytes with the closing quote, and its place
/// in the text.
struct OrderedKey: BitwiseCopyable {
    private let word0: UInt64
    private let mask0: UInt64
    private let word1: UInt64
    private let mask1: UInt64
    let content: JSONContent
    let hasEscapes: Bool

    init(_ content: JSONContent, in text: Span<UInt8>, hasEscapes: Bool) {
        (self.content, self.hasEscapes) = (content, hasEscapes)
        (word0, mask0) = Self.word(content, in: text, from: 0)
        (word1, mask1) = Self.word(content, in: text, from: 8)
    }

    var length: Int { content.count }

    /// Equal bytes up to the closing quote are an equal key, whatever escapes it has.
    @inline(__always) func starts(_ text: Span<UInt8>, _ p: Int) -> Bool {
        guard Bytes.word(text, p) & mask0 == word0, Bytes.word(text, p &+ 8) & mask1 == word1 else { return false }
        return content.count < 16 || Self.isLong(content, text, p)
    }

    @inline(never) private static func isLong(_ content: JSONContent, _ text: Span<UInt8>, _ p: Int) -> Bool {
        text.count - p > content.count && text[p + content.count] == JSONGrammar.quote
            && Bytes.equal(text, p, text, content.start, count: content.count)
    }

    private static func word(_ content: JSONContent, in text: Span<UInt8>, from start: Int) -> (UInt64, UInt64) {
        var (word, mask): (UInt64, UInt64) = (0, 0)
        for index in 0..<8 where start + index <= content.count {
            word |= UInt64(text[content.start + start + index]) << UInt64(8 * index)
            mask |= 0xFF << UInt64(8 * index)
        }
        return (word, mask)
    }
}
