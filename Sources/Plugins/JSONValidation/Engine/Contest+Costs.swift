/// What a value costs each candidate, and who the candidates are.
extension Validator {
    /// Adds the candidates for a value of a kind: what the level around it wants.
    func enter(_ contest: inout Contest, _ kind: UInt8) {
        let end = contest.candidates.count
        // Several candidates may want one union: its alternatives are gone through once.
        var unions: Set<Int> = []
        guard let level = contest.levels.last else {
            for node in contest.top { add(node, kind, to: &contest, end, &unions) }
            return
        }
        for index in level.first..<end where contest.candidates[index].wanted >= 0 {
            add(contest.candidates[index].wanted, kind, to: &contest, end, &unions)
        }
    }

    private func add(
        _ index: Int, _ kind: UInt8, to contest: inout Contest, _ first: Int, _ unions: inout Set<Int>
    ) {
        let node = tables.nodes[index]
        if node.kinds & ~node.plain & kind == 0 { return }
        if node.ambiguous & kind == 0 { return contest.enter(index, behind: first) }
        guard unions.insert(index).inserted else { return }
        for alternative in program.alternatives[node.alternativesRange] {
            add(Int(alternative), kind, to: &contest, first, &unions)
        }
    }

    /// What a value cost a node that wanted it; `unions` keeps what it cost those with several rules.
    private func cost(
        _ index: Int, _ kind: UInt8, _ contest: Contest, _ first: Int, _ unions: inout [Int: Int]
    ) -> Int {
        let node = tables.nodes[index]
        if node.plain & kind != 0 { return 0 }
        if node.kinds & kind == 0 { return 1 }
        if node.ambiguous & kind == 0 {
            let place = Int(contest.places[index])
            return place >= first ? contest.candidates[place].cost : 0
        }
        if let known = unions[index] { return known }
        var least = Int.max
        for alternative in program.alternatives[node.alternativesRange]
        where tables.nodes[Int(alternative)].kinds & kind != 0 {
            least = min(least, cost(Int(alternative), kind, contest, first, &unions))
        }
        let cost = least == .max ? 1 : least
        unions[index] = cost
        return cost
    }

    /// Charges a value to the candidates around it and forgets its own; those of the whole value stay.
    func settle(_ contest: inout Contest, _ kind: UInt8, _ first: Int) {
        guard let level = contest.levels.last else { return }
        var unions: [Int: Int] = [:]
        for index in level.first..<first where contest.candidates[index].wanted >= 0 {
            contest.candidates[index].cost += cost(contest.candidates[index].wanted, kind, contest, first, &unions)
        }
        contest.leave(behind: first)
    }

    /// Closes the innermost array or object at its bracket.
    mutating func leave(_ contest: inout Contest, _ p: BytePointer) -> BytePointer {
        let level = contest.levels.removeLast()
        for index in level.first..<contest.candidates.count {
            let node = tables.nodes[contest.candidates[index].node]
            var count: Int32 = -1
            if level.isObject, node.object >= 0 {
                let rule = tables.objects[Int(node.object)]
                contest.candidates[index].cost += rule.requiredCount - contest.candidates[index].required
                count = rule.count
            } else if !level.isObject, node.array >= 0 {
                count = program.arrays[Int(node.array)].count
            }
            if count >= 0, !program.bounds[Int(count)].contains(level.count) { contest.candidates[index].cost += 1 }
            if node.hasChecks, contest.candidates[index].cost == 0 {
                for check in node.checks where !passes(check, level.start, p + 1) {
                    contest.candidates[index].cost += 1
                }
            }
        }
        keys.removeAll(behind: level.keysBefore)
        settle(&contest, level.kind, level.first)
        return p + 1
    }
}
