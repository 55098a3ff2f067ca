import ErrandJSONValidation

extension SchemaValidator {
    /// Closes the innermost array or object: computes the results of its lanes and delivers them; false if the rest of the
    /// text is not read.
    @inline(__always) mutating func close(
        _ frame: UnsafeMutablePointer<SchemaFrame>, _ count: Int, _ p: BytePointer, _ depth: Int, _ base: Int
    ) -> Bool {
        if keys.count != frame.pointee.keysBefore { keys.removeAll(behind: frame.pointee.keysBefore) }
        if frame.pointee.state.pointee.laneCount == 0, depth - 1 == base || frame[-1].isQuiet { return true }
        return settle(frame, count, p, depth, base)
    }

    @inline(never) private mutating func settle(
        _ frame: UnsafeMutablePointer<SchemaFrame>, _ count: Int, _ p: BytePointer, _ depth: Int, _ base: Int
    ) -> Bool {
        let state = frame.pointee.state
        let results = machine.results + frame.pointee.results
        if let plan = frame.pointee.array {
            for index in 0..<plan.pointee.ruleCount {
                checkArray(plan.pointee.rules + index, frame, count, results, depth)
            }
        } else if let plan = frame.pointee.object {
            for index in 0..<plan.pointee.ruleCount {
                checkObject(plan.pointee.rules + index, plan, frame, count, results, depth)
            }
        }
        for index in 0..<state.pointee.laneCount {
            let lane = state.pointee.lanes + index
            if lane.pointee.gateCount > 0, !gatesHold(lane, state, results, frame, frame.pointee.start, depth - 1) {
                results[index] = 0
            }
            if lane.pointee.constant >= 0 || lane.pointee.enumeration >= 0 {
                checkConstants(lane, index, frame, p, results, depth)
            }
            if pending.count > frame.pointee.pendingBefore {
                checkPending(index, lane, state, frame, results, depth)
            }
            if collector != nil {
                annotate(index, state, frame.pointee.results, results, frame, frame.pointee.start, depth - 1)
            }
        }
        while pending.count > frame.pointee.pendingBefore { pendingIndices[pending.removeLast().fate] = nil }
        if uniques.count > frame.pointee.uniquesBefore { uniques.removeAll(behind: frame.pointee.uniquesBefore) }
        resultTop = frame.pointee.results
        wordTop = frame.pointee.words
        if depth - 1 > base {
            if state != frame.pointee.whole { spread(results, state, to: frame.pointee.whole) }
            if collector != nil { takeAnnotations(results, resultTop, frame - 1, frame.pointee.start) }
            guard deliver(results, to: frame - 1, frame.pointee.start, p, frame.pointee.digest, depth - 1) else {
                return false
            }
        }
        return unexplained.isEmpty || explain(frame.pointee.start, p, depth - 1)
    }

    // MARK: Arrays and objects

    private mutating func checkArray(
        _ rule: UnsafeMutablePointer<LaneArray>, _ frame: UnsafeMutablePointer<SchemaFrame>, _ count: Int,
        _ results: UnsafeMutablePointer<UInt8>, _ depth: Int
    ) {
        let lane = frame.pointee.state.pointee.lanes[Int(rule.pointee.lane)]
        let start = frame.pointee.start
        func fail(
            _ keyword: String, _ words: @autoclosure () -> String, _ found: @autoclosure () -> String,
            _ validator: inout SchemaValidator, isDerived: Bool = false
        ) {
            results[Int(rule.pointee.lane)] = 0
            if lane.isHard {
                validator.report(.value, lane, keyword, depth - 1, start, words(), found(), isDerived: isDerived)
            }
        }
        if count < rule.pointee.minimum {
            fail(
                "/minItems", "an array of \(MessageText.counted("at least \(rule.pointee.minimum)", "element"))",
                "\(count)", &self)
        }
        if count > rule.pointee.maximum {
            fail(
                "/maxItems", "an array of \(MessageText.counted("at most \(rule.pointee.maximum)", "element"))",
                "\(count)", &self)
        }
        if rule.pointee.isUnique, frame.pointee.hasEqual {
            fail("/uniqueItems", "an array whose elements differ", "two that are equal", &self)
        }
        if rule.pointee.counter >= 0 {
            let contained = machine.words[frame.pointee.words + Int(rule.pointee.counter)]
            if contained < rule.pointee.minimumContained {
                let isPlain = rule.pointee.minimumContained == 1
                fail(
                    isPlain ? "/contains" : "/minContains",
                    "\(MessageText.counted("at least \(rule.pointee.minimumContained)", "element")) that \(isPlain ? "fits" : "fit")",
                    "\(contained)", &self,
                    isDerived: true)
            }
            if contained > rule.pointee.maximumContained {
                fail(
                    "/maxContains",
                    "\(MessageText.counted("at most \(rule.pointee.maximumContained)", "element")) that \(rule.pointee.maximumContained == 1 ? "fits" : "fit")",
                    "\(contained)", &self,
                    isDerived: true)
            }
        }
    }

    private mutating func checkObject(
        _ rule: UnsafeMutablePointer<LaneObject>, _ plan: UnsafeMutablePointer<ObjectPlan>,
        _ frame: UnsafeMutablePointer<SchemaFrame>, _ count: Int, _ results: UnsafeMutablePointer<UInt8>, _ depth: Int
    ) {
        let isHard = frame.pointee.state.pointee.lanes[Int(rule.pointee.lane)].isHard
        let lane = frame.pointee.state.pointee.lanes[Int(rule.pointee.lane)]
        let start = frame.pointee.start
        if rule.pointee.required & ~frame.pointee.seen != 0 || rule.pointee.isWide {
            steps -= rule.pointee.needCount
            for index in 0..<rule.pointee.needCount {
                let entry = Int(rule.pointee.needs[index])
                if hasSeen(frame, entry) { continue }
                results[Int(rule.pointee.lane)] = 0
                guard isHard else { break }
                missing(plan.pointee.keys.string(entry), lane, "/required", depth, start)
            }
        }
        steps -= rule.pointee.dependentCount
        for index in 0..<rule.pointee.dependentCount {
            let (key, need) = (Int(rule.pointee.dependents[index * 2]), Int(rule.pointee.dependents[index * 2 + 1]))
            if !hasSeen(frame, key) || hasSeen(frame, need) { continue }
            results[Int(rule.pointee.lane)] = 0
            guard isHard else { break }
            missing(plan.pointee.keys.string(need), lane, "/dependentRequired", depth, start)
        }
        if count < rule.pointee.minimum {
            results[Int(rule.pointee.lane)] = 0
            if isHard {
                report(
                    .value, lane, "/minProperties", depth - 1, start,
                    "an object of \(MessageText.counted("at least \(rule.pointee.minimum)", "key"))", "\(count)")
            }
        }
        if count > rule.pointee.maximum {
            results[Int(rule.pointee.lane)] = 0
            if isHard {
                report(
                    .value, lane, "/maxProperties", depth - 1, start,
                    "an object of \(MessageText.counted("at most \(rule.pointee.maximum)", "key"))",
                    "\(count)")
            }
        }
    }

    private mutating func checkConstants(
        _ lane: UnsafeMutablePointer<SchemaLane>, _ index: Int, _ frame: UnsafeMutablePointer<SchemaFrame>,
        _ p: BytePointer, _ results: UnsafeMutablePointer<UInt8>, _ depth: Int
    ) {
        for number in [lane.pointee.constant, lane.pointee.enumeration] where number >= 0 {
            let constants = program.constants[Int(number)]
            let known = constants.composites[frame.pointee.digest] ?? []
            let isOne = known.contains { text in
                steps -= (text.count + (p - frame.pointee.start)) / Self.bytesOfStep
                return text.withUnsafeBufferPointer { text in
                    text.baseAddress.map {
                        JSONEquality.areEqual($0, $0 + text.count, frame.pointee.start, p)
                    } ?? false
                }
            }
            if isOne { continue }
            results[index] = 0
            if lane.pointee.isHard { otherThan(number, lane.pointee, depth - 1, frame.pointee.start) }
        }
    }
}
