import ErrandJSONSyntax

/// Handles objects of several shapes that a tag tells apart. Reads the tag first, so a value is matched only against
/// the shapes with its tag.
extension Validator {
    /// Chooses a shape by its tag. Returns `nil` if the value has to be matched against all alternatives.
    mutating func choose(_ text: Span<UInt8>, byTagOf node: Int, at start: Int, depth: Int) -> Choice? {
        let rule = program.tags[Int(nodes[node].tag)]
        switch find(text, rule.key, in: start) {
        case .unreadable: return nil
        case .missing: return choose(text, without: rule, node, start, at: nil, depth)
        case .value(let p):
            guard text[p] == JSONGrammar.quote else { return choose(text, without: rule, node, start, at: p, depth) }
            let scan = JSONGrammar.string(in: text, from: p + 1)
            guard scan.fault == .none else { return nil }
            let content = JSONContent(p + 1, scan.index - 1)
            let hasEscapes = content.hasEscapes(in: text)
            let member = find(
                text, content, hasEscapes, KeyHash.hash(text, content, hasEscapes: hasEscapes), in: rule.values)
            guard member >= 0 else { return choose(text, without: rule, node, start, at: p, depth) }
            let nodes = program.tagged[Int(members[member].node)]
            if nodes.count == 1 { return Choice(node: Int(nodes[0]), end: start) }
            return choose(text, among: nodes.map { Int($0) }, of: node, ValueKind.object, at: start, depth: depth)
        }
    }

    /// Reports an unknown tag. If the rest of the object fits one shape best, reports the problems with that shape;
    /// otherwise, the tags of all shapes that fit equally well.
    private mutating func choose(
        _ text: Span<UInt8>, without rule: TagRule, _ node: Int, _ start: Int, at p: Int?, _ depth: Int
    ) -> Choice {
        let unread = Choice(node: ShapeProgram.any, end: start)
        if problems.isFull {
            problems.note(.value)
            problems.addUnlisted(1)
            return unread
        }
        guard let (match, end) = evaluate(text, [node], at: start, depth) else {
            return Choice(node: node, end: start, isAtEnd: true)
        }
        let least = match.candidates.reduce(Int.max) { min($0, $1.cost) }
        let closest = match.candidates.filter { $0.cost == least }
        if closest.count == 1, let best = closest.first, rereadBudget >= end - start {
            rereadBudget -= end - start
            return Choice(node: best.node, end: start)
        }
        let nodes = Set(closest.map { Int32($0.node) })
        var known: Set<JSONConstant> = []
        let fitting = rule.constants.filter { nodes.contains($0.node) }.flatMap(\.values)
        report(text, fitting.filter { known.insert($0).inserted }, rule, start, at: p, depth)
        return unread
    }

    private mutating func report(
        _ text: Span<UInt8>, _ constants: [JSONConstant], _ rule: TagRule, _ start: Int, at p: Int?, _ depth: Int
    ) {
        let member = members[Int(rule.key.first)]
        let pointer = JSONPointer.appending(String(decoding: key(member), as: UTF8.self), to: pointer(text, depth))
        var problem = JSONProblem(
            kind: .missing, pointer: pointer, expected: words(constants), found: "nothing", offset: start)
        if let p {
            problem.kind = text[p] == JSONGrammar.quote ? .value : .type
            problem.found = text[p] == JSONGrammar.quote ? "another string" : Self.kindWord(text[p])
            problem.offset = p
        }
        problems.note(problem.kind, isDerived: isUncertain)
        problems.add(problem)
    }

    /// Skips the members of an object up to a key, without validating them.
    private mutating func find(_ text: Span<UInt8>, _ key: KeyTable, in start: Int) -> MemberSearch.Outcome {
        var search = MemberSearch(in: text, from: start, budget: skipBudget)
        let outcome = search.find(in: text) { isText(text, Int(key.first), $0, $0.hasEscapes(in: text)) }
        skipBudget -= search.skipped
        return outcome
    }
}
