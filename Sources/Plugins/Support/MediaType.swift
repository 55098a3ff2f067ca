/// A parsed `Content-Type`: type/subtype in lower case and its parameters (RFC 9110, section 8.3.1).
package struct MediaType {
    package let name: String
    package let parameters: [String: String]

    package init?(_ text: String) {
        var parts = Self.split(text)[...]
        guard let name = parts.popFirst(), name.utf8.split(separator: UInt8(ascii: "/")).count == 2 else { return nil }
        self.name = name.lowercased()
        var parameters: [String: String] = [:]
        for part in parts {
            guard let equals = part.firstIndex(of: "=") else { continue }
            var value = part[part.index(after: equals)...]
            if value.count >= 2, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
            let key = part[..<equals].lowercased()
            if parameters[key] == nil { parameters[key] = String(value.replacing("\\", with: "")) }
        }
        self.parameters = parameters
    }

    /// At the semicolons that stand outside quotes, white space trimmed.
    private static func split(_ text: String) -> [String] {
        var parts = [""]
        var isQuoted = false
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if character == ";" && !isQuoted { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        return parts.map { part in
            String(part.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
    }
}
