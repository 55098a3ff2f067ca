import ErrandJSONSyntax

/// Finds the end of a JSON value in chunks of any size. Counts brackets and skips strings; the decoder checks the rest.
struct JSONValueScanner {
    private enum Mode { case start, container, string, scalar }

    private var mode = Mode.start
    private var depth = 0
    /// The string in which the scanned bytes end.
    private var string: JSONStringScan?
    private var position = 0

    /// Returns the size of the value that begins at an index, or `nil` if more bytes are needed.
    ///
    /// - Parameters:
    ///   - bytes: Contains the bytes of earlier calls from `start` on, followed by new ones.
    ///   - limit: The end of the bytes that may belong to the value. If a string continues after it, returns `nil`, and
    ///     the scanner can't be used anymore.
    mutating func size(in bytes: [UInt8], from start: Int, to limit: Int) -> Int? {
        guard start + position < limit else { return nil }
        if mode == .start { begin(bytes[start]) }
        let end: Int? =
            switch mode {
            case .start: nil
            case .scalar: scalarEnd(in: bytes, start, limit)
            case .string: stringEnd(in: bytes, start, limit)
            case .container: containerEnd(in: bytes, start, limit)
            }
        return end.map { $0 - start }
    }

    private mutating func begin(_ byte: UInt8) {
        switch byte {
        case JSONGrammar.openBrace, JSONGrammar.openBracket: mode = .container
        case JSONGrammar.quote: (mode, position, string) = (.string, 1, JSONStringScan())
        default: mode = .scalar
        }
    }

    private mutating func scalarEnd(in bytes: [UInt8], _ start: Int, _ limit: Int) -> Int? {
        for index in (start + position)..<limit {
            let byte = bytes[index]
            if byte <= 0x20 || byte == JSONGrammar.comma || byte | 0x20 == JSONGrammar.closeBrace {
                // Treat a byte that can't begin a value as one, so the decoder rejects it.
                return max(index, start + 1)
            }
        }
        position = limit - start
        return nil
    }

    private mutating func containerEnd(in bytes: [UInt8], _ start: Int, _ limit: Int) -> Int? {
        if string != nil {
            guard let end = stringEnd(in: bytes, start, limit) else { return nil }
            position = end - start
        }
        // Local variables stay in registers during the loop.
        var (index, level) = (start + position, depth)
        let text = bytes.span
        while index < limit {
            let byte = text[index]
            index += 1
            if byte == JSONGrammar.quote {
                var scan = JSONStringScan()
                guard let end = scan.end(in: text, from: index), end <= limit else {
                    (string, position, depth) = (scan, limit - start, level)
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
        (position, depth) = (limit - start, level)
        return nil
    }

    /// Returns the index after the string, or `nil` if the bytes end within it.
    private mutating func stringEnd(in bytes: [UInt8], _ start: Int, _ limit: Int) -> Int? {
        guard let end = string?.end(in: bytes, from: start + position), end <= limit else {
            position = limit - start
            return nil
        }
        position = end - start
        string = nil
        return end
    }
}
