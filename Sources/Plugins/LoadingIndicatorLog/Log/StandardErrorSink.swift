import ErrandSupport

/// Records as text on standard error: coloured by outcome on a terminal, unless `NO_COLOR` is set and not empty.
public struct StandardErrorSink: LogSink {
    private let isColored: Bool

    /// Checks for a terminal and for `NO_COLOR` once.
    public init() {
        let isPlain = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
        isColored = !isPlain && isatty(2) == 1
    }

    /// Writes the record's text and a line break.
    public func write(_ record: LogRecord) { DescriptorText.put(Self.text(record, isColored: isColored) + "\n", 2) }

    static func text(_ record: LogRecord, isColored: Bool) -> String {
        let text = LogText.printable(record.description)
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

/// Makes text of any origin harmless for a terminal.
enum LogText {
    /// Replaces control characters other than tabs and line breaks by `\u{1B}` and the like.
    static func printable(_ text: String) -> String {
        if !text.unicodeScalars.contains(where: isHarmful) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isHarmful(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && scalar != "\n" && scalar != "\t" || (0x7F...0x9F).contains(scalar.value)
            || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }
}

/// Writes text to a descriptor.
enum DescriptorText {
    /// Returns false if it cannot be written.
    @discardableResult
    static func put(_ text: String, _ descriptor: Int32) -> Bool {
        Array(text.utf8).withUnsafeBytes { SystemFile.write($0, to: descriptor, waits: false) } == nil
    }
}
