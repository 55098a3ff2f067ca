import ErrandMessageSyntax

/// Prepares external text for a single line of a message.
package enum MessageText {
    /// Returns an amount with a noun in the singular or plural, such as "at least 1 element" or "2 to 4 elements".
    package static func counted(_ amount: String, _ noun: String) -> String {
        amount == "1" || amount.hasSuffix(" 1") ? "\(amount) \(noun)" : "\(amount) \(noun)s"
    }

    /// Escapes control characters, line separators, and bidirectional formatting, and truncates the text to a number of
    /// scalars.
    package static func shown(_ text: String, limit: Int) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return ControlCharacters.escaped(text) }
        return ControlCharacters.escaped(String(scalars[..<end])) + "…"
    }

    package static func list(_ words: [String]) -> String {
        guard let last = words.last else { return "nothing" }
        return words.count == 1 ? last : words.dropLast().joined(separator: ", ") + " or " + last
    }
}
