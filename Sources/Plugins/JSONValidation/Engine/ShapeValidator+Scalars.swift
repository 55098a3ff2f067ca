import ErrandEssentials
import ErrandJSONSyntax
import ErrandSupport

enum Violation {
    case kind
    case length(Int)
    case pattern
    /// Too long to match against a pattern.
    case patternBytes(Int)
    case patternSteps
    case steps
    case constant
    case fraction
    case range
    case check(Int32)

    /// Constants weigh more, because they distinguish alternatives.
    var weight: Int { if case .constant = self { 8 } else { 1 } }

    var kind: JSONProblem.Kind {
        switch self {
        case .kind: .type
        case .patternBytes, .patternSteps, .steps: .limit
        default: .value
        }
    }
}

extension ShapeValidator {
    /// If a node has several rules for the kind, `choose` reports the problem instead.
    @inline(never) mutating func validateScalar(
        _ text: Span<UInt8>, _ node: Int, kind: UInt8, in range: Range<Int>, depth: Int
    ) {
        guard let violation = violation(text, node, kind: kind, in: range) else { return }
        let start = range.lowerBound
        if case .kind = violation { return mismatch(text, node, depth: depth, at: start) }
        let first = text[start]
        problem(text, violation.kind, depth: depth, at: start) {
            ($0.expected(node, kind: kind, violation: violation), $0.found(violation, first))
        }
    }

    /// The node must have a single rule for the kind.
    mutating func violation(
        _ text: Span<UInt8>, _ node: Int, kind: UInt8, in range: Range<Int>
    ) -> Violation? {
        if nodes[node].plain & kind != 0 { return nil }
        if nodes[node].kinds & kind == 0 { return .kind }
        if kind == ValueKind.string, nodes[node].string >= 0 {
            let content = JSONContent(range.lowerBound + 1, range.upperBound - 1)
            if let violation = violation(text, program.strings[Int(nodes[node].string)], at: content) {
                return violation
            }
        }
        if kind & ValueKind.number != 0, nodes[node].number >= 0 {
            if let violation = violation(text, program.numbers[Int(nodes[node].number)], in: range, kind: kind) {
                return violation
            }
        }
        if nodes[node].hasChecks {
            for index in nodes[node].checks {
                guard let isFit = passes(text, index, in: range) else { return .steps }
                if !isFit { return .check(index) }
            }
        }
        return nil
    }

    private mutating func violation(
        _ text: Span<UInt8>, _ rule: StringRule, at content: JSONContent
    ) -> Violation? {
        if rule.constants >= 0 {
            let hasEscapes = content.hasEscapes(in: text)
            let found = find(
                text, content, hasEscapes: hasEscapes, hash: KeyHash.hash(text, content, hasEscapes: hasEscapes),
                in: rule.keys)
            return found < 0 ? .constant : nil
        }
        if rule.length >= 0 {
            let length = content.length(in: text)
            if !program.bounds[Int(rule.length)].contains(length) { return .length(length) }
        }
        return rule.pattern < 0 ? nil : violation(text, pattern: rule.pattern, at: content)
    }

    private mutating func violation(
        _ text: Span<UInt8>, _ rule: NumberRule, in range: Range<Int>, kind: UInt8
    ) -> Violation? {
        let isUnknown = rule.isInteger && kind == ValueKind.fraction
        guard isUnknown || rule.constants >= 0 || rule.integers >= 0 || rule.numbers >= 0 else { return nil }
        let number = JSONNumber(text.extracting(range))
        if rule.constants >= 0 {
            return program.constants[Int(rule.constants)].contains { $0.equals(number) } ? nil : .constant
        }
        if isUnknown, !number.isIntegral { return .fraction }
        if rule.integers >= 0 {
            guard let value = number.integer, program.bounds[Int(rule.integers)].contains(value) else { return .range }
        }
        if rule.numbers >= 0, !program.ranges[Int(rule.numbers)].contains(number.double) { return .range }
        return nil
    }

    private mutating func violation(_ text: Span<UInt8>, pattern: Int32, at content: JSONContent) -> Violation? {
        if content.count > limits.maximumPatternBytes { return unjudged(.patternBytes(content.count)) }
        guard case .success(let program) = program.patterns[Int(pattern)].program else { return .pattern }
        let budget = min(limits.maximumPatternSteps, max(0, steps))
        let outcome: PatternOutcome
        if content.hasEscapes(in: text) {
            let decoded = content.decoded(in: text)[...]
            outcome = machine.run(program, on: decoded.span, .whole, budget: budget)
        } else {
            outcome = machine.run(program, on: text.extracting(content.start..<content.end), .whole, budget: budget)
        }
        let isWhole = budget == limits.maximumPatternSteps
        steps -= machine.taken
        return switch outcome {
        case .matches: nil
        case .differs: .pattern
        case .exceeded: unjudged(isWhole ? .patternSteps : .steps)
        }
    }

    private mutating func unjudged(_ violation: Violation) -> Violation {
        if isMatching {
            isUncertain = true
            problems.note(.limit)
        }
        return violation
    }

    /// Returns `nil` if no steps are left to copy the value.
    mutating func passes(_ text: Span<UInt8>, _ check: Int32, in range: Range<Int>) -> Bool? {
        steps -= 1 + range.count / 8
        if steps < 0 {
            _ = unjudged(.steps)
            return nil
        }
        let fragment = JSONFragment(data: Data(copying: text.extracting(range)))
        return (try? program.checks[Int(check)].passes(fragment)) ?? false
    }
}

extension JSONConstant {
    fileprivate func equals(_ number: JSONNumber) -> Bool {
        switch self {
        case .integer(let value): number.integer == value
        case .number(let value): number.double == value
        default: false
        }
    }
}
