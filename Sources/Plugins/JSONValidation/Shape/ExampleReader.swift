import ErrandJSONSyntax

/// Reads a text that the validator has accepted, so that its syntax is valid and its depth is bounded.
struct ExampleReader {
    var p: BytePointer
    let end: BytePointer

    init(p: BytePointer, end: BytePointer) {
        let hasMark = end - p >= 3 && p[0] == 0xEF
        self.p = hasMark ? p + 3 : p
        self.end = end
    }

    mutating func read() -> ExampleShape {
        skipSpace()
        guard p < end else { return ExampleShape() }
        switch p.pointee {
        case JSONGrammar.quote:
            _ = string()
            return .string
        case JSONGrammar.openBracket: return array()
        case JSONGrammar.openBrace: return object()
        case 0x6E, 0x74, 0x66:
            let isNull = p.pointee == 0x6E
            p = JSONGrammar.literal(p, end).end
            return isNull ? .null : .boolean
        default:
            let (scan, isPlain) = JSONGrammar.number(p, end)
            p = scan.end
            return .number(isInteger: isPlain)
        }
    }

    private mutating func array() -> ExampleShape {
        var element: ExampleShape?
        while next(JSONGrammar.closeBracket) {
            let value = read()
            if element == nil { element = value } else { element?.merge(value) }
        }
        return .array(element)
    }

    private mutating func object() -> ExampleShape {
        var members: [(key: String, value: ExampleShape)] = []
        while next(JSONGrammar.closeBrace) {
            let key = string()
            skipSpace()
            p += 1
            members.append((key, read()))
        }
        return .object(members)
    }

    /// Moves past a bracket or a comma; false after the closing bracket.
    private mutating func next(_ close: UInt8) -> Bool {
        skipSpace()
        guard p < end else { return false }
        let isClose = p.pointee == close
        p += 1
        if isClose { return false }
        skipSpace()
        guard p < end, p.pointee == close else { return p < end }
        p += 1
        return false
    }

    private mutating func string() -> String {
        let start = p + 1
        p = JSONGrammar.string(start, end).end
        return JSONText(start: start, end: p - 1).string()
    }

    private mutating func skipSpace() { p = JSONGrammar.skipSpace(p, end) }
}
