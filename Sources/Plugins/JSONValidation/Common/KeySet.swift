package import ErrandJSONSyntax

/// The keys of all open objects in one table, for finding duplicates.
@usableFromInline package struct KeySet {
    @usableFromInline struct Entry: ProbeEntry {
        @usableFromInline var hash: UInt64
        var content: JSONContent
        var object: Int
        var hasEscapes: Bool

        func isKey(_ text: Span<UInt8>, _ content: JSONContent, hasEscapes: Bool, object: Int) -> Bool {
            guard self.object == object else { return false }
            if self.hasEscapes || hasEscapes { return self.content.decoded(in: text) == content.decoded(in: text) }
            return self.content.count == content.count
                && Bytes.equal(text, at: self.content.start, to: text, at: content.start, count: content.count)
        }

        func isKey(_ key: Span<UInt8>, in text: Span<UInt8>, object: Int) -> Bool {
            guard self.object == object else { return false }
            if hasEscapes {
                let decoded = content.decoded(in: text)[...]
                return decoded.count == key.count && Bytes.equal(decoded.span, at: 0, to: key, at: 0, count: key.count)
            }
            return content.count == key.count && Bytes.equal(text, at: content.start, to: key, at: 0, count: key.count)
        }
    }

    @usableFromInline var table: ProbeStack<Entry>

    package init(limit: Int) { table = ProbeStack(limit: limit) }

    @inlinable package var count: Int { table.count }
    /// In bytes.
    @inlinable package var size: Int { table.size }

    var limit: Int { table.limit }

    func key(_ index: Int, in text: Span<UInt8>) -> OrderedKey {
        OrderedKey(table.entries[index].content, in: text, hasEscapes: table.entries[index].hasEscapes)
    }

    /// Inserts a key of an object, which is identified by a unique number.
    package mutating func insert(
        _ text: Span<UInt8>, _ content: JSONContent, hasEscapes: Bool, hash key: UInt64, object: Int
    ) -> ProbeOutcome {
        let entry = Entry(hash: Self.slotHash(key, object), content: content, object: object, hasEscapes: hasEscapes)
        return table.insert(entry) { $0.isKey(text, content, hasEscapes: hasEscapes, object: object) }
    }

    /// The key is passed without escapes.
    func contains(_ key: Span<UInt8>, in text: Span<UInt8>, object: Int) -> Bool {
        table.contains(Self.slotHash(KeyHash.hash(key, from: 0, count: key.count), object)) {
            $0.isKey(key, in: text, object: object)
        }
    }

    @inlinable package mutating func removeAll(behind count: Int) { table.removeAll(behind: count) }

    private static func slotHash(_ key: UInt64, _ object: Int) -> UInt64 {
        KeyHash.mix(key ^ UInt64(truncatingIfNeeded: object), 0xA076_1D64_78BD_642F)
    }
}

/// Hashes decoded keys with a random seed per process, so attackers can't choose collisions.
@usableFromInline package enum KeyHash {
    private static let seed = UInt64.random(in: .min ... .max)

    package static func hash(_ text: Span<UInt8>, _ content: JSONContent, hasEscapes: Bool) -> UInt64 {
        hasEscapes ? hash(content.decoded(in: text)) : hash(text, from: content.start, count: content.count)
    }

    package static func hash(_ text: Span<UInt8>, from start: Int, count: Int) -> UInt64 {
        let seed = seed
        var h = seed
        var p = start
        var left = count
        while left >= 8 {
            h = mix(h ^ Bytes.word(text, p), 0x9E37_79B9_7F4A_7C15)
            p += 8
            left -= 8
        }
        // The last bytes of a long key that weren't mixed in yet.
        let tail =
            count < 8
            ? Bytes.shortWord(text, at: p, count: left)
            : left == 0 ? 0 : Bytes.word(text, p + left - 8) >> UInt64(64 - 8 * left)
        return mix(mix(h ^ tail, 0xD6E8_FEB8_6659_FD93) ^ UInt64(count), seed | 1)
    }

    package static func hash(_ bytes: [UInt8]) -> UInt64 {
        let bytes = bytes[...]
        return hash(bytes.span, from: 0, count: bytes.count)
    }

    @inlinable @inline(__always) package static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}

/// A key prepared for comparison: its first 16 bytes with the closing quote, and its position in an array of bytes.
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
        // A text contains these characters only escaped, so these values make the fast comparison always fail.
        if key.contains(where: { $0 < 0x20 || $0 == JSONGrammar.quote || $0 == JSONGrammar.backslash }) {
            (word0, mask0) = (1, 0)
        }
        length = Int32(key.count)
        self.text = Int32(text)
        self.node = node
        self.isRequired = isRequired
    }

    /// Compares the first 16 bytes of the key and its closing quote. At least 16 bytes must be left.
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
