/// The line of a spinner, cut to the width of the terminal.
enum SpinnerLine {
    static let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    /// - Parameter columns: the terminal's width; the last column stays free, so that no terminal wraps the line.
    static func text(_ state: LoadingState, frame: Int, columns: Int, isColored: Bool) -> String {
        var words = [clean(state.label ?? "Loading…")]
        if let fraction = state.fraction, fraction.isFinite {
            words.append("\(Int(min(max(fraction, 0), 1) * 100)) %")
        }
        if state.running > 1 { words.append("(\(state.running))") }
        let sign = frames[frame % frames.count]
        let rest = cut(" " + words.joined(separator: " "), to: columns - 2)
        return (isColored ? "\u{1B}[36m\(sign)\u{1B}[0m" : sign) + rest
    }

    /// A label without control characters, which could move the cursor.
    static func clean(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }

    private static func cut(_ text: String, to columns: Int) -> String {
        var result = ""
        var used = 0
        for character in text {
            used += width(character)
            if used > columns { break }
            result.append(character)
        }
        return result
    }

    /// Columns that a character takes: two in the scripts of East Asia and for emoji.
    private static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        // Some terminals give one column to a character that a variation selector turns into an emoji. A line that is cut
        // too early is better than one that wraps, because nothing erases a wrapped line.
        if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
