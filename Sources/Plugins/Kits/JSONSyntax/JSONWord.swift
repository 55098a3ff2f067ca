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
