import ErrandJSONSyntax

extension ShapeValidator {
    // MARK: Reporting

    /// Creates the problem's text only if the list isn't full.
    mutating func problem(
        _ text: Span<UInt8>, _ kind: JSONProblem.Kind, depth: Int, at p: Int,
        _ words: (borrowing Self) -> (expected: String, found: String)
    ) {
        problems.note(kind, isDerived: isUncertain)
        if problems.isFull { return problems.addUnlisted(1) }
        let (expected, found) = words(self)
        let pointer = pointer(text, depth)
        problems.add(JSONProblem(kind: kind, pointer: pointer, expected: expected, found: found, offset: p))
    }

    mutating func duplicate(_ text: Span<UInt8>, _ depth: Int, at p: Int) {
        guard limits.refusesRepeatedKeys else { return }
        problem(text, .duplicateKey, depth: depth, at: p) { _ in ("each key once", "a repeated key") }
    }

    @inline(never) mutating func mismatch(_ text: Span<UInt8>, _ node: Int, depth: Int, at p: Int) {
        let found = Self.kindWord(text[p])
        problem(text, .type, depth: depth, at: p) { (MessageText.list($0.kindWords(node)), found) }
    }

    mutating func missing(_ text: Span<UInt8>, _ member: KeyRule, depth: Int, at p: Int) {
        problems.note(.missing, isDerived: isUncertain)
        if problems.isFull { return problems.addUnlisted(1) }
        let key = String(decoding: key(member), as: UTF8.self)
        let pointer = JSONPointer.appending(key, to: pointer(text, depth))
        let expected = expectedValue(Int(member.node))
        problems.add(
            JSONProblem(kind: .missing, pointer: pointer, expected: expected, found: "nothing", offset: p))
    }

    func position(_ level: Int) -> ValuePosition {
        let frame = level == outerFrames.count ? frame : outerFrames[level]
        return frame.isObject ? .key(frame.key) : .index(frame.count)
    }

    // MARK: Descriptions

    func kindWords(_ node: Int) -> [String] {
        let kinds = nodes[node].kinds
        if kinds == ValueKind.all { return ["a value"] }
        var words: [String] = []
        if kinds & ValueKind.object != 0 { words.append("an object") }
        if kinds & ValueKind.array != 0 { words.append("an array") }
        if kinds & ValueKind.string != 0 { words.append("a string") }
        if kinds & ValueKind.number != 0 { words.append(isInteger(node) ? "an integer" : "a number") }
        switch kinds & ValueKind.boolean {
        case ValueKind.boolean: words.append("a boolean")
        case ValueKind.true: words.append("true")
        case ValueKind.false: words.append("false")
        default: break
        }
        if kinds & ValueKind.null != 0 { words.append("null") }
        return words
    }

    private func isInteger(_ node: Int) -> Bool {
        if nodes[node].ambiguous & ValueKind.number != 0 {
            return program.alternatives[nodes[node].alternativesRange].allSatisfy { index in
                let node = Int(index)
                return nodes[node].kinds & ValueKind.number == 0 || isInteger(node)
            }
        }
        if nodes[node].number >= 0 {
            let rule = program.numbers[Int(nodes[node].number)]
            return rule.isInteger
        }
        return nodes[node].plain & ValueKind.number == ValueKind.integer
    }

    func expected(_ node: Int, kind: UInt8, violation: Violation) -> String {
        if case .steps = violation { return tooManySteps.expected }
        if case .check(let index) = violation { return program.checks[Int(index)].expected }
        if kind == ValueKind.string, nodes[node].string >= 0 {
            let rule = program.strings[Int(nodes[node].string)]
            if rule.constants >= 0 { return words(program.constants[Int(rule.constants)]) }
            switch violation {
            case .pattern: return words(pattern: rule)
            case .patternBytes:
                return "a string of at most \(limits.maximumPatternBytes) bytes, because a pattern applies to it"
            case .patternSteps: return "\(words(pattern: rule)) within \(limits.maximumPatternSteps) steps"
            default: break
            }
            if rule.length >= 0 { return words(length: program.bounds[Int(rule.length)]) }
        }
        if kind & ValueKind.number != 0, nodes[node].number >= 0 {
            let rule = program.numbers[Int(nodes[node].number)]
            if rule.constants >= 0 { return words(program.constants[Int(rule.constants)]) }
            let range = rule.integers >= 0 ? program.bounds[Int(rule.integers)].text : nil
            let other = rule.numbers >= 0 ? program.ranges[Int(rule.numbers)].text : nil
            let noun = rule.isInteger ? "an integer" : "a number"
            return (range ?? other).map { "\(noun) in \($0)" } ?? noun
        }
        return MessageText.list(kindWords(node))
    }

    func expectedValue(_ node: Int) -> String {
        let kinds = nodes[node].kinds
        guard nodes[node].ambiguous == 0, kinds & ~ValueKind.string == 0 || kinds & ~ValueKind.number == 0 else {
            return MessageText.list(kindWords(node))
        }
        if kinds & ValueKind.string != 0, nodes[node].string >= 0 {
            let rule = program.strings[Int(nodes[node].string)]
            if rule.pattern >= 0, rule.length < 0 { return words(pattern: rule) }
            if rule.constants < 0, rule.length < 0 { return "a string" }
        }
        return expected(node, kind: kinds, violation: .range)
    }

    private func words(pattern rule: StringRule) -> String {
        "a string that matches \(MessageText.shown(program.patterns[Int(rule.pattern)].source, limit: 100))"
    }

    private func words(length: JSONBounds<Int>) -> String {
        length.isAtLeastOne
            ? "a string that is not empty"
            : "a string of \(MessageText.counted(length.amount ?? "another number of", "character"))"
    }

    func words(_ constants: [JSONConstant]) -> String {
        MessageText.list(constants.prefix(12).map(\.description) + (constants.count > 12 ? ["others"] : []))
    }

    func found(_ violation: Violation, _ first: UInt8) -> String {
        switch violation {
        case .length(0): "an empty string"
        case .length(let length): "\(length)"
        case .fraction: "a number with a fraction"
        case .range: "a number outside that range"
        case .constant: first == JSONGrammar.quote ? "another string" : "another number"
        case .pattern: "a string that does not"
        case .patternBytes(let count): "\(count)"
        case .patternSteps: "a string that needs more"
        case .steps: tooManySteps.found
        case .check: Self.kindWord(first) + " that fails the check"
        case .kind: Self.kindWord(first)
        }
    }
}

extension ShapeRule {
    var alternativesRange: Range<Int> { Int(alternatives.lowerBound)..<Int(alternatives.upperBound) }
}
