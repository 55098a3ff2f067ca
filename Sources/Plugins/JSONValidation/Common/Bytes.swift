// The only code in this module that touches addresses. `validate(bytes:)` gets them from its caller and creates a span
// for the duration of the call. Spans check the bounds of every access, including the load below.

@usableFromInline package enum Bytes {
    /// The first byte is the least significant. Traps if fewer than eight bytes are left.
    ///
    /// The load could create invalid values of other types, but every bit pattern is a valid `UInt64`.
    @inlinable @inline(__always) package static func word(_ text: Span<UInt8>, _ index: Int) -> UInt64 {
        UInt64(littleEndian: unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Up to seven bytes, the first byte least significant.
    @inlinable package static func shortWord(_ text: Span<UInt8>, at start: Int, count: Int) -> UInt64 {
        var word: UInt64 = 0
        for offset in 0..<count { word |= UInt64(text[start &+ offset]) << UInt64(8 * offset) }
        return word
    }

    @inlinable package static func equal(
        _ a: Span<UInt8>, at aStart: Int, to b: Span<UInt8>, at bStart: Int, count: Int
    ) -> Bool {
        if count < 8 { return shortWord(a, at: aStart, count: count) == shortWord(b, at: bStart, count: count) }
        var offset = 0
        while offset &+ 8 <= count {
            if word(a, aStart &+ offset) != word(b, bStart &+ offset) { return false }
            offset &+= 8
        }
        return word(a, aStart &+ count &- 8) == word(b, bStart &+ count &- 8)
    }
}

extension UnsafeRawBufferPointer {
    /// The caller keeps the bytes in place until this function returns.
    package func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        unsafe withMemoryRebound(to: UInt8.self) { unsafe body($0.span) }
    }
}

extension JSONShape {
    /// Validates a JSON text without copying its bytes. The buffer must stay valid during the call. See
    /// ``validate(_:limits:)``.
    public func validate(bytes: UnsafeRawBufferPointer, limits: JSONLimits = .standard) throws(JSONValidationError) {
        if let error = unsafe bytes.withSpan({ node.program.validate($0, limits) }) { throw error }
    }
}
