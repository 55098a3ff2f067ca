package import ErrandJSONSyntax

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
