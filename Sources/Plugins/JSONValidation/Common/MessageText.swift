/// Makes external text suitable for one line of a message.
package enum MessageText {
    /// An amount with what it counts, in the singular or the plural: "at least 1 element", "2 to 4 elements".
    package static func counted(_ amount: String, _ noun: String) -> String {
        amount == "1" || amount.hasSuffix(" 1") ? "\(amount) \(noun)" : "\(amount) \(noun)s"
    }

    /// The text without control characters, line separators and bidirectional formatting, truncated to a number of scalars.
    package static func shown(_ text: String, limit: Int) -> String {
        var shown = ""
        for (count, scalar) in text.unicodeScalars.enumerated() {
            if count == limit { return shown + "…" }
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
                shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    package static func list(_ words: [String]) -> String {
        guard let last = words.last else { return "nothing" }
        return words.count == 1 ? last : words.dropLast().joined(separator: ", ") + " or " + last
    }
}
