import ErrandMessageSyntax

/// Such as `<?xml version="1.0" encoding="utf-8" standalone="yes"?>` (XML 1.0, section 2.8).
struct XMLDeclaration {
    /// In lowercase.
    private(set) var encoding: String?

    static let maximumBytes = 1_024
    private static let mark = Array("<?xml".utf8)

    /// Returns `nil` if more bytes are needed.
    static func begins(_ bytes: some Collection<UInt8>) -> Bool? {
        guard bytes.prefix(mark.count).elementsEqual(mark.prefix(bytes.count)) else { return false }
        guard let next = bytes.dropFirst(mark.count).first else { return nil }
        return XMLCharacters.isSpace(next)
    }

    /// The bytes must be a whole declaration. Returns `nil` if they're malformed.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maximumBytes else { return nil }
        var position = Self.mark.count
        var names = ["version", "encoding", "standalone"][...]
        while true {
            let start = position
            while position < bytes.count, XMLCharacters.isSpace(bytes[position]) { position += 1 }
            if bytes[position...].elementsEqual("?>".utf8) { break }
            guard position > start, let (name, value) = Self.pair(bytes, &position) else { return nil }
            guard let index = names.firstIndex(of: name), name == "version" || names.first != "version" else {
                return nil
            }
            names = names[(index + 1)...]
            let text = String(decoding: value, as: UTF8.self)
            switch name {
            case "version": guard Self.isVersion(value) else { return nil }
            case "encoding":
                guard Self.isCharset(value) else { return nil }
                encoding = text.lowercased()
            default: guard text == "yes" || text == "no" else { return nil }
            }
        }
        if names.first == "version" { return nil }
    }

    /// Later versions are read as 1.0 (section 2.8). `1.` alone is accepted, as in other parsers.
    private static func isVersion(_ value: ArraySlice<UInt8>) -> Bool {
        value.starts(with: "1.".utf8) && value.dropFirst(2).allSatisfy(ASCII.isDigit)
    }

    /// EncName (section 4.3.3).
    private static func isCharset(_ value: ArraySlice<UInt8>) -> Bool {
        guard let first = value.first, ASCII.isLetter(first) else { return false }
        return value.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "._-".utf8.contains($0) }
    }

    /// Reads `name = "value"`.
    private static func pair(_ bytes: [UInt8], _ position: inout Int) -> (name: String, value: ArraySlice<UInt8>)? {
        func skipSpace() { while position < bytes.count, XMLCharacters.isSpace(bytes[position]) { position += 1 } }
        let start = position
        while position < bytes.count, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[position]) {
            position += 1
        }
        let name = String(decoding: bytes[start..<position], as: UTF8.self)
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { return nil }
        position += 1
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'"),
            let end = bytes[(position + 1)...].firstIndex(of: bytes[position])
        else { return nil }
        defer { position = end + 1 }
        return (name, bytes[(position + 1)..<end])
    }
}
