import ErrandEssentials
import ErrandJSONSyntax
import ErrandSupport

/// JSON values, one on each line (NDJSON, JSON Lines). Blank lines are skipped, the last one needs no end.
final class JSONLineSplitter: ElementSplitter {
    private var lines: LineScanner

    init(limit: Int) {
        lines = LineScanner(.lineFeed, limit: limit)
    }

    override func push(_ chunk: Data) { lines.push(chunk) }
    override func finish() { lines.finish() }

    override func next() throws -> Found? {
        while let line = try lines.next() ?? lines.rest() {
            let storage = lines.window.storage
            let text = storage.span.extracting(line)
            let range = Self.trimmed(text)
            if range.isEmpty { continue }
            return Found(bytes: Data(copying: text.extracting(range)), byte: lines.lineStart, element: lines.lineCount)
        }
        return nil
    }

    /// The range without space, tab, LF and CR at both ends (RFC 8259, section 2).
    private static func trimmed(_ text: Span<UInt8>) -> Range<Int> {
        var (first, end) = (0, text.count)
        while first < end, JSONGrammar.isSpace(text[first]) { first += 1 }
        while first < end, JSONGrammar.isSpace(text[end - 1]) { end -= 1 }
        return first..<end
    }
}
