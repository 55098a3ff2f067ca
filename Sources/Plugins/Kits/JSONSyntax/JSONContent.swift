/// The content of a string that the grammar has accepted, between its quotes, as indices of its text.
@usableFromInline package struct JSONContent: BitwiseCopyable {
    /// Behind the opening quote.
    @usableFromInline package let start: Int
    /// At the closing quote.
    @usableFromInline package let end: Int

    @inlinable @inline(__always) package init(_ start: Int, _ end: Int) {
        self.start = start
        self.end = end
    }

    /// How many bytes the content takes as it is written.
    @inlinable package var count: Int { end - start }

    /// Whether the content has escapes.
    package func hasEscapes(in text: Span<UInt8>) -> Bool { JSONGrammar.hasEscapes(text.extracting(start..<end)) }

    /// The bytes of the characters in UTF-8, with escapes resolved; an escape that stands for nothing ends them.
    package func decoded(in text: Span<UInt8>) -> [UInt8] { JSONGrammar.unescaped(text.extracting(start..<end)) }

    /// The characters, up to a number of bytes; an ellipsis stands for the rest.
    package func string(in text: Span<UInt8>, limit: Int = .max) -> String {
        let bytes = decoded(in: text)
        guard bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
        // Truncated between characters.
        var end = limit
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
        let shown = String(decoding: bytes[..<end], as: UTF8.self)
        return end < bytes.count ? shown + "…" : shown
    }

    /// The number of characters: Unicode scalars, with escapes resolved.
    package func length(in text: Span<UInt8>) -> Int {
        var p = start
        var count = 0
        while p < end {
            let byte = text[p]
            if byte == JSONGrammar.backslash, end - p >= 2 {
                let isUnicode = text[p + 1] == 0x75
                // The second half of a pair does not count.
                if isUnicode, end - p >= 6, let unit = JSONGrammar.hexUnit(in: text, from: p + 2),
                    unit & 0xFC00 == 0xDC00
                {
                    count -= 1
                }
                p += isUnicode ? 6 : 2
                count += 1
            } else {
                if byte & 0xC0 != 0x80 { count += 1 }
                p += 1
            }
        }
        return count
    }
}
