package import ErrandJSONSyntax

/// Looks ahead for a member of an object, over those in front of it, which are not validated.
package struct MemberSearch {
    package enum Outcome {
        case value(BytePointer)
        case missing
        /// The text is not JSON here, or the key is too far away.
        case unreadable
    }

    private let start: BytePointer
    private let end: BytePointer
    /// Where the search ends.
    private let limit: BytePointer
    private var p: BytePointer

    /// Starts at an opening brace.
    package init(from start: BytePointer, to end: BytePointer, budget: Int) {
        (self.start, self.end) = (start, end)
        p = JSONGrammar.skipSpace(start + 1, end)
        limit = end - p > budget ? p + max(0, budget) : end
    }

    /// How many bytes were read, which may be a string more than the budget.
    package var skipped: Int { p - start }

    /// Finds the first key that is the one.
    package mutating func find(_ isKey: (JSONText) -> Bool) -> Outcome {
        if p < end, p.pointee == JSONGrammar.closeBrace { return .missing }
        while p < limit, p.pointee == JSONGrammar.quote {
            let scan = JSONGrammar.string(p + 1, end)
            guard scan.fault == .none else { return .unreadable }
            let text = JSONText(start: p + 1, end: scan.end - 1)
            p = JSONGrammar.skipSpace(scan.end, end)
            guard p < end, p.pointee == JSONGrammar.colon else { return .unreadable }
            p = JSONGrammar.skipSpace(p + 1, end)
            guard p < end else { return .unreadable }
            if isKey(text) { return .value(p) }
            guard let behind = skipValue() else {
                p = limit
                return .unreadable
            }
            p = JSONGrammar.skipSpace(behind, end)
            guard p < end else { return .unreadable }
            if p.pointee == JSONGrammar.closeBrace { return .missing }
            guard p.pointee == JSONGrammar.comma else { return .unreadable }
            p = JSONGrammar.skipSpace(p + 1, end)
        }
        return .unreadable
    }

    /// The end of a value; nil if it does not end before the limit.
    private func skipValue() -> BytePointer? {
        var p = p
        var depth = 0
        while p < limit {
            switch p.pointee {
            case JSONGrammar.quote:
                let scan = JSONGrammar.string(p + 1, end)
                guard scan.fault == .none else { return nil }
                p = scan.end
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
