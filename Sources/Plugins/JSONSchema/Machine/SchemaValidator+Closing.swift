import ErrandJSONValidation

extension SchemaValidator {
    /// Closes the innermost array or object: computes the results of its lanes and delivers them to the frame around it; false
    /// if the rest of the text is not read.
    @inline(__always)
    mutating func close(_ text: Span<UInt8>, _ count: Int, _ p: Int, _ depth: Int, _ base: Int) -> Bool {
        if keys.count != Int(frame.keysBefore) { keys.removeAll(behind: Int(frame.keysBefore)) }
        if machine.arena.states[Int(frame.state)].laneCount == 0,
            depth &- 1 == base || machine.frames.last.isQuiet
        {
            leaveFrame()
            return true
        }
        return settle(text, count, p, depth, base)
    }

    @inline(never)
    private mutating func settle(_ text: Span<UInt8>, _ parts: Int, _ p: Int, _ depth: Int, _ base: Int) -> Bool {
        let (state, start, results) = (frame.state, frame.start, frame.results)
        if frame.array >= 0 {
            let plan = machine.arena.arrayPlans[Int(frame.array)]
            for index in plan.firstRule..<plan.firstRule + plan.ruleCount {
                checkArray(text, machine.arena.arrayRules[index], parts, depth)
            }
        } else if frame.object >= 0 {
            let plan = machine.arena.objectPlans[Int(frame.object)]
            for index in plan.firstRule..<plan.firstRule + plan.ruleCount {
                checkObject(text, machine.arena.objectRules[index], plan.keys, parts, depth)
            }
        }
        let (count, firstLane) = (
            machine.arena.states[Int(state)].laneCount, machine.arena.states[Int(state)].firstLane
        )
        for index in 0..<count {
            let place = firstLane &+ index
            if machine.arena.lanes[place].gateCount > 0,
                !gatesHold(text, machine.arena.lanes[place], state, results, isFrame: true, start, depth - 1)
            {
                machine.results[results + index] = 0
            }
            if machine.arena.lanes[place].constant >= 0 || machine.arena.lanes[place].enumeration >= 0 {
                checkConstants(text, machine.arena.lanes[place], index, p, depth)
            }
            if pending.count > frame.pendingBefore {
                checkPending(text, index, machine.arena.lanes[place], depth)
            }
            if collector != nil { annotate(text, index, state, results, isFrame: true, start, depth - 1) }
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
            guard deliver(text, results, start..<p, digest, depth - 1) else { return false }
        }
        return unexplained.isEmpty || explain(text, start..<p, depth - 1)
    }

    // MARK: Arrays and objects

    @inline(never) private mutating func checkArray(_ text: Span<UInt8>, _ rule: LaneArray, _ count: Int, _ depth: Int)
    {
        let lane = machine.arena.lane(Int(rule.lane), of: frame.state)
        let (start, result) = (frame.start, frame.results + Int(rule.lane))
        func fail(
            _ keyword: String, _ words: @autoclosure () -> String, _ found: @autoclosure () -> String,
            _ validator: inout SchemaValidator, isDerived: Bool = false
        ) {
            validator.machine.results[result] = 0
            if lane.isHard {
                validator.report(text, .value, lane, keyword, depth - 1, start, words(), found(), isDerived: isDerived)
            }
        }
        if count < rule.minimum {
            fail(
                "/minItems", "an array of \(MessageText.counted("at least \(rule.minimum)", "element"))",
                "\(count)", &self)
        }
        if count > rule.maximum {
            fail(
                "/maxItems", "an array of \(MessageText.counted("at most \(rule.maximum)", "element"))",
                "\(count)", &self)
        }
        if rule.isUnique, frame.hasEqual {
            fail("/uniqueItems", "an array whose elements differ", "two that are equal", &self)
        }
        if rule.counter >= 0 {
            let contained = machine.words[frame.words + Int(rule.counter)]
            if contained < rule.minimumContained {
                let isPlain = rule.minimumContained == 1
                fail(
                    isPlain ? "/contains" : "/minContains",
                    "\(MessageText.counted("at least \(rule.minimumContained)", "element")) that \(isPlain ? "fits" : "fit")",
                    "\(contained)", &self,
                    isDerived: true)
            }
            if contained > rule.maximumContained {
                fail(
                    "/maxContains",
                    "\(MessageText.counted("at most \(rule.maximumContained)", "element")) that \(rule.maximumContained == 1 ? "fits" : "fit")",
                    "\(contained)", &self,
                    isDerived: true)
            }
        }
    }

    @inline(never) private mutating func checkObject(
        _ text: Span<UInt8>, _ rule: LaneObject, _ keys: SchemaKeys, _ count: Int, _ depth: Int
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
                missing(text, name, lane, "/required", depth, start)
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
            missing(text, name, lane, "/dependentRequired", depth, start)
        }
        if count < rule.minimum {
            machine.results[result] = 0
            if isHard {
                report(
                    text, .value, lane, "/minProperties", depth - 1, start,
                    "an object of \(MessageText.counted("at least \(rule.minimum)", "key"))", "\(count)")
            }
        }
        if count > rule.maximum {
            machine.results[result] = 0
            if isHard {
                report(
                    text, .value, lane, "/maxProperties", depth - 1, start,
                    "an object of \(MessageText.counted("at most \(rule.maximum)", "key"))",
                    "\(count)")
            }
        }
    }

    @inline(never) private mutating func checkConstants(
        _ text: Span<UInt8>, _ lane: SchemaLane, _ index: Int, _ p: Int, _ depth: Int
    ) {
        let value = frame.start..<p
        for number in [lane.constant, lane.enumeration] where number >= 0 {
            let constants = program.constants[Int(number)]
            let known = constants.composites[frame.digest] ?? []
            var isOne = false
            for constant in known where !isOne {
                steps -= (constant.count + value.count) / Self.bytesOfStep
                isOne = JSONEquality.areEqual(constant.span, 0..<constant.count, text, value)
            }
            if isOne { continue }
            machine.results[frame.results + index] = 0
            if lane.isHard { otherThan(text, number, lane, depth - 1, value.lowerBound) }
        }
    }
}
