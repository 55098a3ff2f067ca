import ErrandHTTPSyntax

/// Objects of several shapes that a tag discriminates: the tag is read first, so that a value is matched against the shapes
/// with its tag only.
extension Validator {
    private enum Tag {
        case value(BytePointer)
        case missing
        /// The text is not JSON here, or the key is too far away: the value is matched against all shapes.
        case unreadable
    }

    /// Nil if the value has to be matched against all alternatives.
    mutating func choose(byTagOf node: UnsafePointer<ShapeRule>, at start: BytePointer, depth: Int) -> Choice? {
        let rule = program.tags[Int(node.pointee.tag)]
        switch find(rule.key, in: start) {
        case .unreadable: return nil
        case .missing: return choose(without: rule, node, start, at: nil, depth)
        case .value(let p):
            guard p.pointee == JSONGrammar.quote else { return choose(without: rule, node, start, at: p, depth) }
            let scan = JSONGrammar.string(p + 1, end)
            guard scan.fault == .none else { return nil }
            let text = JSONText(start: p + 1, end: scan.end - 1)
            let hasEscapes = text.hasEscapes
            let member = find(text, hasEscapes, KeyHash.hash(text, hasEscapes: hasEscapes), in: rule.values)
            guard member >= 0 else { return choose(without: rule, node, start, at: p, depth) }
            let nodes = program.tagged[Int(tables.members[member].node)]
            if nodes.count == 1 { return Choice(node: tables.nodes + Int(nodes[0]), end: start) }
            return choose(among: nodes.map { Int($0) }, of: node, ValueKind.object, at: start, depth: depth)
        }
    }

    /// Reports an unknown tag. If the rest of the object fits one shape best, reports the problems for that one, otherwise
    /// the tags of all that fit equally well.
    private mutating func choose(
        without rule: TagRule, _ node: UnsafePointer<ShapeRule>, _ start: BytePointer, at p: BytePointer?, _ depth: Int
    ) -> Choice {
        let unread = Choice(node: tables.any, end: start)
        if problems.isFull {
            problems.note(.value)
            problems.addUnlisted(1)
            return unread
        }
        guard let (match, end) = evaluate([node - tables.nodes], at: start, depth) else {
            return Choice(node: node, end: start, isAtEnd: true)
        }
        let least = match.candidates.reduce(Int.max) { min($0, $1.cost) }
        let closest = match.candidates.filter { $0.cost == least }
        if closest.count == 1, let best = closest.first, rereadBudget >= end - start {
            rereadBudget -= end - start
            return Choice(node: tables.nodes + best.node, end: start)
        }
        let nodes = Set(closest.map { Int32($0.node) })
        var known: Set<JSONConstant> = []
        let fitting = rule.constants.filter { nodes.contains($0.node) }.flatMap(\.values)
        report(fitting.filter { known.insert($0).inserted }, rule, start, at: p, depth)
        return unread
    }

    private mutating func report(
        _ constants: [JSONConstant], _ rule: TagRule, _ start: BytePointer, at p: BytePointer?, _ depth: Int
    ) {
        let member = tables.members[Int(rule.key.first)]
        let bytes = program.pool[Int(member.text)..<Int(member.text + member.length)]
        let pointer = JSONPointer.appending(String(decoding: bytes, as: UTF8.self), to: pointer(depth))
        var problem = JSONProblem(
            kind: .missing, pointer: pointer, expected: words(constants), found: "nothing", offset: start - base)
        if let p {
            problem.kind = p.pointee == JSONGrammar.quote ? .value : .type
            problem.found = p.pointee == JSONGrammar.quote ? "another string" : Self.kindWord(p)
            problem.offset = p - base
        }
        problems.note(problem.kind, isDerived: isUncertain)
        problems.add(problem)
    }

    // MARK: Lookahead

    /// Skips the members of an object up to a key, without validating them.
    private mutating func find(_ key: KeyTable, in start: BytePointer) -> Tag {
        var p = JSONGrammar.skipSpace(start + 1, end)
        let limit = end - p > skipBudget ? p + skipBudget : end
        defer { skipBudget -= min(skipBudget, p - start) }
        if p < end, p.pointee == JSONGrammar.closeBrace { return .missing }
        while p < limit, p.pointee == JSONGrammar.quote {
            let scan = JSONGrammar.string(p + 1, end)
            guard scan.fault == .none else { return .unreadable }
            let text = JSONText(start: p + 1, end: scan.end - 1)
            p = JSONGrammar.skipSpace(scan.end, end)
            guard p < end, p.pointee == JSONGrammar.colon else { return .unreadable }
            p = JSONGrammar.skipSpace(p + 1, end)
            guard p < end else { return .unreadable }
            if isText(tables.members + Int(key.first), text, text.hasEscapes) { return .value(p) }
            guard let behind = skipValue(p, limit) else {
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
    private func skipValue(_ start: BytePointer, _ limit: BytePointer) -> BytePointer? {
        var p = start
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
