import Errand
import ErrandEssentials
import ErrandSupport

/// The lines of a text; the last one needs no end. Invalid UTF-8 becomes U+FFFD; in another charset, a line that is not
/// valid throws.
struct LineParser: ~Copyable {
    private var lines: LineScanner
    /// Nil for UTF-8.
    private let charset: Charset?
    /// The label of a charset in which lines cannot be read.
    private let unreadable: String?

    /// - Parameter label: the label of the charset; nil for UTF-8.
    init(limit: Int, charset label: String? = nil) {
        lines = LineScanner(.any, limit: limit)
        let charset = Charset(label: label ?? "utf-8")
        // A line end is no byte of its own in UTF-16.
        unreadable = charset.map { $0.name.hasPrefix("utf-16") } ?? true ? label : nil
        self.charset = charset == .utf8 ? nil : charset
    }

    mutating func push(_ chunk: Data) { lines.push(chunk) }
    mutating func finish() { lines.finish() }

    mutating func next() throws -> String? {
        guard let line = try lines.next() ?? lines.rest() else { return nil }
        if charset == nil, unreadable == nil { return String(decoding: lines.window.storage.span.extracting(line)) }
        if let unreadable {
            throw failure("lines cannot be read in the charset \(unreadable.prefix(40).debugDescription)")
        }
        guard
            let text = charset?.decode(
                Data(copying: lines.window.storage.span.extracting(line)), ignoresByteOrderMark: true)
        else {
            throw failure("the line is not valid \(charset?.name ?? "utf-8")")
        }
        return text
    }

    private func failure(_ message: String) -> StreamingError {
        StreamingError(.decodingFailed, message, byte: lines.lineStart, element: lines.lineCount)
    }
}
