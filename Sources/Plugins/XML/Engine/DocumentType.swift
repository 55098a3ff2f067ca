/// A document type declaration without declarations of its own: a name, and an external identifier (XML 1.0, sections 2.8
/// and 4.2.2).
struct DocumentType {
    /// Whether it names an external one.
    let isExternal: Bool

    private enum Token: Equatable {
        case word(String)
        case literal
    }

    /// Reads what stands between `<!DOCTYPE` and `>`; nil if it is not well-formed.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let tokens = Self.tokens(bytes) else { return nil }
        guard case .word? = tokens.first else { return nil }
        switch tokens.dropFirst() {
        case []: isExternal = false
        case [.word("SYSTEM"), .literal], [.word("PUBLIC"), .literal, .literal]: isExternal = true
        default: return nil
        }
    }

    /// Words and literals, with white space before each.
    private static func tokens(_ bytes: ArraySlice<UInt8>) -> [Token]? {
        var (tokens, rest) = ([Token](), bytes)
        while true {
            let next = rest.drop(while: XMLDeclaration.isSpace)
            guard let first = next.first else { return tokens }
            guard next.count < rest.count else { return nil }
            if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
                guard let end = next.dropFirst().firstIndex(of: first) else { return nil }
                tokens.append(.literal)
                rest = next[(end + 1)...]
            } else {
                let word = next.prefix { byte in
                    !XMLDeclaration.isSpace(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "'")
                }
                guard !word.contains(UInt8(ascii: "<")) else { return nil }
                tokens.append(.word(String(decoding: word, as: UTF8.self)))
                rest = rest[word.endIndex...]
            }
        }
    }
}
