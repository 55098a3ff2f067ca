import ErrandEssentials
import ErrandJSONSyntax
import ErrandSupport

/// Finds the values of a JSON text sequence (RFC 7464). In a sequence, a record separator precedes each JSON text, and
/// LF follows it. The splitter delivers a text before the next text begins. After a malformed text, it continues at the
/// next separator (section 2.1).
final class JSONSequenceSplitter: ElementSplitter {
    private enum State { case start, beforeText, text, afterText, skipping }

    private var window = ByteWindow()
    private let limit: Int
    private var scanner = JSONValueScanner()
    private var state = State.start
    private var isFinished = false
    /// The number of bytes at the start of the window that are known not to contain a separator.
    private var scanned = 0
    private var count = 0

    private static var separator: UInt8 { 0x1E }

    init(limit: Int) { self.limit = max(1, limit) }

    override func push(_ chunk: Data) { window.append(chunk) }
    override func finish() { isFinished = true }

    override func next() throws -> Found? {
        while let byte = window.first {
            switch state {
            case .start:
                guard byte == Self.separator else {
                    throw error(.malformedJSON, "expected a record separator at the start of the sequence")
                }
                window.consume(1)
                state = .beforeText
            case .beforeText:
                // Consecutive separators count as one (RFC 7464, section 2.1).
                if byte == Self.separator || JSONGrammar.isSpace(byte) {
                    window.consume(1)
                } else {
                    (state, scanner) = (.text, JSONValueScanner())
                    count += 1
                }
            case .text:
                guard let found = try text() else { return nil }
                return found
            case .afterText:
                if byte == Self.separator {
                    state = .start
                } else if JSONGrammar.isSpace(byte) {
                    window.consume(1)
                } else {
                    state = .skipping
                    throw error(.decodingFailed, "only white space may follow a JSON text")
                }
            case .skipping:
                let separator = window.storage.span.firstIndex(of: Self.separator, from: window.start)
                window.consume((separator ?? window.storage.count) - window.start)
                if separator != nil { state = .start }
            }
        }
        return nil
    }

    private func text() throws -> Found? {
        // A JSON text can't contain a separator, because control characters are escaped.
        let separator = window.storage.span.firstIndex(of: Self.separator, from: window.start + scanned)
        scanned = (separator ?? window.storage.count) - window.start
        let size = scanner.end(in: window.storage.span.extracting(window.start..<window.start + scanned))
        guard let size else {
            if scanned > limit { throw tooLong() }
            // A number or literal may be truncated unless white space follows it (RFC 7464, section 2.4).
            if separator != nil { throw cut(scanned) }
            if isFinished { throw error(.truncated, "the sequence ended in the middle of a JSON text") }
            return nil
        }
        if size > limit { throw tooLong() }
        state = .afterText
        scanned = 0
        defer { window.consume(size) }
        return Found(
            bytes: window.first(size), byte: window.offset, element: count)
    }

    private func cut(_ size: Int) -> StreamingError {
        let error = error(.decodingFailed, "the last JSON text isn't complete")
        window.consume(size)
        (state, scanned) = (.start, 0)
        return error
    }

    private func tooLong() -> StreamingError {
        error(.elementTooLong, "a value is longer than the limit of \(limit) bytes")
    }

    private func error(_ code: StreamingError.Code, _ message: String) -> StreamingError {
        StreamingError(code, message, byte: window.offset, element: max(count, 1))
    }
}
