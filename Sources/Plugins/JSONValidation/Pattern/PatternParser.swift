/// Parses the syntax of ECMA-262 (section 22.2.1) with the flag `u`, without backreferences.
package struct PatternParser {
    /// The maximum nesting of groups.
    static let maximumDepth = 100
    /// The maximum length of the source in Unicode scalars.
    static let maximumLength = 16_384
    /// The largest number in a quantifier.
    static let maximumCount = 65_535

    struct Flags: Hashable {
        var ignoresCase = false
        var isMultiline = false
        var dotMatchesAll = false
    }

    let scalars: [Unicode.Scalar]
    var index = 0
    private var depth = 0
    /// The modifiers of the group around.
    var flags = Flags()
    /// The first thing that a regular expression may have, but that is not supported or too large.
    private var first: PatternFault?
    /// The remaining budget of compiling.
    var budget: CompileBudget

    /// The sets of the pattern, each once.
    private(set) var sets: [PatternSet] = []
    private var numbers: [PatternSet: Int32] = [:]

    /// Whether it is a literal of Swift, in which any punctuation may be escaped and names stand in `(?P<name>…)` too.
    private(set) var isLiteral = false

    var groups = 0
    var names: Set<String> = []
    /// The backreferences, which groups behind them may belong to.
    var numbered: [(group: Int, offset: Int)] = []
    var named: [(name: String, offset: Int)] = []

    /// The tree of a pattern and its sets; throws for unsupported syntax too.
    static func parse(
        _ source: String, _ budget: inout CompileBudget, isLiteral: Bool
    ) throws(PatternFault) -> (node: PatternNode, sets: [PatternSet]) {
        var parser = PatternParser(Array(source.unicodeScalars), budget)
        parser.isLiteral = isLiteral
        defer { budget = parser.budget }
        if parser.scalars.count > maximumLength {
            throw PatternFault(
                reason: "is longer than \(maximumLength) characters", offset: maximumLength, kind: .tooLarge)
        }
        let node = try parser.pattern()
        if let fault = parser.first { throw fault }
        return (node, parser.sets)
    }

    /// Whether a text is a regular expression, also an unsupported one; nil if it is too large to decide.
    package static func isPattern(_ source: String) -> Bool? {
        let scalars = Array(source.unicodeScalars)
        var parser = PatternParser(scalars, CompileBudget(steps: 1_000_000 + scalars.count * 2, bytes: 16 << 20))
        do throws(PatternFault) {
            _ = try parser.pattern()
            return true
        } catch { return error.kind == .tooLarge ? nil : false }
    }

    private init(_ scalars: [Unicode.Scalar], _ budget: CompileBudget) {
        (self.scalars, self.budget) = (scalars, budget)
    }

    var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    mutating func next() -> Unicode.Scalar? {
        guard index < scalars.count else { return nil }
        defer { index += 1 }
        return scalars[index]
    }

    mutating func skip(_ text: String) -> Bool {
        let expected = text.unicodeScalars
        guard scalars[index...].starts(with: expected) else { return false }
        index += expected.count
        return true
    }

    func fault(_ reason: String, at offset: Int? = nil) -> PatternFault {
        PatternFault(reason: reason, offset: offset ?? index)
    }

    /// Records syntax of ECMA-262 that this engine does not support; the rest is still parsed.
    mutating func note(_ reason: String, at offset: Int, _ kind: PatternFault.Kind = .unsupported) {
        if first == nil { first = PatternFault(reason: reason, offset: offset, kind: kind) }
    }

    mutating func spend(steps: Int, bytes: Int = 0) throws(PatternFault) {
        if budget.spend(steps: steps, bytes: bytes) { return }
        throw PatternFault(reason: budget.excess, offset: index, kind: .tooLarge)
    }

    /// The number of a set, which is stored once.
    mutating func number(_ set: PatternSet) throws(PatternFault) -> Int32 {
        try spend(steps: set.ranges.count)
        if let known = numbers[set] { return known }
        try spend(steps: 128, bytes: 128 + set.ranges.count * 24)
        numbers[set] = Int32(sets.count)
        sets.append(set)
        return Int32(sets.count - 1)
    }

    // MARK: Grammar

    private mutating func pattern() throws(PatternFault) -> PatternNode {
        let node = try disjunction()
        if peek == ")" { throw fault("closes a group that is not open") }
        for (group, offset) in numbered where group > groups {
            throw fault("has a backreference to a group that it does not have", at: offset)
        }
        for (name, offset) in named where !names.contains(name) {
            throw fault("has a backreference to a group that it does not have", at: offset)
        }
        return node
    }

    mutating func disjunction() throws(PatternFault) -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.maximumDepth {
            throw PatternFault(
                reason: "has groups more than \(Self.maximumDepth) levels deep", offset: index, kind: .tooLarge)
        }
        var alternatives = [try alternative()]
        while peek == "|" {
            index += 1
            alternatives.append(try alternative())
        }
        return alternatives.count == 1 ? alternatives[0] : .alternation(alternatives)
    }

    private mutating func alternative() throws(PatternFault) -> PatternNode {
        var terms: [PatternNode] = []
        while let scalar = peek, scalar != "|", scalar != ")" { terms.append(try term()) }
        return terms.isEmpty ? .empty : terms.count == 1 ? terms[0] : .sequence(terms)
    }

    private mutating func term() throws(PatternFault) -> PatternNode {
        let start = index
        try spend(steps: 1, bytes: 48)
        let node = try atom()
        var isQuantifiable = true
        switch node {
        case .assertion, .look: isQuantifiable = false
        default: break
        }
        guard let (least, most) = try quantifier() else { return node }
        if !isQuantifiable { throw fault("repeats an assertion", at: start) }
        if peek == "?" { index += 1 }
        if peek == "+" { throw fault("has a possessive quantifier, which is not supported") }
        if peek == "*" || peek == "?" { throw fault("repeats nothing") }
        return .repetition(node, least: least, most: most)
    }

    private mutating func atom() throws(PatternFault) -> PatternNode {
        let start = index
        guard let scalar = next() else { return .empty }
        switch scalar {
        case "^": return .assertion(flags.isMultiline ? .lineStart : .start)
        case "$": return .assertion(flags.isMultiline ? .lineEnd : .end)
        case ".": return .set(try number(flags.dotMatchesAll ? PatternSet([PatternSet.all]) : .dot))
        case "(": return try group(start)
        case "[": return .set(try number(try characterClass(start)))
        case "\\": return try escapeOutsideClass(start)
        case "*", "+", "?": throw fault("repeats nothing", at: start)
        case "{", "}", "]": throw fault("has a \(scalar) that is not escaped", at: start)
        default: return try single(scalar.value)
        }
    }

    /// One character, or those that are equal to it without case.
    mutating func single(_ value: UInt32) throws(PatternFault) -> PatternNode {
        guard flags.ignoresCase, let others = PatternCaseFolding.variants(of: value) else { return .scalar(value) }
        return .set(try number(PatternSet(others.map { $0...$0 })))
    }
}
