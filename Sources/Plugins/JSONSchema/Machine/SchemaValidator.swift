import ErrandJSONSyntax
import ErrandJSONValidation

/// Validates a text against a schema in one pass. Each open array and object has a frame with a result for each lane of
/// its state.
///
/// The text is a parameter because a span can't be stored.
struct SchemaValidator: ~Copyable, TextValidator {
    var machine: SchemaMachine
    let program: SchemaProgram
    let limits: JSONLimits
    /// The machine stores the frames around this one.
    var frame = SchemaFrame()
    var keys: KeySet
    var uniques: UniqueSet
    let valueHash = ValueHash.shared
    var problems: ProblemList
    var pending: [PendingPart] = []
    var pendingIndices: [PendingFate: Int] = [:]
    /// The number of containers opened so far, which also identifies the last one.
    var containers = 0
    var unexplained: [(node: Int32, gate: Int)] = []
    /// The bytes that may still be reread to explain problems, and the explanations in progress.
    var rereadBudget: Int
    var rereads = 0
    /// Whether tags distinguish branches, and the bytes that may still be skipped to find tags.
    var usesTags = true
    var tagBudget: Int
    /// Whether an object was validated against only some branches, and whether there were too many keys that these
    /// branches don't name. If both are true, the text is validated again without tags, because the other branches may
    /// name some of these keys.
    var hasParts = false
    var hasTooManyKeys = false
    /// The sum of the weights of all problems, to find the branch that a value fits best. While weights are added up,
    /// problems aren't listed.
    var weight = 0
    var isWeighing = false
    var weighBase = 0
    /// Collects annotations if the caller asked for them. They're returned only if the text is valid.
    var collector: AnnotationCollector?
    var values: [SchemaLocation: JSONFragment] = [:]
    /// The values in use in the machine's `results` and `words`.
    var resultTop = 0
    var wordTop = 0
    /// Bytes compared or hashed per step.
    static let bytesOfStep = 16
    var steps: Int

    init(_ machine: consuming SchemaMachine, program: SchemaProgram, textCount: Int, limits: JSONLimits) {
        self.machine = machine
        self.program = program
        self.limits = limits
        keys = KeySet(limit: limits.maximumKeys)
        uniques = UniqueSet(limit: limits.maximumUniqueItems)
        problems = ProblemList(limit: limits.maximumProblems)
        rereadBudget = textCount * 4 + 1 << 20
        tagBudget = rereadBudget
        steps = limits.maximumSteps
        self.machine.begin(limits)
    }

    mutating func run(_ text: Span<UInt8>) {
        guard let p = firstByte(text) else { return }
        let root = machine.state([SchemaMachine.root(program.root, isHard: true)], program)
        guard var rest = read(text, from: p, root, base: 0) else { return }
        rest = JSONGrammar.skipSpace(in: text, from: rest)
        if rest < text.count { stop(text, .end, at: rest, depth: 0) }
        if steps < 0 || machine.isFull { _ = tooMuch(text, at: rest, depth: 0) }
    }

    /// Returns the index after the value, or `nil` if reading stopped.
    mutating func read(_ text: Span<UInt8>, from start: Int, _ root: StateIndex, base: Int) -> Int? {
        var p = start
        var depth = base
        var state = root
        var isQuiet = collector == nil
        values: while true {
            guard p < text.count else { return stopped(text, .value, at: p, depth: depth) }
            let start = p
            let byte = text[p]
            var isOpen = false
            switch byte {
            case JSONGrammar.quote:
                guard let end = scanned(text, JSONGrammar.string(in: text, from: p &+ 1), depth: depth) else {
                    return nil
                }
                p = end
                if machine.arena.states[Int(state)].plain & ValueKind.string == 0 || !isQuiet {
                    guard settleScalar(text, state, kind: ValueKind.string, in: start..<p, depth: depth, base: base)
                    else {
                        return nil
                    }
                }
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let (scan, isPlain) = JSONGrammar.number(in: text, from: p)
                guard let end = scanned(text, scan, depth: depth) else { return nil }
                p = end
                let kind = isPlain ? ValueKind.integer : ValueKind.fraction
                if machine.arena.states[Int(state)].plain & kind == 0 || !isQuiet {
                    guard settleScalar(text, state, kind: kind, in: start..<p, depth: depth, base: base) else {
                        return nil
                    }
                }
            case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
                guard let end = scanned(text, JSONGrammar.literal(in: text, from: p), depth: depth) else { return nil }
                p = end
                let kind = ValueKind.ofLiteral(byte)
                if machine.arena.states[Int(state)].plain & kind == 0 || !isQuiet {
                    guard settleScalar(text, state, kind: kind, in: start..<p, depth: depth, base: base) else {
                        return nil
                    }
                }
            case JSONGrammar.openBrace, JSONGrammar.openBracket:
                depth &+= 1
                if depth > limits.maximumDepth {
                    tooDeep(text, at: p, depth: depth - 1)
                    return nil
                }
                let isObject = byte == JSONGrammar.openBrace
                let hashes = depth &- 1 > base && frame.hashes
                guard open(text, state, at: p, isObject: isObject, hashes: hashes, depth: depth) else { return nil }
                p = JSONGrammar.skipSpace(in: text, from: p &+ 1)
                // The code of a closing bracket is two higher than the code of its opening bracket.
                let closing = byte &+ 2
                if p < text.count, text[p] == closing {
                    p &+= 1
                    guard close(text, count: 0, at: p, depth: depth, base: base) else { return nil }
                    depth &-= 1
                } else if isObject {
                    isOpen = true
                } else {
                    firstElement()
                    state = frame.part
                    isQuiet = frame.isQuiet
                    continue values
                }
            default: return stopped(text, .value, at: p, depth: depth)
            }
            // After a value, reads closing brackets until another key or element follows.
            while !isOpen {
                if depth == base { return p }
                p = JSONGrammar.skipSpace(in: text, from: p)
                guard p < text.count else {
                    return stopped(text, frame.isObject ? .memberEnd : .elementEnd, at: p, depth: depth - 1)
                }
                let byte = text[p]
                if byte == JSONGrammar.comma {
                    p = JSONGrammar.skipSpace(in: text, from: p &+ 1)
                    if frame.isObject { break }
                    frame.count &+= 1
                    nextElement()
                    state = frame.part
                    isQuiet = frame.isQuiet
                    continue values
                }
                guard byte == (frame.isObject ? JSONGrammar.closeBrace : JSONGrammar.closeBracket) else {
                    return stopped(text, frame.isObject ? .memberEnd : .elementEnd, at: p, depth: depth - 1)
                }
                p &+= 1
                guard
                    close(text, count: frame.isObject ? frame.count : frame.count &+ 1, at: p, depth: depth, base: base)
                else { return nil }
                depth &-= 1
            }
            // Usually, the same key followed the previous key in the last object.
            guard p < text.count, text[p] == JSONGrammar.quote else {
                return stopped(text, .key, at: p, depth: depth - 1)
            }
            frame.key = p
            guard let key = readKey(text, at: p, depth: depth) else { return nil }
            guard let value = takeColon(text, after: key, depth: depth) else { return nil }
            p = value
            state = frame.part
            isQuiet = frame.isQuiet
        }
    }

    @inline(__always)
    private mutating func scanned(_ text: Span<UInt8>, _ scan: JSONTokenEnd, depth: Int) -> Int? {
        scan.fault == .none ? scan.index : stopped(text, scan.fault, at: scan.index, depth: depth)
    }

    @inline(__always)
    private mutating func takeColon(_ text: Span<UInt8>, after end: Int, depth: Int) -> Int? {
        var p = end
        if !(p < text.count && text[p] == JSONGrammar.colon) {
            p = JSONGrammar.skipSpace(in: text, from: p)
            guard p < text.count, text[p] == JSONGrammar.colon else {
                return stopped(text, .colon, at: p, depth: depth - 1)
            }
        }
        return JSONGrammar.skipSpace(in: text, from: p &+ 1)
    }

    private mutating func stopped(_ text: Span<UInt8>, _ fault: JSONFault, at p: Int, depth: Int) -> Int? {
        stop(text, fault, at: p, depth: depth)
        return nil
    }
}

extension SchemaValidator {
    /// Computes the results of the container's lanes and delivers them to the enclosing frame. Returns `false` if
    /// reading stopped.
    @inline(__always)
    mutating func close(_ text: Span<UInt8>, count: Int, at p: Int, depth: Int, base: Int) -> Bool {
        if keys.count != Int(frame.keysBefore) { keys.removeAll(behind: Int(frame.keysBefore)) }
        if machine.arena.states[Int(frame.state)].laneCount == 0,
            depth &- 1 == base || machine.frames.last.isQuiet
        {
            leaveFrame()
            return true
        }
        return settle(text, parts: count, at: p, depth: depth, base: base)
    }

    @inline(never)
    private mutating func settle(_ text: Span<UInt8>, parts: Int, at p: Int, depth: Int, base: Int) -> Bool {
        let (state, start, results) = (frame.state, frame.start, frame.results)
        if frame.array >= 0 {
            let plan = machine.arena.arrayPlans[Int(frame.array)]
            for index in plan.firstRule..<plan.firstRule + plan.ruleCount {
                checkArray(text, machine.arena.arrayRules[index], count: parts, depth: depth)
            }
        } else if frame.object >= 0 {
            let plan = machine.arena.objectPlans[Int(frame.object)]
            for index in plan.firstRule..<plan.firstRule + plan.ruleCount {
                checkObject(text, machine.arena.objectRules[index], keys: plan.keys, count: parts, depth: depth)
            }
        }
        let (count, firstLane) = (
            machine.arena.states[Int(state)].laneCount, machine.arena.states[Int(state)].firstLane
        )
        for index in 0..<count {
            let place = firstLane &+ index
            if machine.arena.lanes[place].gateCount > 0,
                !gatesHold(
                    text, of: machine.arena.lanes[place], in: state, results: results, isFrame: true, at: start,
                    depth: depth - 1)
            {
                machine.results[results + index] = 0
            }
            if machine.arena.lanes[place].constant >= 0 || machine.arena.lanes[place].enumeration >= 0 {
                checkConstants(text, machine.arena.lanes[place], index: index, upTo: p, depth: depth)
            }
            if pending.count > frame.pendingBefore {
                checkPending(text, index, of: machine.arena.lanes[place], depth: depth)
            }
            if collector != nil {
                annotate(text, lane: index, of: state, results: results, isFrame: true, at: start, depth: depth - 1)
            }
        }
        while pending.count > frame.pendingBefore { pendingIndices[pending.removeLast().fate] = nil }
        if uniques.count > Int(frame.uniquesBefore) { uniques.removeAll(behind: Int(frame.uniquesBefore)) }
        resultTop = results
        wordTop = frame.words
        let (whole, digest) = (frame.whole, frame.digest)
        leaveFrame()
        if depth - 1 > base {
            if state != whole { spread(results, state, to: whole) }
            if collector != nil { takeAnnotations(results, start) }
            guard deliver(text, results: results, of: start..<p, digest: digest, depth: depth - 1) else { return false }
        }
        return unexplained.isEmpty || explain(text, in: start..<p, depth: depth - 1)
    }

    // MARK: Arrays and objects

    @inline(never) private mutating func checkArray(_ text: Span<UInt8>, _ rule: LaneArray, count: Int, depth: Int) {
        let lane = machine.arena.lane(Int(rule.lane), of: frame.state)
        let (start, result) = (frame.start, frame.results + Int(rule.lane))
        func fail(
            _ keyword: String, expected words: @autoclosure () -> String, found: @autoclosure () -> String,
            _ validator: inout SchemaValidator, isDerived: Bool = false
        ) {
            validator.machine.results[result] = 0
            if lane.isHard {
                validator.report(
                    text, .value, of: lane, keyword: keyword, depth: depth - 1, at: start, expected: words(),
                    found: found(),
                    isDerived: isDerived)
            }
        }
        if count < rule.minimum {
            fail(
                "/minItems", expected: "an array of \(MessageText.counted("at least \(rule.minimum)", "element"))",
                found: "\(count)", &self)
        }
        if count > rule.maximum {
            fail(
                "/maxItems", expected: "an array of \(MessageText.counted("at most \(rule.maximum)", "element"))",
                found: "\(count)", &self)
        }
        if rule.isUnique, frame.hasEqual {
            fail("/uniqueItems", expected: "an array of unique elements", found: "two equal elements", &self)
        }
        if rule.counter >= 0 {
            let contained = machine.words[frame.words + Int(rule.counter)]
            if contained < rule.minimumContained {
                let (keyword, verb) = rule.minimumContained == 1 ? ("/contains", "fits") : ("/minContains", "fit")
                fail(
                    keyword,
                    expected: "\(MessageText.counted("at least \(rule.minimumContained)", "element")) that \(verb)",
                    found: "\(contained)", &self, isDerived: true)
            }
            if contained > rule.maximumContained {
                let verb = rule.maximumContained == 1 ? "fits" : "fit"
                fail(
                    "/maxContains",
                    expected: "\(MessageText.counted("at most \(rule.maximumContained)", "element")) that \(verb)",
                    found: "\(contained)", &self, isDerived: true)
            }
        }
    }

    @inline(never) private mutating func checkObject(
        _ text: Span<UInt8>, _ rule: LaneObject, keys: SchemaKeys, count: Int, depth: Int
    ) {
        let lane = machine.arena.lane(Int(rule.lane), of: frame.state)
        let isHard = lane.isHard
        let (start, result) = (frame.start, frame.results + Int(rule.lane))
        if rule.required & ~frame.seen != 0 || rule.isWide {
            steps -= rule.needCount
            for index in 0..<rule.needCount {
                let entry = Int(machine.arena.numbers[rule.firstNeed + index])
                if hasSeen(entry) { continue }
                machine.results[result] = 0
                guard isHard else { break }
                let name = machine.arena.keys.string(entry, of: keys)
                missing(text, name, of: lane, keyword: "/required", depth: depth, at: start)
            }
        }
        steps -= rule.dependentCount
        for index in 0..<rule.dependentCount {
            let first = rule.firstDependent + index * 2
            let (key, need) = (Int(machine.arena.numbers[first]), Int(machine.arena.numbers[first + 1]))
            if !hasSeen(key) || hasSeen(need) { continue }
            machine.results[result] = 0
            guard isHard else { break }
            let name = machine.arena.keys.string(need, of: keys)
            missing(text, name, of: lane, keyword: "/dependentRequired", depth: depth, at: start)
        }
        if count < rule.minimum {
            machine.results[result] = 0
            if isHard {
                report(
                    text, .value, of: lane, keyword: "/minProperties", depth: depth - 1, at: start,
                    expected: "an object of \(MessageText.counted("at least \(rule.minimum)", "key"))",
                    found: "\(count)")
            }
        }
        if count > rule.maximum {
            machine.results[result] = 0
            if isHard {
                report(
                    text, .value, of: lane, keyword: "/maxProperties", depth: depth - 1, at: start,
                    expected: "an object of \(MessageText.counted("at most \(rule.maximum)", "key"))",
                    found: "\(count)")
            }
        }
    }

    @inline(never) private mutating func checkConstants(
        _ text: Span<UInt8>, _ lane: SchemaLane, index: Int, upTo p: Int, depth: Int
    ) {
        let value = frame.start..<p
        for number in [lane.constant, lane.enumeration] where number >= 0 {
            let constants = program.constants[Int(number)]
            let known = constants.composites[frame.digest] ?? []
            var isOne = false
            for constant in known where !isOne {
                let constant = constant[...]
                steps -= (constant.count + value.count) / Self.bytesOfStep
                isOne = JSONEquality.areEqual(constant.span, at: 0..<constant.count, and: text, at: value)
            }
            if isOne { continue }
            machine.results[frame.results + index] = 0
            if lane.isHard { otherThan(text, number, of: lane, depth: depth - 1, at: value.lowerBound) }
        }
    }
}
