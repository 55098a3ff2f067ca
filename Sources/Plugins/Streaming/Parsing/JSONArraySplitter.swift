import ErrandEssentials
import ErrandJSONSyntax

/// Finds the elements of a JSON array (RFC 8259, section 5).
final class JSONArraySplitter: ElementSplitter {
    private enum State { case start, afterBracket, afterComma, element, afterElement, end }

    private var window = ByteWindow()
    private let limit: Int
    private var scanner = JSONValueScanner()
    private var state = State.start
    private var isFinished = false
    private var count = 0

    init(limit: Int) { self.limit = max(1, limit) }

    override func push(_ chunk: Data) { window.append(chunk) }
    override func finish() { isFinished = true }

    override func next() throws -> Found? {
        while true {
            if state == .element {
                if let found = try element() { return found }
                return try needMore()
            }
            guard let byte = try firstByte() else { return try needMore() }
            switch state {
            case .start:
                guard byte == UInt8(ascii: "[") else { throw error(.malformedJSON, "expected an array") }
                window.consume(1)
                state = .afterBracket
            case .afterBracket where byte == UInt8(ascii: "]"), .afterElement where byte == UInt8(ascii: "]"):
                window.consume(1)
                state = .end
            case .afterElement:
                guard byte == UInt8(ascii: ",") else {
                    throw error(.malformedJSON, "expected a comma or ] after an element")
                }
                window.consume(1)
                state = .afterComma
            case .afterBracket, .afterComma:
                if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
                    throw error(.malformedJSON, "expected a value")
                }
                (state, scanner) = (.element, JSONValueScanner())
                count += 1
            case .end: throw error(.malformedJSON, "only white space may follow the array")
            case .element: break
            }
        }
    }

    private func firstByte() throws -> UInt8? {
        if state == .start, window.offset == 0, window.first == 0xEF {
            if window.count < 3 {
                if isFinished { throw error(.malformedJSON, "expected an array") }
                return nil
            }
            if window.storage[window.start + 1] == 0xBB, window.storage[window.start + 2] == 0xBF { window.consume(3) }
        }
        while let byte = window.first, JSONGrammar.isSpace(byte) { window.consume(1) }
        return window.first
    }

    private func needMore() throws -> Found? {
        if isFinished, state != .end {
            throw error(
                .truncated,
                state == .start
                    ? "expected an array, got an empty body"
                    : "expected ] at the end of the array, got the end of the body")
        }
        return nil
    }

    private func element() throws -> Found? {
        let size = scanner.end(in: window.storage.span.extracting(window.start...))
        if (size ?? window.count) > limit {
            throw error(.elementTooLong, "an element is longer than the limit of \(limit) bytes")
        }
        guard let size else { return nil }
        state = .afterElement
        defer { window.consume(size) }
        return Found(
            bytes: window.first(size), byte: window.offset, element: count)
    }

    private func error(_ code: StreamingError.Code, _ message: String) -> StreamingError {
        StreamingError(code, message, byte: window.offset, element: max(count, 1))
    }
}

/// Finds the end of a JSON value by counting brackets and skipping strings. The decoder checks the rest of the syntax.
struct JSONValueScanner {
    private enum Mode { case start, container, string, scalar }

    private var mode = Mode.start
    private var depth = 0
    private var string: JSONStringScan?
    private var position = 0

    /// - Parameter bytes: The bytes from earlier calls, followed by the new bytes.
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
                // If the byte can't begin a value, the scanner returns it as a value, and the decoder rejects it.
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
        // Local variables stay in registers during the loop, and properties wouldn't.
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
                // Brackets and braces differ only in the bit 0x20, so setting this bit turns a bracket into a brace.
                level += 1
            } else if byte | 0x20 == JSONGrammar.closeBrace {
                level -= 1
                if level == 0 { return index }
            }
        }
        (position, depth) = (index, level)
        return nil
    }

    private mutating func stringEnd(in bytes: Span<UInt8>) -> Int? {
        let end = string?.end(in: bytes, from: position)
        position = end ?? bytes.count
        if end != nil { string = nil }
        return end
    }
}
