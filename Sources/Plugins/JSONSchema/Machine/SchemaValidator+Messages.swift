import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    // MARK: Problems of the schema

    /// Counts a problem, and creates its text only if the list isn't full. A derived problem follows from the results
    /// of other schemas.
    mutating func report(
        _ text: Span<UInt8>, _ kind: JSONProblem.Kind, of lane: SchemaLane, keyword: String, depth: Int, at p: Int,
        expected: @autoclosure () -> String, found: @autoclosure () -> String, isDerived: Bool = false
    ) {
        report(
            text, kind, of: lane.node, keyword: keyword, depth: depth, at: p, expected: expected(), found: found(),
            isDerived: isDerived)
    }

    @inline(never) mutating func report(
        _ text: Span<UInt8>, _ kind: JSONProblem.Kind, of node: Int32, keyword: String, depth: Int, at p: Int,
        expected: @autoclosure () -> String, found: @autoclosure () -> String, isDerived: Bool = false
    ) {
        if isWeighing {
            weight += depth == weighBase && kind == .type ? 1_000 : keyword == "/const" || keyword == "/enum" ? 30 : 3
            return
        }
        problems.note(kind, isDerived: isDerived || rereads > 0)
        if problems.isFull { return problems.addUnlisted(1) }
        let problem = JSONProblem(
            kind: kind, pointer: pointer(text, depth), expected: expected(), found: found(), offset: p,
            schemaLocation: program.location(node, keyword))
        problems.add(problem)
    }

    @inline(never) mutating func mismatch(_ text: Span<UInt8>, of lane: SchemaLane, depth: Int, at p: Int) {
        guard lane.isNever else {
            return report(
                text, .type, of: lane, keyword: "/type", depth: depth, at: p,
                expected: MessageText.list(Self.kindWords(lane)),
                found: Self.kindWord(text[p]))
        }
        let isMember = depth > 0 && frame(at: depth).isObject
        report(
            text, isMember ? .unexpectedKey : .value, of: lane, keyword: "", depth: depth, at: p,
            expected: isMember ? "no other key" : "no value", found: Self.kindWord(text[p]))
    }

    @inline(never) mutating func otherThan(
        _ text: Span<UInt8>, _ constants: Int32, of lane: SchemaLane, depth: Int, at p: Int
    ) {
        let rule = program.constants[Int(constants)]
        let words = rule.words.isEmpty ? "no value" : MessageText.list(rule.words)
        report(
            text, .value, of: lane, keyword: rule.isConst ? "/const" : "/enum", depth: depth, at: p, expected: words,
            found: "another \(Self.kindWord(text[p]).split(separator: " ").last ?? "value")")
    }

    @inline(never) mutating func missing(
        _ text: Span<UInt8>, _ key: @autoclosure () -> String, of lane: SchemaLane, keyword: String, depth: Int,
        at p: Int
    ) {
        if isWeighing { return weight += 10 }
        problems.note(.missing, isDerived: rereads > 0)
        if problems.isFull { return problems.addUnlisted(1) }
        let problem = JSONProblem(
            kind: .missing, pointer: JSONPointer.appending(key(), to: pointer(text, depth - 1)), expected: "a value",
            found: "nothing", offset: p, schemaLocation: program.location(lane.node, keyword))
        problems.add(problem)
    }

    @inline(never) mutating func several(
        _ text: Span<UInt8>, of lane: SchemaLane, gate: Int, found: Int, depth: Int, at p: Int
    ) {
        let rule = program.nodes[Int(lane.node)].gates[gate]
        let words = "a value that fits exactly one of \(rule.nodes.count) schemas"
        report(
            text, .value, of: lane, keyword: rule.keyword, depth: depth, at: p, expected: words,
            found: "a value that fits \(found) of them", isDerived: true)
    }

    @inline(never) mutating func forbidden(_ text: Span<UInt8>, of lane: SchemaLane, gate: Int, depth: Int, at p: Int) {
        report(
            text, .value, of: lane, keyword: program.nodes[Int(lane.node)].gates[gate].keyword, depth: depth, at: p,
            expected: "a value that does not fit a schema", found: "one that fits", isDerived: true)
    }

    @inline(never) mutating func unevaluated(
        _ text: Span<UInt8>, _ parts: [PendingPart], of lane: SchemaLane, depth: Int
    ) {
        let isObject = frame.isObject
        let keyword = isObject ? "/unevaluatedProperties" : "/unevaluatedItems"
        let count = parts.reduce(0) { $0 + $1.count }
        if isWeighing { return weight += 3 * count }
        let kind = isObject ? JSONProblem.Kind.unexpectedKey : .value
        problems.note(kind, isDerived: true)
        var listed = 0
        for (value, index) in parts.flatMap(\.values).sorted(by: { $0.value < $1.value }) where !problems.isFull {
            let token = isObject ? key(text, value) : "\(index)"
            let expected = isObject ? "no unevaluated key" : "no unevaluated element"
            let problem = JSONProblem(
                kind: kind, pointer: JSONPointer.appending(token, to: pointer(text, depth - 1)), expected: expected,
                found: "one", offset: value, schemaLocation: program.location(lane.node, keyword))
            problems.add(problem)
            listed += 1
        }
        problems.addUnlisted(count - listed)
    }

    // MARK: Problems of the text

    @inline(never) mutating func duplicate(_ text: Span<UInt8>, _ depth: Int, at p: Int) {
        guard limits.refusesRepeatedKeys, rereads == 0 else { return }
        problems.note(.duplicateKey)
        if problems.isFull { return problems.addUnlisted(1) }
        let problem = JSONProblem(
            kind: .duplicateKey, pointer: pointer(text, depth), expected: "each key once", found: "a repeated key",
            offset: p)
        problems.add(problem)
    }

    /// Always returns `false`.
    @inline(never) mutating func tooMuch(_ text: Span<UInt8>, at p: Int, depth: Int) -> Bool {
        guard steps < 0 else {
            tooMuchMemory(text, at: p, depth: depth)
            return false
        }
        let (expected, found) = tooManySteps
        problems.stop(.limit, pointer: pointer(text, depth), expected: expected, found: found, offset: p)
        return false
    }

    func patternLimit(_ content: JSONContent) -> (expected: String, found: String) {
        if content.count > limits.maximumPatternBytes {
            return (
                "a string of at most \(limits.maximumPatternBytes) bytes, because a pattern applies to it",
                "\(content.count)"
            )
        }
        if steps <= 0 { return tooManySteps }
        return (
            "a string that can be matched in at most \(limits.maximumPatternSteps) steps", "one that needs more"
        )
    }

    func position(_ level: Int) -> ValuePosition {
        let frame = frame(at: level)
        return frame.isObject ? .key(frame.key) : .index(frame.count)
    }

    private func frame(at level: Int) -> SchemaFrame {
        level == machine.frames.count ? frame : machine.frames[level]
    }

    private static func kindWords(_ lane: SchemaLane) -> [String] {
        var words: [String] = []
        if lane.kinds & ValueKind.object != 0 { words.append("an object") }
        if lane.kinds & ValueKind.array != 0 { words.append("an array") }
        if lane.kinds & ValueKind.string != 0 { words.append("a string") }
        if lane.kinds & ValueKind.number != 0 { words.append(lane.isIntegral ? "an integer" : "a number") }
        if lane.kinds & ValueKind.boolean != 0 { words.append("a boolean") }
        if lane.kinds & ValueKind.null != 0 { words.append("null") }
        return words
    }
}

extension ExactDecimal: CustomStringConvertible {
    /// For example, 0.05, 1200 or 7e30.
    var description: String {
        if isZero { return "0" }
        let digits = isShort ? "\(short)" : String(decoding: long.map { $0 + 0x30 }, as: UTF8.self)
        let sign = isNegative ? "-" : ""
        let point = digits.utf8.count + exponent
        if exponent >= 0, point <= 20 { return sign + digits + String(repeating: "0", count: exponent) }
        if exponent < 0, point > 0 { return sign + digits.prefix(point) + "." + digits.dropFirst(point) }
        if exponent < 0, point > -6 { return sign + "0." + String(repeating: "0", count: -point) + digits }
        return "\(sign)\(digits)e\(exponent)"
    }
}

extension SchemaValidator {
    private static let maximumRereads = 16
    private static let maximumBranches = 256

    /// Reports the gates in `unexplained`, and reads the value again to list its problems with their branches. Always
    /// returns `true`.
    @inline(never) mutating func explain(_ text: Span<UInt8>, in range: Range<Int>, depth: Int) -> Bool {
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
                    text, .value, of: node, keyword: gate.keyword, depth: depth, at: start, expected: words,
                    found: Self.kindWord(text[start]), isDerived: true)
                if isWeighing || problems.isFull { continue }
                if let best = closest(text, of: gate.nodes, in: range, depth: depth) {
                    _ = reread(text, against: best, in: range, depth: depth)
                }
            case .condition:
                let branch = gate.nodes[number % 4]
                if isWeighing || problems.isFull || !reread(text, against: branch, in: range, depth: depth) {
                    report(
                        text, .value, of: node, keyword: number % 4 == 1 ? "/then" : "/else", depth: depth, at: start,
                        expected: "a value that fits a schema", found: Self.kindWord(text[start]), isDerived: true)
                }
            default:
                if isWeighing || problems.isFull || !reread(text, against: gate.nodes[0], in: range, depth: depth) {
                    report(
                        text, .value, of: node, keyword: gate.keyword, depth: depth, at: start,
                        expected: "a value that fits a schema", found: Self.kindWord(text[start]), isDerived: true)
                }
            }
        }
        return true
    }

    private mutating func reread(_ text: Span<UInt8>, against node: Int32, in range: Range<Int>, depth: Int) -> Bool {
        guard rereads < Self.maximumRereads, rereadBudget > 0 else { return false }
        rereadBudget -= range.count
        let before = problems.count
        rereads += 1
        let others = unexplained
        unexplained = []
        readAgain(text, against: node, in: range, depth: depth)
        unexplained = others
        rereads -= 1
        return problems.count > before
    }

    private mutating func closest(_ text: Span<UInt8>, of nodes: [Int32], in range: Range<Int>, depth: Int) -> Int32? {
        var best: (node: Int32, weight: Int)?
        for node in nodes.prefix(Self.maximumBranches) {
            guard rereads < Self.maximumRereads, rereadBudget > 0 else { break }
            rereadBudget -= range.count
            (isWeighing, weight) = (true, 0)
            rereads += 1
            weighBase = depth
            readAgain(text, against: node, in: range, depth: depth)
            rereads -= 1
            isWeighing = false
            if weight < best?.weight ?? .max { best = (node, weight) }
        }
        return best?.node
    }

    /// Reads a value again. Restores the stacks, even if reading ends early.
    private mutating func readAgain(_ text: Span<UInt8>, against node: Int32, in range: Range<Int>, depth: Int) {
        let (results, words) = (resultTop, wordTop)
        let (inner, outer) = (frame, machine.frames.count)
        let root = machine.state([SchemaMachine.root(node, isHard: true)], program)
        _ = read(text, from: range.lowerBound, root, base: depth)
        machine.frames.truncate(to: outer)
        (frame, resultTop, wordTop) = (inner, results, words)
    }
}
