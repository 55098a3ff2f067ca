import ErrandEssentials
import ErrandHTTPSyntax

/// The elements of one JSON array (RFC 8259, section 5), each as soon as it is complete.
final class JSONArraySplitter: ElementSplitter {
    private enum Place { case start, afterBracket, afterComma, element, afterElement, end }

    private var window = ByteWindow()
    private let limit: Int
    private var scanner = JSONValueScanner()
    private var place = Place.start
    private var isFinished = false
    private var count = 0

    init(limit: Int) { self.limit = max(1, limit) }

    override func push(_ chunk: Data) { window.append(chunk) }
    override func finish() { isFinished = true }

    override func next() throws -> Found? {
        while true {
            if place == .element {
                if let found = try element() { return found }
                return try needMore()
            }
            guard let byte = try firstByte() else { return try needMore() }
            switch place {
            case .start:
                guard byte == UInt8(ascii: "[") else { throw error(.malformedJSON, "an array expected") }
                window.consume(1)
                place = .afterBracket
            case .afterBracket where byte == UInt8(ascii: "]"), .afterElement where byte == UInt8(ascii: "]"):
                window.consume(1)
                place = .end
            case .afterElement:
                guard byte == UInt8(ascii: ",") else { throw error(.malformedJSON, "a comma or ] expected") }
                window.consume(1)
                place = .afterComma
            case .afterBracket, .afterComma:
                if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
                    throw error(.malformedJSON, "a value expected")
                }
                (place, scanner) = (.element, JSONValueScanner())
                count += 1
            case .end: throw error(.malformedJSON, "only white space may follow the array")
            case .element: break
            }
        }
    }

    /// The next byte that is no white space; a byte order mark at the very beginning is skipped.
    private func firstByte() throws -> UInt8? {
        let bytes = window.bytes
        var index = 0
        if place == .start, window.offset == 0, bytes.first == 0xEF {
            if bytes.count < 3 {
                if isFinished { throw error(.malformedJSON, "an array expected") }
                return nil
            }
            if bytes[1] == 0xBB, bytes[2] == 0xBF { index = 3 }
        }
        while index < bytes.count, JSONGrammar.isSpace(bytes[index]) { index += 1 }
        window.consume(index)
        return index < bytes.count ? bytes[index] : nil
    }

    private func needMore() throws -> Found? {
        if isFinished, place != .end {
            throw error(.truncated, place == .start ? "an array expected, the body is empty" : "the array has no end")
        }
        return nil
    }

    private func element() throws -> Found? {
        let bytes = window.bytes
        let end = scanner.end(in: bytes)
        if (end ?? bytes.count) > limit {
            throw error(.elementTooLong, "an element is longer than the limit of \(limit) bytes")
        }
        guard let end else { return nil }
        place = .afterElement
        defer { window.consume(end) }
        return Found(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[..<end]), byte: window.offset, element: count)
    }

    private func error(_ code: StreamingError.Code, _ message: String) -> StreamingError {
        StreamingError(code, message, byte: window.offset, element: max(count, 1))
    }
}
