import ErrandEssentials
import ErrandJSONSyntax

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
            let text = line.trimmingJSONWhitespace()
            if text.isEmpty { continue }
            return Found(bytes: text, byte: lines.lineStart, element: lines.lineCount)
        }
        return nil
    }
}

extension UnsafeRawBufferPointer {
    /// Without space, tab, LF and CR at both ends (RFC 8259, section 2).
    func trimmingJSONWhitespace() -> UnsafeRawBufferPointer {
        var (first, last) = (0, count)
        while first < last, JSONGrammar.isSpace(self[first]) { first += 1 }
        while first < last, JSONGrammar.isSpace(self[last - 1]) { last -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[first..<last])
    }
}
