import ErrandHTTPSyntax
import ErrandJSONValidation

extension SchemaValidator {
    /// Computes the results of all lanes for a scalar, and delivers them; false if the rest of the text is not read.
    @inline(never) mutating func settleScalar(
        _ state: StatePointer, _ kind: UInt8, _ start: BytePointer, _ p: BytePointer, _ depth: Int, _ base: Int
    ) -> Bool {
        guard let results = scalar(state, kind, start, p, depth) else { return false }
        if depth > base {
            let frame = machine.frames + depth
            let digest = frame.pointee.hashes ? valueHash.scalar(start, p) : ValueDigest(hash: 0, length: 0)
            if collector != nil { takeAnnotations(results, resultTop, frame, start) }
            guard deliver(results, to: frame, start, p, digest, depth) else { return false }
        }
        return unexplained.isEmpty || explain(start, p, depth)
    }

    /// Computes the results for a key.
    mutating func settleName(
        _ names: TransitionPointer, _ frame: UnsafeMutablePointer<SchemaFrame>, _ start: BytePointer, _ p: BytePointer,
        _ depth: Int
    ) -> Bool {
        let state = names.pointee.state
        if state.pointee.plain & ValueKind.string != 0 { return true }
        guard let results = scalar(state, ValueKind.string, start, p, depth) else { return false }
        for index in 0..<names.pointee.wireCount {
            let wire = names.pointee.wires[index]
            if results[Int(wire.child)] == 0 { machine.results[frame.pointee.results + Int(wire.parent)] = 0 }
        }
        return unexplained.isEmpty || explain(start, p, depth)
    }

    /// The results of all lanes for a scalar, valid until the next ones; nil if the rest of the text is not read.
    private mutating func scalar(
        _ state: StatePointer, _ kind: UInt8, _ start: BytePointer, _ p: BytePointer, _ depth: Int
    ) -> UnsafeMutablePointer<UInt8>? {
        let count = state.pointee.laneCount
        // Each lane may read a long one.
        steps -= state.pointee.cost &* (1 &+ (p - start) >> 4)
        if steps < 0 || machine.isFull {
            _ = tooMuch(at: start, depth: depth)
            return nil
        }
        if resultTop + count > machine.resultCapacity { machine.growResults(resultTop + count) }
        let results = machine.results + resultTop
        let lanes = state.pointee.lanes
        collector?.clear(resultTop..<resultTop + count)
        for index in 0..<count {
            let lane = lanes + index
            var holds = lane.pointee.isPlain(kind) || check(lane, kind, start, p, depth)
            if lane.pointee.gateCount > 0, !gatesHold(lane, state, results, nil, start, depth) { holds = false }
            results[index] = holds ? 1 : 0
            if collector != nil { annotate(index, state, resultTop, results, nil, start, depth) }
        }
        return results
    }

    /// Whether a scalar fits a lane, without its gates; reports the problem if the lane is hard.
    private mutating func check(
        _ lane: UnsafeMutablePointer<SchemaLane>, _ kind: UInt8, _ start: BytePointer, _ p: BytePointer, _ depth: Int
    ) -> Bool {
        if lane.pointee.kinds & kind == 0 {
            if lane.pointee.isHard { mismatch(lane.pointee, depth, at: start) }
            return false
        }
        var holds = true
        if lane.pointee.constant >= 0, !isConstant(lane.pointee.constant, kind, start, p) {
            guard lane.pointee.isHard else { return false }
            otherThan(lane.pointee.constant, lane.pointee, depth, start)
            holds = false
        }
        if lane.pointee.enumeration >= 0, !isConstant(lane.pointee.enumeration, kind, start, p) {
            guard lane.pointee.isHard else { return false }
            otherThan(lane.pointee.enumeration, lane.pointee, depth, start)
            holds = false
        }
        if kind == ValueKind.string {
            if lane.pointee.string >= 0, !stringFits(lane, start, p, depth) { holds = false }
        } else if kind & ValueKind.number != 0 {
            if !numberFits(lane, kind, start, p, depth) { holds = false }
        }
        return holds
    }

    // MARK: Constants

    private func isConstant(_ index: Int32, _ kind: UInt8, _ start: BytePointer, _ p: BytePointer) -> Bool {
        let constants = machine.constantChecks + Int(index)
        switch kind {
        case ValueKind.string:
            let keys = constants.pointee.keys
            if keys.count == 0 { return false }
            if keys.count <= 4, end - start > 17 {
                for place in 0..<keys.count where keys.isNext(place, start + 1, end) { return true }
                // A text with escapes may still be one of them.
                let text = JSONText(start: start + 1, end: p - 1)
                return text.hasEscapes && keys.find(text) >= 0
            }
            return keys.find(JSONText(start: start + 1, end: p - 1)) >= 0
        case ValueKind.integer, ValueKind.fraction:
            return constants.pointee.kinds & ValueKind.number != 0
                && program.constants[Int(index)].numbers.contains(ExactDecimal(start, p))
        default: return constants.pointee.literals & kind != 0
        }
    }

    // MARK: Strings

    private mutating func stringFits(
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

    // MARK: Numbers

    private mutating func numberFits(
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

extension JSONText {
    /// The number of characters: Unicode scalars, with escapes resolved.
    var length: Int {
        var p = start
        var count = 0
        while p < end {
            let byte = p.pointee
            if byte == JSONGrammar.backslash, end - p >= 2 {
                let isUnicode = p[1] == 0x75
                // The second half of a pair does not count.
                if isUnicode, end - p >= 6, let unit = JSONGrammar.hexUnit(p + 2, end), unit & 0xFC00 == 0xDC00 {
                    count -= 1
                }
                p += isUnicode ? 6 : 2
                count += 1
            } else {
                if byte & 0xC0 != 0x80 { count += 1 }
                p += 1
            }
        }
        return count
    }
}
