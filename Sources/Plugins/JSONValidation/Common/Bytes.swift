@usableFromInline package typealias BytePointer = UnsafePointer<UInt8>

/// Bytes of a text as numbers, for hashes and comparisons.
@usableFromInline package enum Bytes {
    /// Eight bytes, the first one lowest.
    @inlinable @inline(__always) package static func word(_ p: BytePointer) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
    }

    /// Fewer than eight bytes, the first one lowest.
    @inlinable package static func shortWord(_ p: BytePointer, _ count: Int) -> UInt64 {
        var word: UInt64 = 0
        for offset in 0..<count { word |= UInt64(p[offset]) << UInt64(8 * offset) }
        return word
    }

    @inlinable package static func equal(_ a: BytePointer, _ b: BytePointer, count: Int) -> Bool {
        if count < 8 { return shortWord(a, count) == shortWord(b, count) }
        var offset = 0
        while offset + 8 <= count {
            if word(a + offset) != word(b + offset) { return false }
            offset += 8
        }
        return word(a + (count - 8)) == word(b + (count - 8))
    }
}
