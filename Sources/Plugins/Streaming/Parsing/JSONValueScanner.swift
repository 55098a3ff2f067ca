import ErrandJSONSyntax

/// Finds the end of one JSON value, at any split of its bytes. It counts brackets and skips strings; the decoder checks
/// the rest.
struct JSONValueScanner {
    private enum Mode { case start, container, string, scalar }

    private var mode = Mode.start
    private var depth = 0
    /// The string that the bytes so far end in.
    private var string: JSONStringScan?
    /// The number of bytes that were scanned.
    private var position = 0

    /// Whether only the following byte ends the value: a number or a literal.

    /// The index behind the value that begins at the first byte; nil if more bytes are needed.
    ///
    /// - Parameter bytes: the bytes of earlier calls, and more.
    mutating func end(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard position < bytes.count else { return nil }
        if mode == .start { begin(bytes[0]) }
        switch mode {
        case .start: return nil
        case .scalar: return scalarEnd(in: bytes)
        case .string: return stringEnd(in: bytes)
        case .container: return containerEnd(in: bytes)
        }
    }

    private mutating func begin(_ byte: UInt8) {
        switch byte {
        case JSONGrammar.openBrace, JSONGrammar.openBracket: mode = .container
        case JSONGrammar.quote: (mode, position, string) = (.string, 1, JSONStringScan())
        default: mode = .scalar
        }
    }

    private mutating func scalarEnd(in bytes: UnsafeRawBufferPointer) -> Int? {
        while position < bytes.count {
            let byte = bytes[position]
            if byte <= 0x20 || byte == JSONGrammar.comma || byte | 0x20 == JSONGrammar.closeBrace {
                // A byte that cannot begin a value is one, for the decoder to reject.
                return max(position, 1)
            }
            position += 1
        }
        return nil
    }

    private mutating func containerEnd(in bytes: UnsafeRawBufferPointer) -> Int? {
        if string != nil {
            guard let end = stringEnd(in: bytes) else { return nil }
            position = end
        }
        // In registers during the loop.
        var (index, level) = (position, depth)
        let count = bytes.count
        while index < count {
            let byte = bytes[index]
            index += 1
            if byte == JSONGrammar.quote {
                var scan = JSONStringScan()
                guard let end = scan.end(in: bytes, from: index) else {
                    (string, position, depth) = (scan, count, level)
                    return nil
                }
                index = end
            } else if byte | 0x20 == JSONGrammar.openBrace {
                // Brackets differ in the bit 0x20 only: [ and {, ] and }.
                level += 1
            } else if byte | 0x20 == JSONGrammar.closeBrace {
                level -= 1
                if level == 0 {
                    position = index
                    return index
                }
            }
        }
        (position, depth) = (index, level)
        return nil
    }

    /// The index behind the string; nil if the bytes end within it.
    private mutating func stringEnd(in bytes: UnsafeRawBufferPointer) -> Int? {
        let end = string?.end(in: bytes, from: position)
        position = end ?? bytes.count
        if end != nil { string = nil }
        return end
    }
}
