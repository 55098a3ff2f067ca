package import ErrandEssentials

/// Text for commands that any shell runs.
package enum ShellText {
    /// Returns the text in single quotes, in which a shell interprets only the quote itself.
    package static func quoted(_ text: some StringProtocol) -> String {
        "'" + String(text).replacing("'", with: #"'\''"#) + "'"
    }

    /// Returns the beginning of a command, up to its pipe, that passes bytes to the command after it.
    package static func piping(_ bytes: Data) -> String {
        var octal = ""
        octal.reserveCapacity(bytes.count * 4)
        for byte in bytes {
            let digits = String(byte, radix: 8)
            octal += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }
        return "printf '\(octal)' | "
    }
}
