import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    @inline(never) mutating func settleScalar(
        _ text: Span<UInt8>, _ state: StateIndex, kind: UInt8, in range: Range<Int>, depth: Int, base: Int
    ) -> Bool {
        guard scalar(text, state, kind: kind, in: range, depth: depth) else { return false }
        if depth > base {
            let digest = frame.hashes ? valueHash.scalar(text, range) : ValueDigest(hash: 0, length: 0)
            if collector != nil { takeAnnotations(resultTop, range.lowerBound) }
            guard deliver(text, results: resultTop, of: range, digest: digest, depth: depth) else { return false }
        }
        return unexplained.isEmpty || explain(text, in: range, depth: depth)
    }

    mutating func settleName(
        _ text: Span<UInt8>, _ names: TransitionIndex, in range: Range<Int>, depth: Int
    ) -> Bool {
        let transition = machine.arena.transitions[Int(names)]
        if machine.arena.states[Int(transition.state)].plain & ValueKind.string != 0 { return true }
        guard scalar(text, transition.state, kind: ValueKind.string, in: range, depth: depth) else { return false }
        for index in transition.firstWire..<transition.firstWire + transition.wireCount {
            let wire = machine.arena.wires[index]
            if machine.results[resultTop + Int(wire.child)] == 0 {
                machine.results[frame.results + Int(wire.parent)] = 0
            }
        }
        return unexplained.isEmpty || explain(text, in: range, depth: depth)
    }

    /// Stores the results after the results in use, until the next scalar replaces them. Returns `false` if reading
    /// stopped.
    private mutating func scalar(
        _ text: Span<UInt8>, _ state: StateIndex, kind: UInt8, in range: Range<Int>, depth: Int
    ) -> Bool {
        let found = machine.arena.states[Int(state)]
        let (count, firstLane) = (found.laneCount, found.firstLane)
        let start = range.lowerBound
        // A long scalar costs more steps, because each lane may have to read it.
        steps -= found.cost &* (1 &+ range.count >> 4)
        if steps < 0 || machine.isFull {
            _ = tooMuch(text, at: start, depth: depth)
            return false
        }
        if resultTop + count > machine.results.count { machine.growResults(resultTop + count) }
        let results = resultTop
        collector?.clear(results..<results + count)
        for index in 0..<count {
            let lane = firstLane &+ index
            var holds =
                machine.arena.lanes[lane].isPlain(kind) || check(text, lane, kind: kind, in: range, depth: depth)
            if machine.arena.lanes[lane].gateCount > 0,
                !gatesHold(
                    text, of: machine.arena.lanes[lane], in: state, results: results, isFrame: false, at: start,
                    depth: depth)
            {
                holds = false
            }
            machine.results[results &+ index] = holds ? 1 : 0
            if collector != nil {
                annotate(text, lane: index, of: state, results: results, isFrame: false, at: start, depth: depth)
            }
        }
        return true
    }

    /// Ignores the lane's gates. Reports the problem if the lane is hard.
    private mutating func check(
        _ text: Span<UInt8>, _ lane: Int, kind: UInt8, in range: Range<Int>, depth: Int
    ) -> Bool {
        let isHard = machine.arena.lanes[lane].isHard
        if machine.arena.lanes[lane].kinds & kind == 0 {
            if isHard { mismatch(text, of: machine.arena.lanes[lane], depth: depth, at: range.lowerBound) }
            return false
        }
        var holds = true
        let (constant, enumeration) = (machine.arena.lanes[lane].constant, machine.arena.lanes[lane].enumeration)
        if constant >= 0, !isConstant(text, constant, kind: kind, in: range) {
            guard isHard else { return false }
            otherThan(text, constant, of: machine.arena.lanes[lane], depth: depth, at: range.lowerBound)
            holds = false
        }
        if enumeration >= 0, !isConstant(text, enumeration, kind: kind, in: range) {
            guard isHard else { return false }
            otherThan(text, enumeration, of: machine.arena.lanes[lane], depth: depth, at: range.lowerBound)
            holds = false
        }
        if kind == ValueKind.string {
            if machine.arena.lanes[lane].string >= 0, !stringFits(text, lane, in: range, depth: depth) { holds = false }
        } else if kind & ValueKind.number != 0 {
            if !numberFits(text, lane, kind: kind, in: range, depth: depth) { holds = false }
        }
        return holds
    }

    // MARK: Constants

    private func isConstant(_ text: Span<UInt8>, _ index: Int32, kind: UInt8, in range: Range<Int>) -> Bool {
        let constants = machine.constants[Int(index)]
        switch kind {
        case ValueKind.string:
            let (keys, start) = (constants.keys, range.lowerBound)
            if keys.count == 0 { return false }
            let content = JSONContent(start + 1, range.upperBound - 1)
            if keys.count <= 4, text.count - start > 17 {
                for number in 0..<keys.count where machine.arena.keys.isNext(number, of: keys, in: text, at: start + 1)
                {
                    return true
                }
                // A string with escapes may still equal one of the constants.
                return content.hasEscapes(in: text) && machine.arena.keys.find(text, content, in: keys) >= 0
            }
            return machine.arena.keys.find(text, content, in: keys) >= 0
        case ValueKind.integer, ValueKind.fraction:
            return constants.kinds & ValueKind.number != 0
                && program.constants[Int(index)].numbers.contains(ExactDecimal(text, range))
        default: return constants.literals & kind != 0
        }
    }
}

extension SchemaValidator {
    mutating func numberFits(
        _ text: Span<UInt8>, _ lane: Int, kind: UInt8, in range: Range<Int>, depth: Int
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
        return exactFits(text, lane, in: range, depth: depth)
    }

    /// The range has at most 18 characters, including the sign.
    @inline(__always) private static func integer(_ text: Span<UInt8>, _ range: Range<Int>) -> Int64 {
        var q = range.lowerBound
        let isNegative = text[q] == UInt8(ascii: "-")
        if isNegative { q &+= 1 }
        var value: Int64 = 0
        while q < range.upperBound {
            value = value &* 10 &+ Int64(text[q] &- 0x30)
            q &+= 1
        }
        return isNegative ? -value : value
    }

    @inline(never) private mutating func exactFits(
        _ text: Span<UInt8>, _ lane: Int, in range: Range<Int>, depth: Int
    ) -> Bool {
        let value = ExactDecimal(text, range)
        let start = range.lowerBound
        let (isHard, node) = (machine.arena.lanes[lane].isHard, machine.arena.lanes[lane].node)
        steps -= range.count / 8
        if machine.arena.lanes[lane].isIntegral, !value.isIntegral {
            if isHard {
                report(
                    text, .type, of: node, keyword: "/type", depth: depth, at: start, expected: "an integer",
                    found: "a number with a fraction")
            }
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
                    ? "a number that can be checked in at most \(limits.maximumPatternSteps) steps"
                    : tooManySteps.expected
                report(
                    text, .limit, of: node, keyword: "/multipleOf", depth: depth, at: start, expected: words,
                    found: "one that needs more")
                if cost <= limits.maximumPatternSteps { steps = -1 }
                return false
            }
            steps -= cost
            if !value.isMultiple(of: divisor) { failed.append(("/multipleOf", "a multiple of \(divisor)")) }
        }
        if isHard {
            for (keyword, words) in failed {
                report(
                    text, .value, of: node, keyword: keyword, depth: depth, at: start, expected: words,
                    found: "another number")
            }
        }
        return failed.isEmpty
    }
}

extension SchemaValidator {
    mutating func stringFits(
        _ text: Span<UInt8>, _ lane: Int, in range: Range<Int>, depth: Int
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
                    report(
                        text, .value, of: node, keyword: "/minLength", depth: depth, at: start, expected: words,
                        found: "\(length)")
                    holds = false
                } else if length > rule.maximum {
                    guard isHard else { return false }
                    let words = "a string of \(MessageText.counted("at most \(rule.maximum)", "character"))"
                    report(
                        text, .value, of: node, keyword: "/maxLength", depth: depth, at: start, expected: words,
                        found: "\(length)")
                    holds = false
                }
            }
        }
        if rule.pattern >= 0 {
            switch match(text, rule.pattern, at: content, hasEscapes: content.hasEscapes(in: text)) {
            case .matches: break
            case .differs:
                guard isHard else { return false }
                let source = MessageText.shown(program.patterns[Int(rule.pattern)].source, limit: 100)
                report(
                    text, .value, of: node, keyword: "/pattern", depth: depth, at: start,
                    expected: "a string that matches \(source)", found: "a string that does not")
                holds = false
            case .exceeded:
                holds = false
                let (expected, found) = patternLimit(content)
                report(
                    text, .limit, of: node, keyword: "/pattern", depth: depth, at: start, expected: expected,
                    found: found)
            }
        }
        if let format = rule.format {
            steps -= content.count &* 2
            // The exceeded limit is reported separately.
            guard steps >= 0 else { return holds }
            switch format.fits(content.string(in: text)) {
            case true?: break
            case false?:
                guard isHard else { return false }
                report(
                    text, .value, of: node, keyword: "/format", depth: depth, at: start,
                    expected: "a string in the format \(format.rawValue)", found: "a string that doesn't fit")
                holds = false
            case nil:
                holds = false
                report(
                    text, .limit, of: node, keyword: "/format", depth: depth, at: start,
                    expected: "a string short enough to check for the format \(format.rawValue)", found: "a longer one")
            }
        }
        return holds
    }

    mutating func match(
        _ text: Span<UInt8>, _ pattern: Int32, at content: JSONContent, hasEscapes: Bool
    ) -> PatternOutcome {
        let count = content.count
        if !hasEscapes, count <= limits.maximumPatternBytes, count <= limits.maximumPatternSteps,
            let outcome = machine.patternTables[Int(pattern)]?.run(text, content.start..<content.end)
        {
            steps &-= 1 &+ count >> 3
            return outcome
        }
        if count > limits.maximumPatternBytes { return .exceeded }
        if hasEscapes {
            let decoded = content.decoded(in: text)[...]
            return matchSlowly(pattern, decoded.span)
        }
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
