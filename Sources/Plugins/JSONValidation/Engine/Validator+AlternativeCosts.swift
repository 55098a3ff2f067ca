/// The candidates for a value, and what the value costs each of them.
extension Validator {
    /// Adds the candidates for a value of a kind: the nodes that the enclosing level expects.
    func enter(_ match: inout AlternativeMatch, _ kind: UInt8) {
        let end = match.candidates.count
        // Several candidates may expect the same union: its alternatives are added once.
        var unions: Set<Int> = []
        guard let level = match.levels.last else {
            for node in match.top { add(node, kind, to: &match, end, &unions) }
            return
        }
        for index in level.first..<end where match.candidates[index].expectedNode >= 0 {
            add(match.candidates[index].expectedNode, kind, to: &match, end, &unions)
        }
    }

    private func add(
        _ index: Int, _ kind: UInt8, to match: inout AlternativeMatch, _ first: Int, _ unions: inout Set<Int>
    ) {
        let node = nodes[index]
        if node.kinds & ~node.plain & kind == 0 { return }
        if node.ambiguous & kind == 0 { return match.enter(index, behind: first) }
        guard unions.insert(index).inserted else { return }
        for alternative in program.alternatives[node.alternativesRange] {
            add(Int(alternative), kind, to: &match, first, &unions)
        }
    }

    /// The cost of a value for a node that expected it; `unions` caches the costs for nodes with several rules.
    private func cost(
        _ index: Int, _ kind: UInt8, _ match: AlternativeMatch, _ first: Int, _ unions: inout [Int: Int]
    ) -> Int {
        let node = nodes[index]
        if node.plain & kind != 0 { return 0 }
        if node.kinds & kind == 0 { return 1 }
        if node.ambiguous & kind == 0 {
            let candidate = Int(match.candidateIndexes[index])
            return candidate >= first ? match.candidates[candidate].cost : 0
        }
        if let known = unions[index] { return known }
        var least = Int.max
        for alternative in program.alternatives[node.alternativesRange]
        where nodes[Int(alternative)].kinds & kind != 0 {
            least = min(least, cost(Int(alternative), kind, match, first, &unions))
        }
        let cost = least == .max ? 1 : least
        unions[index] = cost
        return cost
    }

    /// Adds the cost of a value to the enclosing candidates and removes its own; those of the whole value stay.
    func chargeParents(_ match: inout AlternativeMatch, _ kind: UInt8, _ first: Int) {
        guard let level = match.levels.last else { return }
        var unions: [Int: Int] = [:]
        for index in level.first..<first where match.candidates[index].expectedNode >= 0 {
            match.candidates[index].cost += cost(match.candidates[index].expectedNode, kind, match, first, &unions)
        }
        match.leave(behind: first)
    }

    /// Closes the innermost array or object at its bracket.
    mutating func leave(_ text: Span<UInt8>, _ match: inout AlternativeMatch, _ p: Int) -> Int {
        let level = match.levels.removeLast()
        for index in level.first..<match.candidates.count {
            let node = nodes[match.candidates[index].node]
            var count: Int32 = -1
            if level.isObject, node.object >= 0 {
                let rule = objectRules[Int(node.object)]
                match.candidates[index].cost += rule.requiredCount - match.candidates[index].required
                count = rule.count
            } else if !level.isObject, node.array >= 0 {
                count = arrayRules[Int(node.array)].count
            }
            if count >= 0, !program.bounds[Int(count)].contains(level.count) { match.candidates[index].cost += 1 }
            if node.hasChecks, match.candidates[index].cost == 0 {
                for check in node.checks where passes(text, check, level.start..<p + 1) != true {
                    match.candidates[index].cost += 1
                }
            }
        }
        keys.removeAll(behind: level.keysBefore)
        chargeParents(&match, level.kind, level.first)
        return p + 1
    }
}
