import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    mutating func stringFits(
        _ lane: UnsafeMutablePointer<SchemaLane>, _ start: BytePointer, _ p: BytePointer, _ depth: Int
    ) -> Bool {
        let rule = machine.strings + Int(lane.pointee.string)
        let text = JSONText(start: start + 1, end: p - 1)
        let isHard = lane.pointee.isHard
        var holds = true
        if rule.pointee.minimum > 0 || rule.pointee.maximum < .max {
            // A character takes 1 to 4 bytes, and 6 or 12 with an escape.
            let bytes = text.count
            if bytes < rule.pointee.minimum || bytes > rule.pointee.maximum
                || rule.pointee.minimum > 1 && bytes / 12 < rule.pointee.minimum
            {
                let length = text.length
                steps -= bytes / 4
                if length < rule.pointee.minimum {
                    guard isHard else { return false }
                    let words = "a string of \(MessageText.counted("at least \(rule.pointee.minimum)", "character"))"
                    report(.value, lane.pointee, "/minLength", depth, start, words, "\(length)")
                    holds = false
                } else if length > rule.pointee.maximum {
                    guard isHard else { return false }
                    let words = "a string of \(MessageText.counted("at most \(rule.pointee.maximum)", "character"))"
                    report(.value, lane.pointee, "/maxLength", depth, start, words, "\(length)")
                    holds = false
                }
            }
        }
        if rule.pointee.pattern >= 0 {
            switch match(rule.pointee.pattern, text, text.hasEscapes) {
            case .matches: break
            case .differs:
                guard isHard else { return false }
                let source = MessageText.shown(program.patterns[Int(rule.pointee.pattern)].source, limit: 100)
                report(
                    .value, lane.pointee, "/pattern", depth, start, "a string that matches \(source)",
                    "a string that does not")
                holds = false
            case .exceeded:
                holds = false
                let (expected, found) = patternLimit(text)
                report(.limit, lane.pointee, "/pattern", depth, start, expected, found)
            }
        }
        if let format = rule.pointee.format {
            steps -= text.count &* 2
            // Content that was not read is not judged, as the end of the steps is a problem of its own.
            guard steps >= 0 else { return holds }
            switch format.fits(text.string()) {
            case true?: break
            case false?:
                guard isHard else { return false }
                report(.value, lane.pointee, "/format", depth, start, "the format \(format.rawValue)", "another string")
                holds = false
            case nil:
                holds = false
                report(
                    .limit, lane.pointee, "/format", depth, start,
                    "a string that is not too long for the format \(format.rawValue)", "one that is")
            }
        }
        return holds
    }

    /// Whether a pattern matches some part of a text.
    mutating func match(_ pattern: Int32, _ text: JSONText, _ hasEscapes: Bool) -> PatternOutcome {
        let bytes = UnsafeBufferPointer(start: text.start, count: text.count)
        if !hasEscapes, text.count <= limits.maximumPatternBytes, text.count <= limits.maximumPatternSteps {
            let table = machine.patternChecks + Int(pattern)
            let outcome = PatternTable.run(
                bytes, table.pointee.classes, table.pointee.next, table.pointee.accepts, table.pointee.classCount)
            if let outcome {
                steps &-= 1 &+ text.count >> 3
                return outcome
            }
        }
        if text.count > limits.maximumPatternBytes { return .exceeded }
        return matchSlowly(pattern, hasEscapes ? Array(text.decoded) : nil, bytes)
    }

    @inline(never) private mutating func matchSlowly(
        _ pattern: Int32, _ decoded: [UInt8]?, _ bytes: UnsafeBufferPointer<UInt8>
    ) -> PatternOutcome {
        let compiled = program.patterns[Int(pattern)].program
        let budget = min(limits.maximumPatternSteps, max(0, steps))
        let machine = machine
        let outcome =
            if let decoded {
                decoded.withUnsafeBufferPointer { machine.patterns.run(compiled, on: $0, .anywhere, budget: budget) }
            } else {
                machine.patterns.run(compiled, on: bytes, .anywhere, budget: budget)
            }
        steps -= machine.patterns.taken + (outcome == .exceeded ? 1 : 0)
        if let table = compiled.table(.anywhere) { machine.patternChecks[Int(pattern)].load(table) }
        return outcome
    }
}
