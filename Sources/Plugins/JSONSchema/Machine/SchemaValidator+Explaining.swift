import ErrandJSONValidation

extension SchemaValidator {
    private static let maximumRereads = 16
    private static let maximumBranches = 256

    /// Explains why gates of the value that just ended do not hold, by reading it again; false if the rest of the text is
    /// not read.
    mutating func explain(_ start: BytePointer, _ end: BytePointer, _ depth: Int) -> Bool {
        let gates = unexplained
        unexplained.removeAll(keepingCapacity: true)
        for (node, number) in gates {
            let gateIndex = number / 4
            let gate = program.nodes[Int(node)].gates[gateIndex]
            switch gate.kind {
            case .any, .one:
                let words =
                    gate.nodes.count == 1
                    ? "a value that fits a schema" : "a value that fits one of \(gate.nodes.count) schemas"
                report(.value, node, gate.keyword, depth, start, words, Self.kindWord(start), isDerived: true)
                if isWeighing || problems.isFull { continue }
                if let best = closest(gate.nodes, start, end, depth) { _ = reread(best, start, end, depth) }
            case .condition:
                let branch = gate.nodes[number % 4]
                if isWeighing || problems.isFull || !reread(branch, start, end, depth) {
                    report(
                        .value, node, number % 4 == 1 ? "/then" : "/else", depth, start, "a value that fits a schema",
                        Self.kindWord(start), isDerived: true)
                }
            default:
                if isWeighing || problems.isFull || !reread(gate.nodes[0], start, end, depth) {
                    report(
                        .value, node, gate.keyword, depth, start, "a value that fits a schema", Self.kindWord(start),
                        isDerived: true)
                }
            }
        }
        return true
    }

    /// Reads a value again, and lists its problems with a schema; false if it has none to list.
    private mutating func reread(_ node: Int32, _ start: BytePointer, _ end: BytePointer, _ depth: Int) -> Bool {
        guard rereads < Self.maximumRereads, rereadBudget > 0 else { return false }
        rereadBudget -= end - start
        let before = problems.count
        rereads += 1
        let (results, words) = (resultTop, wordTop)
        let others = unexplained
        unexplained = []
        _ = read(start, machine.state([SchemaMachine.root(node, isHard: true)], program), depth)
        unexplained = others
        (resultTop, wordTop) = (results, words)
        rereads -= 1
        return problems.count > before
    }

    /// The schema that a value has the least problems with.
    private mutating func closest(_ nodes: [Int32], _ start: BytePointer, _ end: BytePointer, _ depth: Int) -> Int32? {
        var best: (node: Int32, weight: Int)?
        for node in nodes.prefix(Self.maximumBranches) {
            guard rereads < Self.maximumRereads, rereadBudget > 0 else { break }
            rereadBudget -= end - start
            (isWeighing, weight) = (true, 0)
            rereads += 1
            let (results, words) = (resultTop, wordTop)
            weighBase = depth
            _ = read(start, machine.state([SchemaMachine.root(node, isHard: true)], program), depth)
            (resultTop, wordTop) = (results, words)
            rereads -= 1
            isWeighing = false
            if weight < best?.weight ?? .max { best = (node, weight) }
        }
        return best?.node
    }
}
