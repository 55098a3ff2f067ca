import ErrandJSONValidation

extension SchemaValidator {
    private static let maximumRereads = 16
    private static let maximumBranches = 256

    /// Explains why gates of the last value don't hold, by reading it again. Returns false if reading stopped.
    @inline(never) mutating func explain(_ text: Span<UInt8>, _ range: Range<Int>, _ depth: Int) -> Bool {
        let start = range.lowerBound
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
                report(
                    text, .value, node, gate.keyword, depth, start, words, Self.kindWord(text[start]), isDerived: true)
                if isWeighing || problems.isFull { continue }
                if let best = closest(text, gate.nodes, range, depth) { _ = reread(text, best, range, depth) }
            case .condition:
                let branch = gate.nodes[number % 4]
                if isWeighing || problems.isFull || !reread(text, branch, range, depth) {
                    report(
                        text, .value, node, number % 4 == 1 ? "/then" : "/else", depth, start,
                        "a value that fits a schema",
                        Self.kindWord(text[start]), isDerived: true)
                }
            default:
                if isWeighing || problems.isFull || !reread(text, gate.nodes[0], range, depth) {
                    report(
                        text, .value, node, gate.keyword, depth, start, "a value that fits a schema",
                        Self.kindWord(text[start]),
                        isDerived: true)
                }
            }
        }
        return true
    }

    /// Reads a value again and lists its problems with a schema. Returns whether it listed any.
    private mutating func reread(_ text: Span<UInt8>, _ node: Int32, _ range: Range<Int>, _ depth: Int) -> Bool {
        guard rereads < Self.maximumRereads, rereadBudget > 0 else { return false }
        rereadBudget -= range.count
        let before = problems.count
        rereads += 1
        let others = unexplained
        unexplained = []
        readAgain(text, node, range, depth)
        unexplained = others
        rereads -= 1
        return problems.count > before
    }

    /// Returns the schema with which a value has the fewest problems.
    private mutating func closest(_ text: Span<UInt8>, _ nodes: [Int32], _ range: Range<Int>, _ depth: Int) -> Int32? {
        var best: (node: Int32, weight: Int)?
        for node in nodes.prefix(Self.maximumBranches) {
            guard rereads < Self.maximumRereads, rereadBudget > 0 else { break }
            rereadBudget -= range.count
            (isWeighing, weight) = (true, 0)
            rereads += 1
            weighBase = depth
            readAgain(text, node, range, depth)
            rereads -= 1
            isWeighing = false
            if weight < best?.weight ?? .max { best = (node, weight) }
        }
        return best?.node
    }

    /// Reads a value with a schema, and restores the stacks wherever reading ended.
    private mutating func readAgain(_ text: Span<UInt8>, _ node: Int32, _ range: Range<Int>, _ depth: Int) {
        let (results, words) = (resultTop, wordTop)
        let (inner, outer) = (frame, machine.frames.count)
        let root = machine.state([SchemaMachine.root(node, isHard: true)], program)
        _ = read(text, range.lowerBound, root, depth)
        machine.frames.truncate(to: outer)
        (frame, resultTop, wordTop) = (inner, results, words)
    }
}
