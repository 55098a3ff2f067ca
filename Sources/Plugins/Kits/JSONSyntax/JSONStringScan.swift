import ErrandMessageSyntax

/// Finds the end of a string (RFC 8259, section 7) that comes in pieces, at any split of its bytes.
///
/// ```swift
/// var scan = JSONStringScan()                                 // behind the opening quote
/// let none = scan.end(in: [0x61, 0x5C])                       // nil: the piece ends within an escape
/// let end = scan.end(in: [0x22, 0x22])                        // 2: behind the closing quote
/// ```
///
/// A piece is looked at once, eight bytes at a time, and nothing of it is kept. By default only the end is found; a
/// scan that checks escapes and control characters keeps the first of their faults, and goes on. UTF-8 and pairs of
/// surrogates, which a piece may break, are left to what decodes the string.
public struct JSONStringScan: Sendable {
    /// The first fault, and its index in the piece that has it; nil if there is none, and without checks.
    public private(set) var fault: (fault: JSONFault, index: Int)?

    @usableFromInline let checks: Bool
    /// 1 behind a backslash, then 2 more than the hexadecimal digits that are missing; 0 outside of escapes.
    @usableFromInline var pending: UInt8 = 0

    /// Starts behind the opening quote.
    ///
    /// - Parameter checks: whether escapes and control characters are checked; false by default.
    @inlinable public init(checks: Bool = false) { self.checks = checks }

    /// The index behind the closing quote; nil if the string goes on beyond the piece.
    ///
    /// - Parameters:
    ///   - bytes: the next piece.
    ///   - start: where in it the string begins, or goes on.
    @inlinable @inline(__always)
    public mutating func end(in bytes: Span<UInt8>, from start: Int = 0) -> Int? {
        var index = start
        let count = bytes.count
        if pending != 0 { index = finishEscape(in: bytes, from: index) }
        while index < count {
            // Eight bytes at once where none of them is special.
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

    /// The same in an array.
    public mutating func end(in bytes: [UInt8], from start: Int = 0) -> Int? {
        end(in: bytes.span, from: start)
    }

    /// Passes over the rest of an escape as far as the piece goes.
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
            } else if byte == 0x75, checks {
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

/// Eight bytes of text at a time, the first one lowest. What a search returns has the high bit set of each byte that it
/// looks for; only the lowest of these bits is reliable, since a borrow propagates upwards.
@usableFromInline enum JSONWord {
    /// The eight bytes from an index on, which have to be there. The compiler makes one load of it: the part has eight bytes,
    /// so that its own accesses need no checks.
    @inlinable @inline(__always) static func load(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
        let part = bytes.extracting(index..<index &+ 8)
        let low = UInt64(part[0]) | UInt64(part[1]) &<< 8 | UInt64(part[2]) &<< 16 | UInt64(part[3]) &<< 24
        let high = UInt64(part[4]) | UInt64(part[5]) &<< 8 | UInt64(part[6]) &<< 16 | UInt64(part[7]) &<< 24
        return low | high &<< 32
    }

    /// Quotes, backslashes, control characters and what is not ASCII.
    @inlinable @inline(__always) static func unusual(_ word: UInt64) -> UInt64 {
        let quotes = word ^ 0x2222_2222_2222_2222
        let slashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
        let controls = (word &- 0x2020_2020_2020_2020) & ~word
        let found =
            controls | ((quotes &- 0x0101_0101_0101_0101) & ~quotes) | ((slashes &- 0x0101_0101_0101_0101) & ~slashes)
        return (found | word) & 0x8080_8080_8080_8080
    }

    /// Quotes, backslashes and, if they are asked for, control characters.
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
