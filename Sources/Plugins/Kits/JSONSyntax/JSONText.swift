/// The content of a valid string, between its quotes.
///
/// ```swift
/// let name = Array(#"Ad\u0061"#.utf8).withUnsafeBufferPointer { text -> String in
///     guard let start = text.baseAddress else { return "" }
///     return JSONText(start: start, end: start + text.count).string()      // "Ada"
/// }
/// ```
///
/// It holds addresses, so that nothing is copied: the text has to outlive it. A string that
/// ``JSONGrammar/string(_:_:)`` has accepted comes back to the letter; in another one, an escape that stands for
/// nothing ends the characters.
@frozen public struct JSONText {
    /// Behind the opening quote.
    public let start: UnsafePointer<UInt8>
    /// At the closing quote.
    public let end: UnsafePointer<UInt8>

    /// The content between two places of a text.
    @inlinable @inline(__always) public init(start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        self.start = start
        self.end = end
    }

    /// How many bytes the content takes as it is written.
    @inlinable public var count: Int { end - start }

    /// Whether the content has escapes.
    @inlinable public var hasEscapes: Bool {
        var p = start
        while end - p >= 8 {
            if JSONWord.backslashes(JSONWord.load(p)) != 0 { return true }
            p += 8
        }
        while p < end {
            if p.pointee == JSONGrammar.backslash { return true }
            p += 1
        }
        return false
    }

    /// The characters in UTF-8, with escapes resolved.
    @inlinable public var decoded: Decoded { Decoded(p: start, end: end) }

    /// The characters, up to a number of bytes; an ellipsis stands for the rest.
    public func string(limit: Int = .max) -> String {
        var bytes: [UInt8] = []
        for byte in decoded {
            // Truncated between characters.
            if bytes.count >= limit, byte & 0xC0 != 0x80 {
                return String(decoding: bytes, as: UTF8.self) + "…"
            }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The number of Unicode scalars; counting stops after a limit.
    public func scalars(limit: Int) -> Int {
        var count = 0
        for byte in decoded where byte & 0xC0 != 0x80 {
            count += 1
            if count > limit { break }
        }
        return count
    }

    /// The bytes of the characters in UTF-8.
    @frozen public struct Decoded: Sequence, IteratorProtocol {
        @usableFromInline var p: UnsafePointer<UInt8>
        @usableFromInline let end: UnsafePointer<UInt8>
        /// The remaining bytes of an escape, the next one lowest.
        @usableFromInline var pending: UInt32 = 0

        @inlinable init(p: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
            self.p = p
            self.end = end
        }

        /// The next byte; nil at the end.
        @inlinable public mutating func next() -> UInt8? {
            if pending != 0 {
                defer { pending >>= 8 }
                return UInt8(truncatingIfNeeded: pending)
            }
            guard p < end else { return nil }
            guard p.pointee == JSONGrammar.backslash else {
                defer { p += 1 }
                return p.pointee
            }
            return escaped()
        }

        @usableFromInline mutating func escaped() -> UInt8? {
            guard end - p >= 2 else { return nil }
            let letter = p[1]
            p += 2
            if letter != 0x75 { return JSONGrammar.character(escapedAs: letter) }
            guard var value = JSONGrammar.hexUnit(p, end) else { return nil }
            p += 4
            if value & 0xFC00 == 0xD800, end - p >= 6, let low = JSONGrammar.hexUnit(p + 2, end) {
                value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
                p += 6
            }
            guard let scalar = Unicode.Scalar(value) else { return nil }
            var bytes = UTF8.encode(scalar)?.makeIterator()
            let first = bytes?.next()
            var shift: UInt32 = 0
            while let byte = bytes?.next() {
                pending |= UInt32(byte) << shift
                shift += 8
            }
            return first
        }
    }
}
