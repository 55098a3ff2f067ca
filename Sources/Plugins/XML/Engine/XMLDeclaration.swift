import ErrandHTTPSyntax

/// The declaration at the beginning of a document: `<?xml version="1.0" encoding="utf-8" standalone="yes"?>` (XML 1.0,
/// section 2.8).
struct XMLDeclaration {
    /// The name of the charset, in lower case.
    private(set) var encoding: String?
    /// Where the bytes that name the charset are, with the white space before them.
    private(set) var encodingRange: Range<Int>?

    /// The most bytes that it may have.
    static let maximumBytes = 1_024
    private static let mark = Array("<?xml".utf8)

    /// Whether a document begins with one; nil as long as more bytes have to come.
    static func begins(_ bytes: some Collection<UInt8>) -> Bool? {
        guard bytes.prefix(mark.count).elementsEqual(mark.prefix(bytes.count)) else { return false }
        guard let next = bytes.dropFirst(mark.count).first else { return nil }
        return isSpace(next)
    }

    /// Reads one from its first byte to its last; nil if it is not one.
    init?(_ bytes: [UInt8]) {
        var position = Self.mark.count
        var names = ["version", "encoding", "standalone"][...]
        while true {
            let start = position
            while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
            if bytes[position...].elementsEqual("?>".utf8) { break }
            guard position > start, let (name, value) = Self.pair(bytes, &position) else { return nil }
            guard let index = names.firstIndex(of: name), name == "version" || names.first != "version" else {
                return nil
            }
            names = names[(index + 1)...]
            guard !value.isEmpty, value.allSatisfy({ ASCII.isToken($0) }) else { return nil }
            if name == "encoding" {
                encoding = String(decoding: value, as: UTF8.self).lowercased()
                encodingRange = start..<position
            }
        }
        if names.first == "version" { return nil }
    }

    /// `name = "value"`
    private static func pair(_ bytes: [UInt8], _ position: inout Int) -> (name: String, value: ArraySlice<UInt8>)? {
        func skipSpace() { while position < bytes.count, isSpace(bytes[position]) { position += 1 } }
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

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
