import ErrandMessageSyntax

/// Makes external text suitable for one line of a message.
package enum MessageText {
    /// An amount with what it counts, in the singular or the plural: "at least 1 element", "2 to 4 elements".
    package static func counted(_ amount: String, _ noun: String) -> String {
        amount == "1" || amount.hasSuffix(" 1") ? "\(amount) \(noun)" : "\(amount) \(noun)s"
    }

    /// The text without control characters, line separators and bidirectional formatting, truncated to a number of scalars.
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
