import ErrandJSONSyntax

/// A key prepared for comparison: its first 16 bytes with the closing quote, and the whole key in the pool.
@usableFromInline package struct KeyRule: BitwiseCopyable, Sendable {
    @usableFromInline package var word0: UInt64
    @usableFromInline package var mask0: UInt64
    @usableFromInline package var word1: UInt64
    @usableFromInline package var mask1: UInt64
    package var length: Int32
    package var text: Int32
    package var node: Int32
    package var isRequired: Bool

    package init(_ key: [UInt8], text: Int, node: Int32, isRequired: Bool) {
        (word0, mask0) = Self.word(key, from: 0)
        (word1, mask1) = Self.word(key, from: 8)
        // A text contains these characters escaped, so the fast comparison must fail.
        if key.contains(where: { $0 < 0x20 || $0 == JSONGrammar.quote || $0 == JSONGrammar.backslash }) {
            (word0, mask0) = (1, 0)
        }
        length = Int32(key.count)
        self.text = Int32(text)
        self.node = node
        self.isRequired = isRequired
    }

    /// Returns whether the text continues with the first 16 bytes of the key and its closing quote. At least 16 bytes
    /// must be left.
    @inlinable @inline(__always) package func starts(_ text: Span<UInt8>, _ p: Int) -> Bool {
        Bytes.word(text, p) & mask0 == word0 && Bytes.word(text, p &+ 8) & mask1 == word1
    }

    private static func word(_ key: [UInt8], from start: Int) -> (UInt64, UInt64) {
        var (word, mask): (UInt64, UInt64) = (0, 0)
        for index in 0..<8 where start + index <= key.count {
            let byte = start + index == key.count ? JSONGrammar.quote : key[start + index]
            word |= UInt64(byte) << UInt64(8 * index)
            mask |= 0xFF << UInt64(8 * index)
        }
        return (word, mask)
    }
}
