import ErrandJSONSyntax

/// Reads a text that the validator has accepted, so that its syntax is valid and its depth is bounded.
struct ExampleReader {
    private var p: Int

    init(_ text: Span<UInt8>) { p = text.count >= 3 && text[0] == 0xEF ? 3 : 0 }

    mutating func read(_ text: Span<UInt8>) -> ExampleShape {
        skipSpace(text)
        guard p < text.count else { return ExampleShape() }
        switch text[p] {
        case JSONGrammar.quote:
            _ = string(text)
            return .string
        case JSONGrammar.openBracket: return array(text)
        case JSONGrammar.openBrace: return object(text)
        case 0x6E, 0x74, 0x66:
            let isNull = text[p] == 0x6E
            p = JSONGrammar.literal(in: text, from: p).index
            return isNull ? .null : .boolean
        default:
            let (scan, isPlain) = JSONGrammar.number(in: text, from: p)
            p = scan.index
            return .number(isInteger: isPlain)
        }
    }

    private mutating func array(_ text: Span<UInt8>) -> ExampleShape {
        var element: ExampleShape?
        while next(text, JSONGrammar.closeBracket) {
            let value = read(text)
            if element == nil { element = value } else { element?.merge(value) }
        }
        return .array(element)
    }

    private mutating func object(_ text: Span<UInt8>) -> ExampleShape {
        var members: [(key: String, value: ExampleShape)] = []
        while next(text, JSONGrammar.closeBrace) {
            let key = string(text)
            skipSpace(text)
            p += 1
            members.append((key, read(text)))
        }
        return .object(members)
    }

    /// Moves past a bracket or a comma; false after the closing bracket.
    private mutating func next(_ text: Span<UInt8>, _ close: UInt8) -> Bool {
        skipSpace(text)
        guard p < text.count else { return false }
        let isClose = text[p] == close
        p += 1
        if isClose { return false }
        skipSpace(text)
        guard p < text.count, text[p] == close else { return p < text.count }
        p += 1
        return false
    }

    private mutating func string(_ text: Span<UInt8>) -> String {
        let start = p + 1
        p = JSONGrammar.string(in: text, from: start).index
        return JSONContent(start, p - 1).string(in: text)
    }

    private mutating func skipSpace(_ text: Span<UInt8>) { p = JSONGrammar.skipSpace(in: text, from: p) }
}
