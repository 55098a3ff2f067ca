import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    // MARK: Problems of the schema

    /// Counts a problem, and creates its text only if the list is not full. A derived one follows from the results of other
    /// schemas.
    mutating func report(
        _ kind: JSONProblem.Kind, _ lane: SchemaLane, _ keyword: String, _ depth: Int, _ p: BytePointer,
        _ expected: @autoclosure () -> String, _ found: @autoclosure () -> String, isDerived: Bool = false
    ) {
        report(kind, lane.node, keyword, depth, p, expected(), found(), isDerived: isDerived)
    }

    mutating func report(
        _ kind: JSONProblem.Kind, _ node: Int32, _ keyword: String, _ depth: Int, _ p: BytePointer,
        _ expected: @autoclosure () -> String, _ found: @autoclosure () -> String, isDerived: Bool = false
    ) {
        if isWeighing {
            weight += depth == weighBase && kind == .type ? 1_000 : keyword == "/const" || keyword == "/enum" ? 30 : 3
            return
        }
        problems.note(kind, isDerived: isDerived || rereads > 0)
        if problems.isFull { return problems.addUnlisted(1) }
        let problem = JSONProblem(
            kind: kind, pointer: pointer(depth), expected: expected(), found: found(), offset: p - base,
            schemaLocation: program.location(node, keyword))
        problems.add(problem)
    }

    mutating func mismatch(_ lane: SchemaLane, _ depth: Int, at p: BytePointer) {
        guard lane.isNever else {
            return report(.type, lane, "/type", depth, p, MessageText.list(Self.kindWords(lane)), Self.kindWord(p))
        }
        let isMember = depth > 0 && machine.frames[depth].isObject
        report(
            isMember ? .unexpectedKey : .value, lane, "", depth, p, isMember ? "no other key" : "no value",
            Self.kindWord(p))
    }

    mutating func otherThan(_ constants: Int32, _ lane: SchemaLane, _ depth: Int, _ p: BytePointer) {
        let rule = program.constants[Int(constants)]
        let words = rule.words.isEmpty ? "no value" : MessageText.list(rule.words)
        report(
            .value, lane, rule.isConst ? "/const" : "/enum", depth, p, words,
            "another \(Self.kindWord(p).split(separator: " ").last ?? "value")")
    }

    /// A key that is missing in an object, which is at a depth.
    mutating func missing(
        _ key: @autoclosure () -> String, _ lane: SchemaLane, _ keyword: String, _ depth: Int, _ p: BytePointer
    ) {
        if isWeighing { return weight += 10 }
        problems.note(.missing, isDerived: rereads > 0)
        if problems.isFull { return problems.addUnlisted(1) }
        let problem = JSONProblem(
            kind: .missing, pointer: JSONPointer.appending(key(), to: pointer(depth - 1)), expected: "a value",
            found: "nothing", offset: p - base, schemaLocation: program.location(lane.node, keyword))
        problems.add(problem)
    }

    mutating func several(_ lane: SchemaLane, _ gate: Int, _ found: Int, _ depth: Int, _ p: BytePointer) {
        let rule = program.nodes[Int(lane.node)].gates[gate]
        let words = "a value that fits exactly one of \(rule.nodes.count) schemas"
        report(.value, lane, rule.keyword, depth, p, words, "one that fits \(found)", isDerived: true)
    }

    mutating func forbidden(_ lane: SchemaLane, _ gate: Int, _ depth: Int, _ p: BytePointer) {
        report(
            .value, lane, program.nodes[Int(lane.node)].gates[gate].keyword, depth, p,
            "a value that does not fit a schema", "one that fits", isDerived: true)
    }

    mutating func unevaluated(
        _ parts: [PendingPart], _ lane: SchemaLane, _ frame: UnsafeMutablePointer<SchemaFrame>, _ depth: Int
    ) {
        let isObject = frame.pointee.isObject
        let keyword = isObject ? "/unevaluatedProperties" : "/unevaluatedItems"
        let count = parts.reduce(0) { $0 + $1.count }
        if isWeighing { return weight += 3 * count }
        let kind = isObject ? JSONProblem.Kind.unexpectedKey : .value
        problems.note(kind, isDerived: true)
        var listed = 0
        for (value, index) in parts.flatMap(\.values).sorted(by: { $0.value < $1.value }) where !problems.isFull {
            let token = isObject ? key(value) : "\(index)"
            let expected = isObject ? "no key that no schema evaluates" : "no element that no schema evaluates"
            let problem = JSONProblem(
                kind: kind, pointer: JSONPointer.appending(token, to: pointer(depth - 1)), expected: expected,
                found: "one", offset: value - base, schemaLocation: program.location(lane.node, keyword))
            problems.add(problem)
            listed += 1
        }
        problems.addUnlisted(count - listed)
    }

    // MARK: Problems of the text

    mutating func duplicate(_ depth: Int, at p: BytePointer) {
        guard limits.refusesRepeatedKeys, rereads == 0 else { return }
        problems.note(.duplicateKey)
        if problems.isFull { return problems.addUnlisted(1) }
        let problem = JSONProblem(
            kind: .duplicateKey, pointer: pointer(depth), expected: "each key once", found: "a repeated key",
            offset: p - base)
        problems.add(problem)
    }

    /// Always false.
    mutating func tooMuch(at p: BytePointer, depth: Int) -> Bool {
        guard steps < 0 else {
            tooMuchMemory(at: p, depth: depth)
            return false
        }
        let (expected, found) = tooManySteps
        problems.stop(.limit, pointer: pointer(depth), expected: expected, found: found, offset: p - base)
        return false
    }

    /// The limit of patterns that a text exceeds, in words.
    func patternLimit(_ text: JSONText) -> (expected: String, found: String) {
        if text.count > limits.maximumPatternBytes {
            return ("a string of at most \(limits.maximumPatternBytes) bytes for its pattern", "\(text.count)")
        }
        if steps <= 0 { return tooManySteps }
        return (
            "a string that a pattern matches within \(limits.maximumPatternSteps) steps", "a string that takes more"
        )
    }

    func position(_ level: Int) -> ValuePosition {
        let frame = machine.frames[level]
        return frame.isObject ? .key(frame.key) : .index(frame.count)
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
    /// The number as a text: 0.05, 1200, 7e30.
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
