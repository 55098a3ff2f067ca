package import ErrandEssentials

package enum ShellText {
    package static func quoted(_ text: some StringProtocol) -> String {
        "'" + String(text).replacing("'", with: #"'\''"#) + "'"
    }

    /// Returns the start of a command, including its pipe, that passes bytes to the next command.
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
