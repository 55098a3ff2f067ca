package import ErrandJSONSyntax

/// Looks ahead for a member of an object, and skips earlier members without validating them.
package struct MemberSearch {
    package enum Outcome {
        case value(Int)
        case missing
        /// The text isn't JSON here, or the key is too far away.
        case unreadable
    }

    private let start: Int
    private let limit: Int
    private var p: Int

    /// The start is an object's opening brace.
    package init(in text: Span<UInt8>, from start: Int, budget: Int) {
        self.start = start
        p = JSONGrammar.skipSpace(in: text, from: start + 1)
        limit = text.count - p > budget ? p + max(0, budget) : text.count
    }

    /// May exceed the budget by the length of a string.
    package var skipped: Int { p - start }

    package mutating func find(in text: Span<UInt8>, _ isKey: (JSONContent) -> Bool) -> Outcome {
        if p < text.count, text[p] == JSONGrammar.closeBrace { return .missing }
        while p < limit, text[p] == JSONGrammar.quote {
            let scan = JSONGrammar.string(in: text, from: p + 1)
            guard scan.fault == .none else { return .unreadable }
            let content = JSONContent(p + 1, scan.index - 1)
            p = JSONGrammar.skipSpace(in: text, from: scan.index)
            guard p < text.count, text[p] == JSONGrammar.colon else { return .unreadable }
            p = JSONGrammar.skipSpace(in: text, from: p + 1)
            guard p < text.count else { return .unreadable }
            if isKey(content) { return .value(p) }
            guard let behind = skipValue(in: text) else {
                p = limit
                return .unreadable
            }
            p = JSONGrammar.skipSpace(in: text, from: behind)
            guard p < text.count else { return .unreadable }
            if text[p] == JSONGrammar.closeBrace { return .missing }
            guard text[p] == JSONGrammar.comma else { return .unreadable }
            p = JSONGrammar.skipSpace(in: text, from: p + 1)
        }
        return .unreadable
    }

    /// Returns `nil` if the value is malformed or ends beyond the limit.
    private func skipValue(in text: Span<UInt8>) -> Int? {
        var p = p
        var depth = 0
        while p < limit {
            switch text[p] {
            case JSONGrammar.quote:
                let scan = JSONGrammar.string(in: text, from: p + 1)
                guard scan.fault == .none else { return nil }
                p = scan.index
            case JSONGrammar.openBrace, JSONGrammar.openBracket:
                depth += 1
                p += 1
            case JSONGrammar.closeBrace, JSONGrammar.closeBracket:
                if depth == 0 { return p }
                depth -= 1
                p += 1
            case JSONGrammar.comma where depth == 0: return p
            default:
                p += 1
                continue
            }
            if depth == 0 { return p }
        }
        return nil
    }
}
