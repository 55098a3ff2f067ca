/// The file name in a `Content-Disposition` field (RFC 6266): `filename*` (RFC 8187) before `filename`.
package enum ContentDisposition {
    /// The name as it was sent, decoded but not made safe; nil if there is none that can be read.
    package static func fileName(_ field: String) -> String? {
        var plain: String?
        for (name, value, isQuoted) in parameters(field) {
            // A star in the name says that the value is encoded; it never stands in quotes.
            if name == "filename*", !isQuoted, let extended = extendedValue(value), !extended.isEmpty {
                return extended
            }
            if name == "filename", plain == nil, !value.isEmpty { plain = value }
        }
        return plain
    }

    /// `UTF-8'en'na%C3%AFve.txt` (RFC 8187, section 3.2); nil for another form or bytes that are not in the charset.
    package static func extendedValue(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var bytes: [UInt8] = []
        var rest = parts[2].utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                guard byte > 0x20, byte < 0x7F else { return nil }
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16), ASCII.isHexDigit(high)
            else { return nil }
            bytes.append(value)
        }
        return Charset.decode(Data(bytes), named: parts[0].lowercased())
    }

    /// Names in lower case with their values, unquoted; what stands before the first semicolon is no parameter.
    private static func parameters(_ field: String) -> [(name: String, value: String, isQuoted: Bool)] {
        var result: [(name: String, value: String, isQuoted: Bool)] = []
        var rest = Array(field.prefix(limit).unicodeScalars)[...]
        // Some servers leave the type away.
        let type = rest.prefix { $0 != ";" }
        if !type.contains("=") { rest = rest.dropFirst(type.count) }
        while !rest.isEmpty {
            rest = rest.drop { $0 == ";" || $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let (value, isQuoted) = value(&rest)
            result.append((trimmed(name).lowercased(), value, isQuoted))
        }
        return result
    }

    private static func value(_ rest: inout ArraySlice<Unicode.Scalar>) -> (String, isQuoted: Bool) {
        var value = String.UnicodeScalarView()
        guard rest.first == "\"" else {
            let bare = rest.prefix { $0 != ";" }
            rest = rest.dropFirst(bare.count)
            return (trimmed(bare), false)
        }
        rest = rest.dropFirst()
        while let scalar = rest.popFirst(), scalar != "\"" {
            if scalar == "\\", let escaped = rest.popFirst() { value.append(escaped) } else { value.append(scalar) }
        }
        return (String(value), true)
    }

    private static func trimmed(_ text: ArraySlice<Unicode.Scalar>) -> String {
        let isSpace: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" }
        return String(String.UnicodeScalarView(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()))
    }

    /// Longer than any name that a file can have.
    private static let limit = 8 << 10
}
