/// A document type declaration without declarations of its own: a name, and an external identifier (XML 1.0, sections 2.8
/// and 4.2.2).
struct DocumentType {
    /// Whether it names an external subset.
    let isExternal: Bool

    private enum Token: Equatable {
        case word([UInt8])
        case literal([UInt8])
    }

    /// Reads the text between `<!DOCTYPE` and `>`; nil if it is not well-formed.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let tokens = Self.tokens(bytes), case .word(let name)? = tokens.first, XMLCharacters.isName(name) else {
            return nil
        }
        switch (tokens.count, tokens.dropFirst().first, tokens.dropFirst(2).first, tokens.dropFirst(3).first) {
        case (1, _, _, _): isExternal = false
        case (3, .word(Self.system), .literal, _): isExternal = true
        case (4, .word(Self.public), .literal(let identifier), .literal):
            guard identifier.allSatisfy(Self.publicCharacters.contains) else { return nil }
            isExternal = true
        default: return nil
        }
    }

    private static let system = Array("SYSTEM".utf8)
    private static let `public` = Array("PUBLIC".utf8)
    /// PubidChar (section 2.3)
    private static let publicCharacters = Set(
        " \r\nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-'()+,./:=?;!*#@$_%".utf8)

    /// Words and literals, with white space before each.
    private static func tokens(_ bytes: ArraySlice<UInt8>) -> [Token]? {
        var (tokens, rest) = ([Token](), bytes)
        while true {
            let next = rest.drop(while: XMLCharacters.isSpace)
            guard let first = next.first else { return tokens }
            guard next.count < rest.count, tokens.count < 4 else { return nil }
            if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
                guard let end = next.dropFirst().firstIndex(of: first) else { return nil }
                tokens.append(.literal(Array(next.dropFirst()[..<end])))
                rest = next[(end + 1)...]
            } else {
                let word = next.prefix { byte in
                    !XMLCharacters.isSpace(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "'")
                }
                tokens.append(.word(Array(word)))
                rest = rest[word.endIndex...]
            }
        }
    }
}
