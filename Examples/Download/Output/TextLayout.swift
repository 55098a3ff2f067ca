/// Text in terminal columns: measures, shortens and wraps it, and removes control characters.
enum TextLayout {
    /// The width of a text in columns.
    static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    private static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.isASCII { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        let value = scalar.value
        return wide.contains { $0.contains(value) } ? 2 : 1
    }

    /// East Asian wide and fullwidth characters, and emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]

    /// `a-very-long-na...film.mp4`: keeps the beginning and the end, within the given number of columns.
    static func shortened(_ text: String, to columns: Int) -> String {
        if width(text) <= columns { return text }
        let dots = columns >= 8 ? "..." : ""
        let room = max(0, columns - dots.count)
        let tail = prefix(String(text.reversed()), dots.isEmpty ? 0 : room / 2)
        return prefix(text, room - width(tail)) + dots + String(tail.reversed())
    }

    private static func prefix(_ text: String, _ columns: Int) -> String {
        var (result, used) = ("", 0)
        for character in text {
            used += width(character)
            if used > columns { break }
            result.append(character)
        }
        return result
    }

    /// Wraps a text at spaces. A word that is longer than a line gets its own line and isn't cut.
    static func wrapped(_ text: String, columns: Int, hanging: Int = 0) -> [String] {
        if width(text) <= columns { return [text] }
        var (lines, line) = ([String](), String(text.prefix { $0 == " " }))
        var isEmpty = true
        for word in words(text) {
            if !isEmpty, width(line) + 1 + width(String(word)) > columns {
                lines.append(line)
                (line, isEmpty) = (String(repeating: " ", count: hanging), true)
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }

    /// The words of a text. A number and its unit count as one word.
    private static func words(_ text: String) -> [String] {
        let units: Set<Substring> = ["B", "KiB", "MiB", "GiB", "TiB", "s", "min", "h"]
        var words: [String] = []
        for word in text.split(separator: " ") {
            let unit = word.prefix { $0.isLetter }
            if let last = words.last, last.last?.isNumber == true, units.contains(unit) {
                words[words.count - 1] = "\(last) \(word)"
            } else {
                words.append(String(word))
            }
        }
        return words
    }

    /// Escapes control characters and characters that change the text direction: `\n` becomes `\u{A}`.
    static func printable(_ text: some StringProtocol) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
                result += "<" + String(scalar.value, radix: 16, uppercase: true).leading(4) + ">"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension String {
    /// Pads the text with spaces at its end.
    func padding(_ count: Int) -> String {
        self + String(repeating: " ", count: max(0, count - TextLayout.width(self)))
    }

    /// Pads the text with zeros at its start.
    func leading(_ count: Int) -> String { String(repeating: "0", count: max(0, count - self.count)) + self }
}
