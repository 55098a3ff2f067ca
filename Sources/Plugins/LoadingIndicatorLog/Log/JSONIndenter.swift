import ErrandJSONSyntax

/// JSON with a line for each value, indented; names, order and numbers stay as they are. The text may be cut off.
struct JSONIndenter {
    private var result: [UInt8] = []
    private var depth = 0

    /// - Parameter bytes: JSON as far as it goes; of anything else the result is of no use.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var indenter = JSONIndenter()
        indenter.indent(Array(bytes))
        return String(decoding: indenter.result, as: UTF8.self)
    }

    private mutating func indent(_ bytes: [UInt8]) {
        var tokens = JSONTokenizer(bytes, isComplete: false)
        var previous: JSONToken.Kind?
        while let token = tokens.next() {
            let isClosing = token.kind == .closeBrace || token.kind == .closeBracket
            if isClosing { depth = max(0, depth - 1) }
            switch previous {
            // An empty container stays on its line.
            case .openBrace where token.kind != .closeBrace, .openBracket where token.kind != .closeBracket, .comma:
                newLine()
            case .none, .openBrace, .openBracket: break
            default: if isClosing { newLine() }
            }
            result += bytes[token.range]
            if token.kind == .openBrace || token.kind == .openBracket { depth += 1 }
            if token.kind == .colon { result.append(0x20) }
            previous = token.kind
        }
        if previous == .openBrace || previous == .openBracket || previous == .comma { newLine() }
    }

    private mutating func newLine() {
        result.append(UInt8(ascii: "\n"))
        result += repeatElement(0x20, count: 2 * min(depth, 20))
    }
}
