import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    /// Opens a frame for an array or an object; whether there is room.
    mutating func open(
        _ frame: UnsafeMutablePointer<SchemaFrame>, _ whole: StatePointer, at p: BytePointer, isObject: Bool,
        hashes: Bool, _ depth: Int
    ) -> Bool {
        containers &+= 1
        let state = isObject && whole.pointee.tag >= 0 && usesTags ? tagged(whole, at: p) : whole
        // Field by field, which is faster than assigning a whole frame.
        let count = state.pointee.laneCount
        frame.pointee.state = state
        frame.pointee.whole = whole
        frame.pointee.transition = machine.anyTransition
        frame.pointee.array = nil
        frame.pointee.object = nil
        frame.pointee.start = p
        frame.pointee.key = p
        frame.pointee.keyEnd = p
        frame.pointee.count = 0
        frame.pointee.seen = 0
        frame.pointee.entry = -1
        frame.pointee.number = containers
        frame.pointee.keysBefore = keys.count
        frame.pointee.uniquesBefore = uniques.count
        frame.pointee.pendingBefore = pending.count
        frame.pointee.isObject = isObject
        frame.pointee.hasEqual = false
        frame.pointee.results = resultTop
        frame.pointee.words = wordTop
        frame.pointee.hashes = hashes || state.pointee.wantsHash || collector != nil
        if frame.pointee.hashes { frame.pointee.digest = valueHash.start(isObject: isObject) }
        if count > 0 {
            steps -= whole.pointee.cost
            if steps < 0 || machine.isFull { return tooMuch(at: p, depth: depth - 1) }
            let room = resultTop + whole.pointee.laneCount
            if room > machine.resultCapacity { machine.growResults(room) }
            let kind = isObject ? ValueKind.object : ValueKind.array
            let results = machine.results + resultTop
            collector?.clear(resultTop..<resultTop + count)
            resultTop += count
            for lane in 0..<count {
                let holds = state.pointee.lanes[lane].kinds & kind != 0
                results[lane] = holds ? 1 : 0
                if !holds, state.pointee.lanes[lane].isHard {
                    mismatch(state.pointee.lanes[lane], depth - 1, at: p)
                }
            }
            var more = 0
            if isObject, state.pointee.hasObjects {
                let plan =
                    state.pointee.object ?? PlanBuilder(machine: machine, program: program, state: state).objectPlan()
                if state.pointee.object == nil { charge() }
                state.pointee.object = plan
                frame.pointee.object = plan
                frame.pointee.entry = -2
                more = plan.pointee.moreWords
            } else if !isObject, state.pointee.hasArrays {
                let plan =
                    state.pointee.array ?? PlanBuilder(machine: machine, program: program, state: state).arrayPlan()
                if state.pointee.array == nil { charge() }
                state.pointee.array = plan
                frame.pointee.array = plan
                more = plan.pointee.counters
                if plan.pointee.isUnique { frame.pointee.hashes = true }
            }
            if more > 0 {
                steps -= more / 8
                if wordTop + more > machine.wordCapacity { machine.growWords(wordTop + more) }
                for word in wordTop..<wordTop + more { machine.words[word] = 0 }
                wordTop += more
            }
        }
        frame.pointee.isQuiet = !frame.pointee.hashes
        return true
    }

    // MARK: Elements

    @inline(__always) mutating func firstElement(_ frame: UnsafeMutablePointer<SchemaFrame>) {
        if frame.pointee.array != nil { nextElement(frame) }
    }

    /// Chooses the transition for the element with the index of the frame.
    @inline(__always) mutating func nextElement(_ frame: UnsafeMutablePointer<SchemaFrame>) {
        guard let plan = frame.pointee.array else { return }
        let index = frame.pointee.count
        if index > plan.pointee.prefixCount { return }
        choose(index, plan, frame)
    }

    @inline(never) private mutating func choose(
        _ index: Int, _ plan: UnsafeMutablePointer<ArrayPlan>, _ frame: UnsafeMutablePointer<SchemaFrame>
    ) {
        let transition: TransitionPointer
        if index < plan.pointee.prefixCount {
            let builder = PlanBuilder(machine: machine, program: program, state: frame.pointee.state)
            transition = plan.pointee.prefix[index] ?? builder.element(index, plan)
            plan.pointee.prefix[index] = transition
        } else {
            let builder = PlanBuilder(machine: machine, program: program, state: frame.pointee.state)
            transition = plan.pointee.rest ?? builder.element(index, plan)
            plan.pointee.rest = transition
        }
        charge()
        frame.pointee.transition = transition
        frame.pointee.isQuiet = transition.pointee.isSimple && !frame.pointee.hashes
    }

    /// Whether what is stored of the text takes no more memory than it may.
    func hasRoom() -> Bool { machine.arena.size &+ uniques.size &+ keys.size <= machine.memoryLimit }

    /// Takes what was derived from the steps.
    @inline(never) mutating func charge() { steps -= machine.takeWork(of: steps) }

    // MARK: Keys

    /// Reads a key; nil if the rest of the text is not read.
    @inline(__always) mutating func readKey(
        _ frame: UnsafeMutablePointer<SchemaFrame>, _ p: BytePointer, _ depth: Int
    ) -> BytePointer? {
        guard let plan = frame.pointee.object else { return readOtherKey(frame, nil, p, depth) }
        let last = Int(frame.pointee.entry)
        let guess = last >= 0 ? Int(plan.pointee.entries[last].next) : last == -2 ? Int(plan.pointee.first) : -1
        if guess >= 0, guess < 64, end - p > 16, plan.pointee.keys.isNext(guess, p + 1, end),
            let transition = plan.pointee.entries[guess].transition, plan.pointee.names == nil
        {
            let bit: UInt64 = 1 << UInt64(guess)
            if frame.pointee.seen & bit != 0 { duplicate(depth, at: p) } else { frame.pointee.count &+= 1 }
            frame.pointee.seen |= bit
            frame.pointee.entry = Int32(guess)
            frame.pointee.transition = transition
            frame.pointee.isQuiet = transition.pointee.isSimple && !frame.pointee.hashes
            let behind = p + Int(plan.pointee.keys.rules[guess].length) + 2
            frame.pointee.keyEnd = behind
            return behind
        }
        return readOtherKey(frame, plan, p, depth)
    }

    /// Reads a key that is not the expected one.
    @inline(never) private mutating func readOtherKey(
        _ frame: UnsafeMutablePointer<SchemaFrame>, _ plan: UnsafeMutablePointer<ObjectPlan>?, _ p: BytePointer,
        _ depth: Int
    ) -> BytePointer? {
        let scan = JSONGrammar.string(p + 1, end)
        if scan.fault != .none {
            stop(scan.fault, at: scan.end, depth: depth - 1)
            return nil
        }
        frame.pointee.keyEnd = scan.end
        let text = JSONText(start: p + 1, end: scan.end - 1)
        let hasEscapes = text.hasEscapes
        let hash = KeyHash.hash(text, hasEscapes: hasEscapes)
        let entry = plan.map { $0.pointee.keys.count == 0 ? -1 : $0.pointee.keys.find(text, hasEscapes, hash) } ?? -1
        if let plan, entry >= 0 {
            let last = Int(frame.pointee.entry)
            if last >= 0 {
                plan.pointee.entries[last].next = Int32(entry)
            } else if last == -2 {
                plan.pointee.first = Int32(entry)
            }
            frame.pointee.entry = Int32(entry)
            if markSeen(frame, entry) { frame.pointee.count &+= 1 } else { duplicate(depth, at: p) }
        } else {
            switch keys.insert(text, hasEscapes: hasEscapes, hash: hash, object: frame.pointee.number) {
            case .new:
                frame.pointee.count &+= 1
                if keys.count & 0xFFF == 0, !hasRoom() {
                    hasTooManyKeys = true
                    _ = tooMuch(at: p, depth: depth)
                    return nil
                }
            case .present: duplicate(depth, at: p)
            case .full:
                hasTooManyKeys = true
                tooManyKeys(at: p, depth: depth)
                return nil
            }
        }
        guard let plan else { return scan.end }
        guard let transition = transition(frame, plan, entry, text, hasEscapes, p, depth) else { return nil }
        frame.pointee.transition = transition
        frame.pointee.isQuiet = transition.pointee.isSimple && !frame.pointee.hashes
        if let names = plan.pointee.names { guard settleName(names, frame, p, scan.end, depth) else { return nil } }
        return scan.end
    }

    /// Notes that a key of the plan was found; false if it was before.
    private func markSeen(_ frame: UnsafeMutablePointer<SchemaFrame>, _ entry: Int) -> Bool {
        if hasSeen(frame, entry) { return false }
        if entry < 64 {
            frame.pointee.seen |= 1 << UInt64(entry)
        } else {
            machine.words[frame.pointee.words + entry / 64 - 1] |= 1 << (entry % 64)
        }
        return true
    }

    @inline(__always) func hasSeen(_ frame: UnsafeMutablePointer<SchemaFrame>, _ entry: Int) -> Bool {
        entry < 64
            ? frame.pointee.seen >> UInt64(entry) & 1 != 0
            : machine.words[frame.pointee.words + entry / 64 - 1] >> (entry % 64) & 1 != 0
    }

    private mutating func transition(
        _ frame: UnsafeMutablePointer<SchemaFrame>, _ plan: UnsafeMutablePointer<ObjectPlan>, _ entry: Int,
        _ text: JSONText, _ hasEscapes: Bool, _ p: BytePointer, _ depth: Int
    ) -> TransitionPointer? {
        let builder = PlanBuilder(machine: machine, program: program, state: frame.pointee.state)
        if entry >= 0 {
            if let known = plan.pointee.entries[entry].transition { return known }
        } else if let other = plan.pointee.other {
            return other
        }
        let count = plan.pointee.patternCount
        var matches = [UInt64](repeating: 0, count: (count + 63) / 64)
        for bit in 0..<count {
            switch match(plan.pointee.patterns[bit], text, hasEscapes) {
            case .matches: matches[bit / 64] |= 1 << UInt64(bit % 64)
            case .differs: break
            case .exceeded:
                let (expected, found) = patternLimit(text)
                problems.stop(
                    .limit, pointer: pointer(depth - 1), expected: expected, found: found, offset: p - base)
                return nil
            }
        }
        defer { charge() }
        if entry >= 0 {
            let key = Array(plan.pointee.keys.bytes(entry))
            let made = builder.member(key, matches, patterns: plan.pointee.patterns, count: count)
            plan.pointee.entries[entry].transition = made
            return made
        }
        if let known = machine.variants[plan.pointee.variants][matches] { return known }
        let made = builder.member(nil, matches, patterns: plan.pointee.patterns, count: count)
        machine.variants[plan.pointee.variants][matches] = made
        machine.arena.count(128 + matches.count * 8)
        return made
    }
}
