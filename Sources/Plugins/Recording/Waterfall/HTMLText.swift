enum HTMLText {
    static func milliseconds(_ value: Double) -> String {
        let tenths = Int((min(max(value, 0), 1e12) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    /// Escapes markup in untrusted text, and replaces control characters with spaces.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
