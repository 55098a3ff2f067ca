package import ErrandJSONSyntax

/// The keys of the open objects, to find duplicates: one table for all of them.
@usableFromInline package struct KeySet {
    @usableFromInline struct Entry: ProbeEntry {
        @usableFromInline var hash: UInt64
        var content: JSONContent
        var object: Int
        var hasEscapes: Bool

        func isKey(_ text: Span<UInt8>, _ content: JSONContent, _ hasEscapes: Bool, _ object: Int) -> Bool {
            guard self.object == object else { return false }
            if self.hasEscapes || hasEscapes { return self.content.decoded(in: text) == content.decoded(in: text) }
            return self.content.count == content.count
                && Bytes.equal(text, self.content.start, text, content.start, count: content.count)
        }

        func isKey(_ key: Span<UInt8>, in text: Span<UInt8>, _ object: Int) -> Bool {
            guard self.object == object else { return false }
            if hasEscapes {
                let decoded = content.decoded(in: text)
                return decoded.count == key.count && Bytes.equal(decoded.span, 0, key, 0, count: key.count)
            }
            return content.count == key.count && Bytes.equal(text, content.start, key, 0, count: key.count)
        }
    }

    @usableFromInline var table: ProbeStack<Entry>

    package init(limit: Int) { table = ProbeStack(limit: limit) }

    @inlinable package var count: Int { table.count }
    /// The bytes that the table takes.
    @inlinable package var size: Int { table.size }

    /// The most keys.
    var limit: Int { table.limit }

    /// A key by its number, prepared to be compared.
    func key(_ index: Int, in text: Span<UInt8>) -> OrderedKey {
        OrderedKey(table.entries[index].content, in: text, hasEscapes: table.entries[index].hasEscapes)
    }

    /// Adds a key of an object, which has a unique number.
    package mutating func insert(
        _ text: Span<UInt8>, _ content: JSONContent, hasEscapes: Bool, hash key: UInt64, object: Int
    ) -> ProbeOutcome {
        let entry = Entry(hash: Self.slotHash(key, object), content: content, object: object, hasEscapes: hasEscapes)
        return table.insert(entry) { $0.isKey(text, content, hasEscapes, object) }
    }

    /// Whether an object has a key, which is given without escapes.
    func contains(_ key: Span<UInt8>, in text: Span<UInt8>, object: Int) -> Bool {
        table.contains(Self.slotHash(KeyHash.hash(key, 0, key.count), object)) { $0.isKey(key, in: text, object) }
    }

    /// Removes the keys after the first `count`.
    @inlinable package mutating func removeAll(behind count: Int) { table.removeAll(behind: count) }

    private static func slotHash(_ key: UInt64, _ object: Int) -> UInt64 {
        KeyHash.mix(key ^ UInt64(truncatingIfNeeded: object), 0xA076_1D64_78BD_642F)
    }
}

/// Hashes keys by their decoded bytes, with a random seed for each process, which prevents chosen collisions.
@usableFromInline package enum KeyHash {
    @usableFromInline static let seed = UInt64.random(in: .min ... .max)

    package static func hash(_ text: Span<UInt8>, _ content: JSONContent, hasEscapes: Bool) -> UInt64 {
        hasEscapes ? hash(content.decoded(in: text)) : hash(text, content.start, content.count)
    }

    package static func hash(_ text: Span<UInt8>, _ start: Int, _ count: Int) -> UInt64 {
        let seed = seed
        var h = seed
        var p = start
        var left = count
        while left >= 8 {
            h = mix(h ^ Bytes.word(text, p), 0x9E37_79B9_7F4A_7C15)
            p += 8
            left -= 8
        }
        // The last bytes of a long key, without those that were mixed in already.
        let tail =
            count < 8
            ? Bytes.shortWord(text, p, left)
            : left == 0 ? 0 : Bytes.word(text, p + left - 8) >> UInt64(64 - 8 * left)
        return finish(h, tail, count, seed)
    }

    package static func hash(_ bytes: [UInt8]) -> UInt64 { hash(bytes.span, 0, bytes.count) }

    @inlinable static func finish(_ h: UInt64, _ tail: UInt64, _ count: Int, _ seed: UInt64) -> UInt64 {
        mix(mix(h ^ tail, 0xD6E8_FEB8_6659_FD93) ^ UInt64(count), seed | 1)
    }

    @inlinable @inline(__always) package static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}
