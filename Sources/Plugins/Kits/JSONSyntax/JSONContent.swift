import ErrandMessageSyntax

/// The range of a valid string's content in the text, without the quotes.
@frozen public struct JSONContent: BitwiseCopyable, Sendable, Hashable {
    /// The index after the opening quote.
    public let start: Int
    /// The index of the closing quote.
    public let end: Int

    /// Creates a range from the index after the opening quote to the index of the closing quote.
    @inlinable @inline(__always) public init(_ start: Int, _ end: Int) {
        self.start = start
        self.end = end
    }

    /// The number of bytes, including escapes.
    @inlinable public var count: Int { end - start }

    /// Returns whether the content has escapes.
    public func hasEscapes(in text: Span<UInt8>) -> Bool { JSONGrammar.hasEscapes(text.extracting(start..<end)) }

    /// Returns the UTF-8 content without escapes. Stops at an invalid escape.
    public func decoded(in text: Span<UInt8>) -> [UInt8] { JSONGrammar.unescaped(text.extracting(start..<end)) }

    /// Returns the content as a string. Content of more than `limit` bytes is truncated and gets an ellipsis.
    public func string(in text: Span<UInt8>, limit: Int = .max) -> String {
        let bytes = decoded(in: text)
        guard bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
        var end = limit
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
        let shown = String(decoding: bytes[..<end], as: UTF8.self)
        return end < bytes.count ? shown + "…" : shown
    }

    /// Returns the number of Unicode scalars. An escape counts as its character.
    public func length(in text: Span<UInt8>) -> Int {
        var p = start
        var count = 0
        while p < end {
            let byte = text[p]
            if byte == JSONGrammar.backslash, end - p >= 2 {
                let isUnicode = text[p + 1] == UInt8(ascii: "u")
                // The second half of a surrogate pair isn't counted.
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
