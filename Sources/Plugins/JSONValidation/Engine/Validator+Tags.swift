import ErrandJSONSyntax

/// Objects of several shapes that a tag discriminates: the tag is read first, so that a value is matched against the shapes
/// with its tag only.
extension Validator {
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

    /// Skips the members of an object up to a key, without validating them.
    private mutating func find(_ key: KeyTable, in start: BytePointer) -> MemberSearch.Outcome {
        let rule = tables.members + Int(key.first)
        var search = MemberSearch(from: start, to: end, budget: skipBudget)
        let outcome = search.find { isText(rule, $0, $0.hasEscapes) }
        skipBudget -= search.skipped
        return outcome
    }
}
