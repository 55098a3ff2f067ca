import ErrandMessageSyntax

/// Finds the end of a string (RFC 8259, section 7) that arrives in pieces of any size.
///
/// ```swift
/// var scan = JSONStringScan()                                 // after the opening quote
/// let none = scan.end(in: [0x61, 0x5C])                       // nil: the piece ends within an escape
/// let end = scan.end(in: [0x22, 0x22])                        // 2: after the closing quote
/// ```
///
/// By default, the scan only finds the end. With `checks`, the scan also records the first invalid escape or unescaped
/// control character, and continues. The scan never checks UTF-8 or surrogate pairs, so check them when you decode the
/// string.
public struct JSONStringScan: Sendable {
    /// The first fault, and its index in the piece that contains it. `nil` if the scan has found no fault or doesn't
    /// check.
    public private(set) var fault: (fault: JSONFault, index: Int)?

    @usableFromInline let checks: Bool
    /// 0 outside escapes, 1 after a backslash, and 2 plus the number of missing digits in a hexadecimal escape.
    @usableFromInline var pending: UInt8 = 0

    /// Starts a scan after the opening quote.
    ///
    /// - Parameter checks: Whether to check escapes and control characters. Defaults to `false`.
    @inlinable public init(checks: Bool = false) { self.checks = checks }

    /// Returns the index after the closing quote, or `nil` if the string continues beyond the piece.
    ///
    /// - Parameters:
    ///   - bytes: The next piece.
    ///   - start: The index at which the string begins or continues.
    @inlinable @inline(__always)
    public mutating func end(in bytes: Span<UInt8>, from start: Int = 0) -> Int? {
        var index = start
        let count = bytes.count
        if pending != 0 { index = finishEscape(in: bytes, from: index) }
        while index < count {
            while count &- index >= 8 {
                let found = JSONWord.delimiters(JSONWord.load(bytes, at: index), controls: checks)
                if found != 0 {
                    index &+= found.trailingZeroBitCount >> 3
                    break
                }
                index &+= 8
            }
            guard index < count else { break }
            let byte = bytes[index]
            if byte == JSONGrammar.quote { return index &+ 1 }
            if byte == JSONGrammar.backslash {
                if !checks, index &+ 1 < count {
                    index &+= 2
                    continue
                }
                pending = 1
                index = finishEscape(in: bytes, from: index &+ 1)
                continue
            }
            if checks, byte < 0x20 { note(.controlCharacter, index) }
            index &+= 1
        }
        return nil
    }

    /// Scans an array. See the overload for a span.
    public mutating func end(in bytes: [UInt8], from start: Int = 0) -> Int? {
        let bytes = bytes[...]
        return end(in: bytes.span, from: start)
    }

    @usableFromInline mutating func finishEscape(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while pending != 0, index < bytes.count {
            let byte = bytes[index]
            if pending > 1 {
                guard ASCII.isHexDigit(byte) else {
                    note(.badEscape, index)
                    pending = 0
                    return index
                }
                pending = pending == 3 ? 0 : pending - 1
            } else if byte == UInt8(ascii: "u"), checks {
                pending = 6
            } else {
                if checks, JSONGrammar.character(escapedAs: byte) == nil { note(.badEscape, index) }
                pending = 0
            }
            index += 1
        }
        return index
    }

    @usableFromInline mutating func note(_ fault: JSONFault, _ index: Int) {
        if self.fault == nil { self.fault = (fault, index) }
    }
}
