import ErrandMessageSyntax
import ErrandSupport

/// Writes records as text to standard error. On a terminal, a color shows the outcome, unless `NO_COLOR` is set and not
/// empty.
public struct StandardErrorSink: LogSink {
    private let isColored: Bool

    /// Creates a sink. Checks for a terminal and `NO_COLOR` once.
    public init() {
        let isPlain = !(environmentVariable("NO_COLOR") ?? "").isEmpty
        isColored = !isPlain && isatty(2) == 1
    }

    /// Writes the record's text and a line break.
    public func write(_ record: LogRecord) { DescriptorText.put(Self.text(record, isColored: isColored) + "\n", 2) }

    static func text(_ record: LogRecord, isColored: Bool) -> String {
        let text = ControlCharacters.escaped(record.description, allowsLines: true)
        guard isColored else { return text }
        let color =
            switch record.outcome {
            case .success: "32"
            case .failure: "31"
            case .cancelled: "33"
            }
        return "\u{1B}[\(color)m●\u{1B}[0m " + text
    }
}

enum DescriptorText {
    /// Returns `false` if the text can't be written.
    @discardableResult
    static func put(_ text: String, _ descriptor: Int32) -> Bool {
        SystemFile.write(Array(text.utf8), to: descriptor, waits: false) == nil
    }
}
