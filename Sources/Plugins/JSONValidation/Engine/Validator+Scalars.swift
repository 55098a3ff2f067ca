import ErrandEssentials
import ErrandJSONSyntax

/// The constraint that a scalar violates.
enum Violation {
    case kind
    case length(Int)
    case pattern
    /// The string exceeds the limit for patterns.
    case patternBytes(Int)
    case patternSteps
    /// The text exceeds the limit of steps.
    case steps
    case constant
    case fraction
    case range
    case check(Int32)

    /// The cost for an alternative; constants weigh more, since they discriminate alternatives.
    var weight: Int { if case .constant = self { 8 } else { 1 } }

    var kind: JSONProblem.Kind {
        switch self {
        case .kind: .type
        case .patternBytes, .patternSteps, .steps: .limit
        default: .value
        }
    }
}

extension Validator {
    /// Reports a scalar that does not fit; `choose` reports it for a node with several rules for its kind.
    @inline(never) mutating func validateScalar(
        _ node: UnsafePointer<ShapeRule>, _ kind: UInt8, _ start: BytePointer, _ end: BytePointer, _ depth: Int
    ) {
        guard let violation = violation(node, kind, start, end) else { return }
        if case .kind = violation { return mismatch(node, depth, at: start) }
        problem(violation.kind, depth, at: start) { ($0.expected(node, kind, violation), $0.found(violation, start)) }
    }

    /// The constraint of an unambiguous node that a scalar violates; nil if it fits.
    mutating func violation(
        _ node: UnsafePointer<ShapeRule>, _ kind: UInt8, _ start: BytePointer, _ end: BytePointer
    ) -> Violation? {
        if node.pointee.plain & kind != 0 { return nil }
        if node.pointee.kinds & kind == 0 { return .kind }
        if kind == ValueKind.string, node.pointee.string >= 0 {
            let text = JSONText(start: start + 1, end: end - 1)
            if let violation = violation(program.strings[Int(node.pointee.string)], text) { return violation }
        }
        if kind & ValueKind.number != 0, node.pointee.number >= 0 {
            let number = JSONNumber(start: start, end: end)
            if let violation = violation(program.numbers[Int(node.pointee.number)], number, kind) { return violation }
        }
        if node.pointee.hasChecks {
            for index in node.pointee.checks {
                guard let isFit = passes(index, start, end) else { return .steps }
                if !isFit { return .check(index) }
            }
        }
        return nil
    }

    private mutating func violation(_ rule: StringRule, _ text: JSONText) -> Violation? {
        if rule.constants >= 0 {
            let hasEscapes = text.hasEscapes
            let found = find(text, hasEscapes, KeyHash.hash(text, hasEscapes: hasEscapes), in: rule.keys)
            return found < 0 ? .constant : nil
        }
        if rule.length >= 0 {
            let length = text.scalars(limit: .max)
            if !program.bounds[Int(rule.length)].contains(length) { return .length(length) }
        }
        return rule.pattern < 0 ? nil : violation(pattern: rule.pattern, text)
    }

    private mutating func violation(_ rule: NumberRule, _ number: JSONNumber, _ kind: UInt8) -> Violation? {
        if rule.constants >= 0 {
            return program.constants[Int(rule.constants)].contains { $0.equals(number) } ? nil : .constant
        }
        if rule.isInteger, kind == ValueKind.fraction, !number.isIntegral { return .fraction }
        if rule.integers >= 0 {
            guard let value = number.integer, program.bounds[Int(rule.integers)].contains(value) else { return .range }
        }
        if rule.numbers >= 0, !program.ranges[Int(rule.numbers)].contains(number.double) { return .range }
        return nil
    }

    private mutating func violation(pattern: Int32, _ text: JSONText) -> Violation? {
        if text.count > limits.maximumPatternBytes { return unjudged(.patternBytes(text.count)) }
        guard case .success(let program) = program.patterns[Int(pattern)].program else { return .pattern }
        let budget = min(limits.maximumPatternSteps, max(0, steps))
        let outcome: PatternOutcome
        if text.hasEscapes {
            outcome = Array(text.decoded).withUnsafeBufferPointer {
                machine.run(program, on: $0, .whole, budget: budget)
            }
        } else {
            let bytes = UnsafeBufferPointer(start: text.start, count: text.count)
            outcome = machine.run(program, on: bytes, .whole, budget: budget)
        }
        let isWhole = budget == limits.maximumPatternSteps
        steps -= machine.taken
        return switch outcome {
        case .matches: nil
        case .differs: .pattern
        case .exceeded: unjudged(isWhole ? .patternSteps : .steps)
        }
    }

    /// Notes that a limit was met while alternatives are matched.
    private mutating func unjudged(_ violation: Violation) -> Violation {
        if isMatching {
            isUncertain = true
            problems.note(.limit)
        }
        return violation
    }

    /// Whether a custom check passes; nil if there are no steps left for a copy of the value.
    mutating func passes(_ check: Int32, _ start: BytePointer, _ end: BytePointer) -> Bool? {
        steps -= 1 + (end - start) / 8
        if steps < 0 {
            _ = unjudged(.steps)
            return nil
        }
        let fragment = JSONFragment(data: Data(UnsafeBufferPointer(start: start, count: end - start)))
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
