import ErrandJSONSyntax

/// Finds the end of a JSON value in chunks of any size. Counts brackets and skips strings; the decoder checks the rest.
struct JSONValueScanner {
    private enum Mode { case start, container, string, scalar }

    private var mode = Mode.start
    private var depth = 0
    /// The string in which the scanned bytes end.
    private var string: JSONStringScan?
    private var position = 0

    /// Returns the end of the value that begins at the start of the bytes, or `nil` if more bytes are needed.
    ///
    /// - Parameter bytes: The bytes of earlier calls, followed by new bytes.
    mutating func end(in bytes: Span<UInt8>) -> Int? {
        guard position < bytes.count else { return nil }
        if mode == .start { begin(bytes[0]) }
        return switch mode {
        case .start: nil
        case .scalar: scalarEnd(in: bytes)
        case .string: stringEnd(in: bytes)
        case .container: containerEnd(in: bytes)
        }
    }

    private mutating func begin(_ byte: UInt8) {
        switch byte {
        case JSONGrammar.openBrace, JSONGrammar.openBracket: mode = .container
        case JSONGrammar.quote: (mode, position, string) = (.string, 1, JSONStringScan())
        default: mode = .scalar
        }
    }

    private mutating func scalarEnd(in bytes: Span<UInt8>) -> Int? {
        while position < bytes.count {
            let byte = bytes[position]
            if byte <= 0x20 || byte == JSONGrammar.comma || byte | 0x20 == JSONGrammar.closeBrace {
                // Treat a byte that can't begin a value as one, so the decoder rejects it.
                return max(position, 1)
            }
            position += 1
        }
        return nil
    }

    private mutating func containerEnd(in bytes: Span<UInt8>) -> Int? {
        if string != nil {
            guard let end = stringEnd(in: bytes) else { return nil }
            position = end
        }
        // Local variables stay in registers during the loop.
        var (index, level) = (position, depth)
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == JSONGrammar.quote {
                var scan = JSONStringScan()
                guard let end = scan.end(in: bytes, from: index) else {
                    (string, position, depth) = (scan, bytes.count, level)
                    return nil
                }
                index = end
            } else if byte | 0x20 == JSONGrammar.openBrace {
                // Brackets and braces only differ in the bit 0x20.
                level += 1
            } else if byte | 0x20 == JSONGrammar.closeBrace {
                level -= 1
                if level == 0 { return index }
            }
        }
        (position, depth) = (index, level)
        return nil
    }

    /// Returns the index after the string, or `nil` if the bytes end within it.
    private mutating func stringEnd(in bytes: Span<UInt8>) -> Int? {
        let end = string?.end(in: bytes, from: position)
        position = end ?? bytes.count
        if end != nil { string = nil }
        return end
    }
}
