import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    mutating func stringFits(
        _ text: Span<UInt8>, _ lane: Int, _ range: Range<Int>, _ depth: Int
    ) -> Bool {
        let rule = machine.strings[Int(machine.arena.lanes[lane].string)]
        let (start, content) = (range.lowerBound, JSONContent(range.lowerBound + 1, range.upperBound - 1))
        let (isHard, node) = (machine.arena.lanes[lane].isHard, machine.arena.lanes[lane].node)
        var holds = true
        if rule.minimum > 0 || rule.maximum < .max {
            // A character takes 1 to 4 bytes, or 6 or 12 with an escape.
            let bytes = content.count
            if bytes < rule.minimum || bytes > rule.maximum
                || rule.minimum > 1 && bytes / 12 < rule.minimum
            {
                let length = content.length(in: text)
                steps -= bytes / 4
                if length < rule.minimum {
                    guard isHard else { return false }
                    let words = "a string of \(MessageText.counted("at least \(rule.minimum)", "character"))"
                    report(text, .value, node, "/minLength", depth, start, words, "\(length)")
                    holds = false
                } else if length > rule.maximum {
                    guard isHard else { return false }
                    let words = "a string of \(MessageText.counted("at most \(rule.maximum)", "character"))"
                    report(text, .value, node, "/maxLength", depth, start, words, "\(length)")
                    holds = false
                }
            }
        }
        if rule.pattern >= 0 {
            switch match(text, rule.pattern, content, content.hasEscapes(in: text)) {
            case .matches: break
            case .differs:
                guard isHard else { return false }
                let source = MessageText.shown(program.patterns[Int(rule.pattern)].source, limit: 100)
                report(
                    text, .value, node, "/pattern", depth, start, "a string that matches \(source)",
                    "a string that does not")
                holds = false
            case .exceeded:
                holds = false
                let (expected, found) = patternLimit(content)
                report(text, .limit, node, "/pattern", depth, start, expected, found)
            }
        }
        if let format = rule.format {
            steps -= content.count &* 2
            // Content that wasn't read isn't judged, because running out of steps is a separate problem.
            guard steps >= 0 else { return holds }
            switch format.fits(content.string(in: text)) {
            case true?: break
            case false?:
                guard isHard else { return false }
                report(text, .value, node, "/format", depth, start, "the format \(format.rawValue)", "another string")
                holds = false
            case nil:
                holds = false
                report(
                    text, .limit, node, "/format", depth, start,
                    "a string short enough to check for the format \(format.rawValue)", "a longer one")
            }
        }
        return holds
    }

    /// Returns whether a pattern matches any part of a text.
    mutating func match(
        _ text: Span<UInt8>, _ pattern: Int32, _ content: JSONContent, _ hasEscapes: Bool
    ) -> PatternOutcome {
        let count = content.count
        if !hasEscapes, count <= limits.maximumPatternBytes, count <= limits.maximumPatternSteps,
            let outcome = machine.patternTables[Int(pattern)]?.run(text, content.start..<content.end)
        {
            steps &-= 1 &+ count >> 3
            return outcome
        }
        if count > limits.maximumPatternBytes { return .exceeded }
        if hasEscapes { return matchSlowly(pattern, content.decoded(in: text).span) }
        return matchSlowly(pattern, text.extracting(content.start..<content.end))
    }

    @inline(never) private mutating func matchSlowly(_ pattern: Int32, _ text: Span<UInt8>) -> PatternOutcome {
        let compiled = program.patterns[Int(pattern)].program
        let budget = min(limits.maximumPatternSteps, max(0, steps))
        let outcome = machine.patterns.run(compiled, on: text, .anywhere, budget: budget)
        steps -= machine.patterns.taken + (outcome == .exceeded ? 1 : 0)
        if let table = compiled.table(.anywhere) { machine.patternTables[Int(pattern)] = table }
        return outcome
    }
}
