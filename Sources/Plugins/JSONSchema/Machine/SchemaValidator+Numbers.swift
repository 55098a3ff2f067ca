import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    mutating func numberFits(
        _ lane: UnsafeMutablePointer<SchemaLane>, _ kind: UInt8, _ start: BytePointer, _ p: BytePointer, _ depth: Int
    ) -> Bool {
        let isFractional = lane.pointee.isIntegral && kind == ValueKind.fraction
        if lane.pointee.number < 0, !isFractional { return true }
        if !isFractional, kind == ValueKind.integer, p - start <= 18 {
            let rule = machine.numbers + Int(lane.pointee.number)
            if rule.pointee.isFast {
                let value = Self.integer(start, p)
                if value >= rule.pointee.least, value <= rule.pointee.most { return true }
                if !lane.pointee.isHard { return false }
            }
        }
        return exactFits(lane, start, p, depth)
    }

    /// The value of at most 18 characters: digits, and perhaps a sign.
    @inline(__always) private static func integer(_ start: BytePointer, _ p: BytePointer) -> Int64 {
        var q = start
        let isNegative = q.pointee == 0x2D
        if isNegative { q += 1 }
        var value: Int64 = 0
        while q < p {
            value = value &* 10 &+ Int64(q.pointee &- 0x30)
            q += 1
        }
        return isNegative ? -value : value
    }

    private mutating func exactFits(
        _ lane: UnsafeMutablePointer<SchemaLane>, _ start: BytePointer, _ p: BytePointer, _ depth: Int
    ) -> Bool {
        let value = ExactDecimal(start, p)
        let isHard = lane.pointee.isHard
        steps -= (p - start) / 8
        if lane.pointee.isIntegral, !value.isIntegral {
            if isHard { report(.type, lane.pointee, "/type", depth, start, "an integer", "a number with a fraction") }
            return false
        }
        if lane.pointee.number < 0 { return true }
        let rule = program.numbers[Int(lane.pointee.number)]
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
                    ? "a number that is divided within \(limits.maximumPatternSteps) steps" : tooManySteps.expected
                report(.limit, lane.pointee, "/multipleOf", depth, start, words, "one that takes more")
                if cost <= limits.maximumPatternSteps { steps = -1 }
                return false
            }
            steps -= cost
            if !value.isMultiple(of: divisor) { failed.append(("/multipleOf", "a multiple of \(divisor)")) }
        }
        if isHard {
            for (keyword, words) in failed {
                report(.value, lane.pointee, keyword, depth, start, words, "another number")
            }
        }
        return failed.isEmpty
    }
}
