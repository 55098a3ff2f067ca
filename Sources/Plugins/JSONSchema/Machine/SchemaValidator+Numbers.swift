import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    mutating func numberFits(
        _ text: Span<UInt8>, _ lane: Int, _ kind: UInt8, _ range: Range<Int>, _ depth: Int
    ) -> Bool {
        let number = machine.arena.lanes[lane].number
        let isFractional = machine.arena.lanes[lane].isIntegral && kind == ValueKind.fraction
        if number < 0, !isFractional { return true }
        if !isFractional, kind == ValueKind.integer, range.count <= 18 {
            let rule = machine.numbers[Int(number)]
            if rule.isFast {
                let value = Self.integer(text, range)
                if value >= rule.least, value <= rule.most { return true }
                if !machine.arena.lanes[lane].isHard { return false }
            }
        }
        return exactFits(text, lane, range, depth)
    }

    /// Returns the value of at most 18 characters: digits, and possibly a sign.
    @inline(__always) private static func integer(_ text: Span<UInt8>, _ range: Range<Int>) -> Int64 {
        var q = range.lowerBound
        let isNegative = text[q] == 0x2D
        if isNegative { q &+= 1 }
        var value: Int64 = 0
        while q < range.upperBound {
            value = value &* 10 &+ Int64(text[q] &- 0x30)
            q &+= 1
        }
        return isNegative ? -value : value
    }

    @inline(never) private mutating func exactFits(
        _ text: Span<UInt8>, _ lane: Int, _ range: Range<Int>, _ depth: Int
    ) -> Bool {
        let value = ExactDecimal(text, range)
        let start = range.lowerBound
        let (isHard, node) = (machine.arena.lanes[lane].isHard, machine.arena.lanes[lane].node)
        steps -= range.count / 8
        if machine.arena.lanes[lane].isIntegral, !value.isIntegral {
            if isHard { report(text, .type, node, "/type", depth, start, "an integer", "a number with a fraction") }
            return false
        }
        let number = machine.arena.lanes[lane].number
        if number < 0 { return true }
        let rule = program.numbers[Int(number)]
        var failed: [(String, String)] = []
        if let bound = rule.minimum, value < bound { failed.append(("/minimum", "a number of at least \(bound)")) }
        if let bound = rule.maximum, bound < value { failed.append(("/maximum", "a number of at most \(bound)")) }
        if let bound = rule.exclusiveMinimum, !(bound < value) {
            failed.append(("/exclusiveMinimum", "a number above \(bound)"))
        }
        if let bound = rule.exclusiveMaximum, !(value < bound) {
            failed.append(("/exclusiveMaximum", "a number below \(bound)"))
        }
        if let divisor = rule.multipleOf {
            let cost = value.isShort && divisor.isShort ? 1 : value.digitCount * (divisor.digitCount / 9 + 2)
            if cost > limits.maximumPatternSteps || cost > steps {
                let words =
                    cost > limits.maximumPatternSteps
                    ? "a number that can be divided within \(limits.maximumPatternSteps) steps" : tooManySteps.expected
                report(text, .limit, node, "/multipleOf", depth, start, words, "one that takes more")
                if cost <= limits.maximumPatternSteps { steps = -1 }
                return false
            }
            steps -= cost
            if !value.isMultiple(of: divisor) { failed.append(("/multipleOf", "a multiple of \(divisor)")) }
        }
        if isHard {
            for (keyword, words) in failed {
                report(text, .value, node, keyword, depth, start, words, "another number")
            }
        }
        return failed.isEmpty
    }
}
