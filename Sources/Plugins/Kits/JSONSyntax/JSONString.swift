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

/// Finds the end of a string (RFC 8259, section 7) that arrives in pieces of any size.
///
/// ```swift
/// var scan = JSONStringScan()                                 // after the opening quote
/// let none = scan.end(in: [0x61, 0x5C])                       // nil: the piece ends within an escape
/// let end = scan.end(in: [0x22, 0x22])                        // 2: after the closing quote
/// ```
///
/// By default, the scan only finds the end. With `checks`, the scan also records the first invalid escape or unescaped
/// control character, and continues. The scan never checks UTF-8 or surrogate pairs, so check them when you decode the
/// string.
public struct JSONStringScan: Sendable {
    /// The first fault, and its index in the piece that contains it. `nil` if the scan has found no fault or doesn't
    /// check.
    public private(set) var fault: (fault: JSONFault, index: Int)?

    @usableFromInline let checks: Bool
    /// 0 outside escapes, 1 after a backslash, and 2 plus the number of missing digits in a hexadecimal escape.
    @usableFromInline var pending: UInt8 = 0

    /// Starts a scan after the opening quote.
    ///
    /// - Parameter checks: Whether to check escapes and control characters. Defaults to `false`.
    @inlinable public init(checks: Bool = false) { self.checks = checks }

    /// Returns the index after the closing quote, or `nil` if the string continues beyond the piece.
    ///
    /// - Parameters:
    ///   - bytes: The next piece.
    ///   - start: The index at which the string begins or continues.
    @inlinable @inline(__always)
    public mutating func end(in bytes: Span<UInt8>, from start: Int = 0) -> Int? {
        var index = start
        let count = bytes.count
        if pending != 0 { index = finishEscape(in: bytes, from: index) }
        while index < count {
            while count &- index >= 8 {
                let found = JSONWord.delimiters(JSONWord.load(bytes, at: index), controls: checks)
                if found != 0 {
                    index &+= found.trailingZeroBitCount >> 3
                    break
                }
                index &+= 8
            }
            guard index < count else { break }
            let byte = bytes[index]
            if byte == JSONGrammar.quote { return index &+ 1 }
            if byte == JSONGrammar.backslash {
                if !checks, index &+ 1 < count {
                    index &+= 2
                    continue
                }
                pending = 1
                index = finishEscape(in: bytes, from: index &+ 1)
                continue
            }
            if checks, byte < 0x20 { note(.controlCharacter, index) }
            index &+= 1
        }
        return nil
    }

    /// Scans an array. See the overload for a span.
    public mutating func end(in bytes: [UInt8], from start: Int = 0) -> Int? {
        let bytes = bytes[...]
        return end(in: bytes.span, from: start)
    }

    @usableFromInline mutating func finishEscape(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while pending != 0, index < bytes.count {
            let byte = bytes[index]
            if pending > 1 {
                guard ASCII.isHexDigit(byte) else {
                    note(.badEscape, index)
                    pending = 0
                    return index
                }
                pending = pending == 3 ? 0 : pending - 1
            } else if byte == UInt8(ascii: "u"), checks {
                pending = 6
            } else {
                if checks, JSONGrammar.character(escapedAs: byte) == nil { note(.badEscape, index) }
                pending = 0
            }
            index += 1
        }
        return index
    }

    @usableFromInline mutating func note(_ fault: JSONFault, _ index: Int) {
        if self.fault == nil { self.fault = (fault, index) }
    }
}

/// Searches eight bytes of text at a time. Matching bytes have their high bit set. Only the lowest of these bits is
/// reliable, because a borrow propagates upward.
@usableFromInline enum JSONWord {
    /// Compiles to a single load without bounds checks, because the part has eight bytes.
    @inlinable @inline(__always) static func load(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
        let part = bytes.extracting(index..<index &+ 8)
        let low = UInt64(part[0]) | UInt64(part[1]) &<< 8 | UInt64(part[2]) &<< 16 | UInt64(part[3]) &<< 24
        let high = UInt64(part[4]) | UInt64(part[5]) &<< 8 | UInt64(part[6]) &<< 16 | UInt64(part[7]) &<< 24
        return low | high &<< 32
    }

    @inlinable @inline(__always) static func unusual(_ word: UInt64) -> UInt64 {
        let quotes = word ^ 0x2222_2222_2222_2222
        let slashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
        let controls = (word &- 0x2020_2020_2020_2020) & ~word
        let found =
            controls | ((quotes &- 0x0101_0101_0101_0101) & ~quotes) | ((slashes &- 0x0101_0101_0101_0101) & ~slashes)
        return (found | word) & 0x8080_8080_8080_8080
    }

    @inlinable @inline(__always) static func delimiters(_ word: UInt64, controls: Bool) -> UInt64 {
        let quotes = word ^ 0x2222_2222_2222_2222
        var found = (quotes &- 0x0101_0101_0101_0101) & ~quotes
        if controls { found |= (word &- 0x2020_2020_2020_2020) & ~word }
        return (found & 0x8080_8080_8080_8080) | backslashes(word)
    }

    @inlinable @inline(__always) static func backslashes(_ word: UInt64) -> UInt64 {
        let slashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
        return (slashes &- 0x0101_0101_0101_0101) & ~slashes & 0x8080_8080_8080_8080
    }
}

/// UTF-8 sequences of two to four bytes (Unicode, table 3-7, and RFC 3629, section 4).
enum UTF8Sequence {
    /// 0 if the sequence is ill-formed or incomplete.
    @inline(__always) static func length(in bytes: Span<UInt8>, at index: Int) -> Int {
        let left = bytes.count - index
        let first = bytes[index]
        switch first {
        case 0xC2...0xDF: return left >= 2 && isTail(bytes[index + 1]) ? 2 : 0
        case 0xE0...0xEF:
            guard left >= 3, isTail(bytes[index + 1]), isTail(bytes[index + 2]) else { return 0 }
            // Excludes overlong forms and surrogates.
            let second = bytes[index + 1]
            return first == 0xE0 && second < 0xA0 || first == 0xED && second > 0x9F ? 0 : 3
        case 0xF0...0xF4:
            guard left >= 4, isTail(bytes[index + 1]), isTail(bytes[index + 2]), isTail(bytes[index + 3]) else {
                return 0
            }
            // Excludes overlong forms and values beyond U+10FFFF.
            let second = bytes[index + 1]
            return first == 0xF0 && second < 0x90 || first == 0xF4 && second > 0x8F ? 0 : 4
        default: return 0
        }
    }

    /// Whether the bytes up to the end begin a sequence without completing it.
    static func isBeginning(in bytes: Span<UInt8>, at index: Int) -> Bool {
        let left = bytes.count - index
        guard left > 0, left < 4 else { return false }
        // If any byte can complete the sequence, one of these two can.
        for tail: UInt8 in [0x80, 0xBF] {
            var completed = ContiguousArray(repeating: tail, count: 4)
            for offset in 0..<left { completed[offset] = bytes[index + offset] }
            if length(in: completed.span, at: 0) > left { return true }
        }
        return false
    }

    @inline(__always) private static func isTail(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
