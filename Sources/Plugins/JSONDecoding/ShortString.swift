/// Strings of up to fifteen bytes of ASCII, made as Swift keeps them: within the two words of the string itself.
enum ShortString {
    /// The string, if the layout is known; nil for one that is longer or not ASCII.
    @inline(__always) static func string(_ text: UnsafePointer<UInt8>, _ count: Int) -> String? {
        guard count < 16, let words = words(text, count) else { return nil }
        return unsafeBitCast(words, to: String.self)
    }

    /// The bytes of a string, if the layout is known; nil for one that is not kept within its own words, or is empty.
    @inline(__always) static func words(of string: String) -> (words: Words, count: Int)? {
        let words = unsafeBitCast(string, to: Words.self)
        let count = Int(truncatingIfNeeded: words.1 &>> 56 & 0xF)
        guard words.1 &>> 60 == 0xE, count > 0 else { return nil }
        return ((words.0, words.1 & 0x00FF_FFFF_FFFF_FFFF), count)
    }

    typealias Words = (UInt64, UInt64)

    /// The bytes in their order, then the length behind a mark; nil for bytes beyond ASCII.
    @inline(__always) private static func words(_ text: UnsafePointer<UInt8>, _ count: Int) -> Words? {
        var words = bytes(text, count)
        guard (words.0 | words.1) & 0x8080_8080_8080_8080 == 0 else { return nil }
        words.1 |= UInt64(0xE0 | count) &<< 56
        return words
    }

    /// Up to fifteen bytes in their order.
    @inline(__always) static func bytes(_ text: UnsafePointer<UInt8>, _ count: Int) -> Words {
        @inline(__always) func load<Word: FixedWidthInteger>(_ type: Word.Type, _ offset: Int) -> UInt64 {
            UInt64(truncatingIfNeeded: UnsafeRawPointer(text).loadUnaligned(fromByteOffset: offset, as: type))
        }
        var words: Words = (0, 0)
        switch count {
        case 8...:
            words.0 = load(UInt64.self, 0)
            if count > 8 { words.1 = load(UInt64.self, count - 8) &>> UInt64(128 - count * 8) }
        case 4...: words.0 = load(UInt32.self, 0) | load(UInt32.self, count - 4) &<< UInt64(count * 8 - 32)
        default: for offset in 0..<count { words.0 |= UInt64(text[offset]) &<< UInt64(offset * 8) }
        }
        return words
    }

    /// Whether Swift makes the same words of all such lengths.
    static let isKnownLayout: Bool = {
        guard MemoryLayout<String>.size == MemoryLayout<Words>.size, UInt64(1).littleEndian == 1 else { return false }
        let bytes = Array("Errand's string".utf8)
        return bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            return (0...15).allSatisfy { count in
                let string = String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self)
                guard let words = words(base, count) else { return false }
                return unsafeBitCast(string, to: Words.self) == words
            }
        }
    }()
}
