import ErrandJSONSyntax

/// The memory of the keys of an object: the position of the last one that was found, and those that were seen.
///
/// Types ask for their keys in the order of the text more often than not, so the key behind the last one is compared first.
/// Of equal keys the first one counts, as in `JSONDecoder`: a key is taken where it is found only if no key before it can be
/// equal, by a mark of two bits; otherwise the keys are compared from the first one.
struct KeyMemory {
    /// The key to compare first.
    var cursor = 0
    /// Behind the last member.
    var end = 0
    /// The last key that was found; 0 before.
    var last = 0
    /// The marks of all keys before the cursor.
    var seen = KeyMark()
    /// The marks of all keys, once they are known.
    var all = KeyMark.all
    /// Whether no two keys are equal, once that is known.
    var areDistinct = false
    /// Positions of values by key, for objects with many keys, with irregular ones, and with converted ones.
    var table: [String: Int]?

    /// A longer search than this makes a table.
    static let longestSearch = 32
}

/// Two bits, each in a word of its own, for the bytes of a key, or the length and three bytes of a long one; or those of
/// several keys.
struct KeyMark {
    private var first: UInt64 = 0
    private var second: UInt64 = 0

    static let all = KeyMark(first: .max, second: .max)

    @inline(__always) init() {}

    private init(first: UInt64, second: UInt64) { (self.first, self.second) = (first, second) }

    @inline(__always) init(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        if count < 16 {
            self.init(ShortString.bytes(bytes, count))
        } else {
            let ends = UInt64(bytes[0]) << 32 | UInt64(bytes[count - 1]) << 40 | UInt64(bytes[count >> 1]) << 48
            self.init((ends | UInt64(truncatingIfNeeded: count), 0))
        }
    }

    @inline(__always) init(_ words: ShortString.Words) {
        let sum = (words.0 ^ words.1 &* 5) &* 0x9E37_79B9_7F4A_7C15
        (first, second) = (1 &<< (sum >> 58), 1 &<< (sum >> 52))
    }

    /// Whether a key with another mark may be among those of this one.
    @inline(__always) func mayContain(_ other: KeyMark) -> Bool {
        first & other.first != 0 && second & other.second != 0
    }

    @inline(__always) mutating func insert(_ other: KeyMark) {
        first |= other.first
        second |= other.second
    }
}

/// A key of one to fifteen bytes of ASCII that is looked for.
struct ShortKey {
    let words: ShortString.Words
    let count: Int

    /// Whether a key of the text is this one; false also for one at the very end of the text.
    @inline(__always) func matches(_ entry: IndexEntry, _ document: JSONDocument) -> Bool {
        guard entry.head == IndexEntry.head(.string, length: count), document.hasWord(at: entry) else { return false }
        let text = UnsafeRawPointer(document.start(entry))
        let low = text.loadUnaligned(as: UInt64.self) ^ words.0
        if count <= 8 { return low &<< UInt64(64 - count * 8) == 0 }
        let high = text.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        return low == 0 && high &>> UInt64(128 - count * 8) == words.1
    }
}

/// A key that is looked for.
struct SoughtKey {
    let bytes: UnsafePointer<UInt8>
    let count: Int
    let head: UInt64
    let mark: KeyMark

    @inline(__always) init(_ buffer: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>) {
        (bytes, count) = (base, buffer.count)
        head = IndexEntry.head(.string, length: buffer.count)
        mark = KeyMark(base, buffer.count)
    }

    /// Whether a key of the text, in ASCII and without escapes, is this one.
    @inline(__always) func matches(_ entry: IndexEntry, _ document: JSONDocument) -> Bool {
        entry.head == head && Self.areEqual(UnsafeRawPointer(document.start(entry)), UnsafeRawPointer(bytes), count)
    }

    @inline(__always)
    private static func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Bool {
        @inline(__always) func areEqual<Word: FixedWidthInteger>(_ type: Word.Type, at offset: Int) -> Bool {
            a.loadUnaligned(fromByteOffset: offset, as: type) == b.loadUnaligned(fromByteOffset: offset, as: type)
        }
        if count >= 8 {
            var offset = 0
            while offset + 8 < count {
                guard areEqual(UInt64.self, at: offset) else { return false }
                offset += 8
            }
            return areEqual(UInt64.self, at: count - 8)
        }
        if count >= 4 { return areEqual(UInt32.self, at: 0) && areEqual(UInt32.self, at: count - 4) }
        if count >= 2 { return areEqual(UInt16.self, at: 0) && areEqual(UInt16.self, at: count - 2) }
        return count == 0 || areEqual(UInt8.self, at: 0)
    }
}
