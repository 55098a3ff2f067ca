import ErrandEssentials

// Operations on byte spans that the standard library lacks. Each pointer in this file comes from a span or a string
// that owns the memory and outlives the call. Each access stays within the pointer's count.

extension String {
    /// Calls a closure with the text's UTF-8 bytes. A loop over the span is ten times as fast as a loop over `utf8`.
    @inlinable package func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        // Unlike `withUTF8`, this doesn't copy, retain, and release the string.
        if let result = unsafe utf8.withContiguousStorageIfAvailable({ unsafe body($0.span) }) { return result }
        // Only a string bridged by Foundation isn't contiguous.
        var text = self
        return text.withUTF8 { unsafe body($0.span) }
    }

    /// Returns whether two texts consist of the same bytes. `==` would use Unicode's canonical equivalence instead.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && withSpan { mine in other.withSpan { mine.hasSameBytes(as: $0) } }
    }

    /// Returns whether the text has the same bytes as a text that consists of ASCII.
    ///
    /// `==` compares references first, so comparing two copies of a text takes 5 instructions. The result is exact,
    /// because any other text that's canonically equivalent to an ASCII text has more bytes.
    @inlinable @inline(__always) package func hasSameBytes(asASCII other: String) -> Bool {
        utf8.count == other.utf8.count && self == other
    }

    package var isASCII: Bool { withSpan { $0.allSatisfy { $0 < 0x80 } } }

    /// Creates a text from UTF-8 bytes. Replaces each invalid sequence with U+FFFD.
    package init(decoding bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    package init?(validating bytes: Span<UInt8>) {
        guard let text = unsafe bytes.withUnsafeBufferPointer({ unsafe String(validating: $0, as: UTF8.self) }) else {
            return nil
        }
        self = text
    }
}

extension Array {
    /// Calls a closure with a span of the elements. Unlike `Array.span`, this works before macOS 26 and iOS 26.
    @inlinable @inline(__always)
    package func withSpan<Result, Failure>(
        _ body: (Span<Element>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let elements = self[...]
        return try body(elements.span)
    }
}

extension [UInt8] {
    package init(copying bytes: Span<UInt8>) { self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) } }

    package mutating func append(contentsOf bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    @inlinable package mutating func append<Integer: FixedWidthInteger>(littleEndian integer: Integer) {
        for shift in stride(from: 0, to: Integer.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: integer >> shift))
        }
    }

    @inlinable package mutating func append<Integer: FixedWidthInteger>(bigEndian integer: Integer) {
        append(littleEndian: integer.byteSwapped)
    }
}

extension Span where Element == UInt8 {
    @inlinable package func firstIndex(from start: Int = 0, where matches: (UInt8) -> Bool) -> Int? {
        var index = start
        while index < count {
            if matches(self[index]) { return index }
            index += 1
        }
        return nil
    }

    @inlinable package func contains(_ byte: UInt8) -> Bool { firstIndex { $0 == byte } != nil }

    @inlinable package func allSatisfy(_ matches: (UInt8) -> Bool) -> Bool { firstIndex { !matches($0) } == nil }

    package func starts(with other: Span<UInt8>) -> Bool {
        count >= other.count && extracting(..<other.count).hasSameBytes(as: other)
    }

    /// Returns the position of a byte's first occurrence. Uses memchr(3), which compares many bytes at once. Traps if
    /// the range is out of bounds.
    package func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        let part = extracting(range)
        return unsafe part.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress, let found = unsafe memchr(base, Int32(byte), bytes.count) else {
                return nil
            }
            return unsafe range.lowerBound + (UnsafeRawPointer(found) - UnsafeRawPointer(base))
        }
    }

    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        start < count ? firstIndex(of: byte, in: start..<count) : nil
    }

    package func hasSameBytes(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBufferPointer { mine in
            unsafe other.withUnsafeBufferPointer { theirs in
                guard let a = mine.baseAddress, let b = theirs.baseAddress else { return true }
                return unsafe memcmp(a, b, mine.count) == 0
            }
        }
    }

    package func contains(_ bytes: [UInt8], at start: Int = 0) -> Bool {
        bytes.count <= count - start && bytes.withSpan { extracting(start..<start + $0.count).hasSameBytes(as: $0) }
    }

    package func firstIndex(of bytes: [UInt8], from start: Int = 0) -> Int? {
        guard let first = bytes.first else { return nil }
        var offset = start
        let end = count - bytes.count + 1
        while offset < end {
            guard let found = firstIndex(of: first, in: offset..<end) else { return nil }
            if contains(bytes, at: found) { return found }
            offset = found + 1
        }
        return nil
    }

    // Safe because the span checks the bounds of the load, and every bit pattern is a valid integer.
    @inlinable @inline(__always)
    package func littleEndian<Integer: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Integer.Type = Integer.self
    ) -> Integer {
        unsafe Integer(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: type))
    }

    @inlinable @inline(__always)
    package func bigEndian<Integer: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Integer.Type = Integer.self
    ) -> Integer {
        littleEndian(at: offset, as: type).byteSwapped
    }
}

extension Data {
    package init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
    }

    package mutating func append(contentsOf bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }
}
