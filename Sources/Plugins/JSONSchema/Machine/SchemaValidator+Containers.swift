import ErrandJSONSyntax
import ErrandJSONValidation

extension SchemaValidator {
    /// Adds a frame for an array or object, and prepares the results of its lanes. Returns `false` if a limit is
    /// exceeded.
    mutating func open(
        _ text: Span<UInt8>, _ whole: StateIndex, at p: Int, isObject: Bool, hashes: Bool, depth: Int
    ) -> Bool {
        containers &+= 1
        let isTagged = isObject && usesTags && machine.arena.states[Int(whole)].tag >= 0
        let state = isTagged ? tagged(text, whole, at: p) : whole
        let count = machine.arena.states[Int(state)].laneCount
        machine.frames.push(frame)
        frame.state = state
        frame.whole = whole
        frame.transition = SchemaMachine.anyTransition
        frame.part = SchemaMachine.any
        frame.array = -1
        frame.object = -1
        frame.entry = -1
        frame.isObject = isObject
        frame.hasEqual = false
        frame.start = p
        frame.key = p
        frame.keyEnd = p
        frame.count = 0
        frame.seen = 0
        frame.number = containers
        frame.keysBefore = Int32(truncatingIfNeeded: keys.count)
        frame.uniquesBefore = Int32(truncatingIfNeeded: uniques.count)
        frame.pendingBefore = pending.count
        frame.results = resultTop
        frame.words = wordTop
        frame.hashes = hashes || collector != nil || machine.arena.states[Int(state)].wantsHash
        if frame.hashes { frame.digest = valueHash.start(isObject: isObject) }
        if count > 0 {
            guard beginLanes(text, at: p, count: count, depth: depth) else { return false }
        }
        frame.isQuiet = !frame.hashes
        return true
    }

    private mutating func beginLanes(_ text: Span<UInt8>, at p: Int, count: Int, depth: Int) -> Bool {
        let (state, isObject) = (frame.state, frame.isObject)
        steps -= machine.arena.states[Int(frame.whole)].cost
        if steps < 0 || machine.isFull { return tooMuch(text, at: p, depth: depth - 1) }
        let room = resultTop + machine.arena.states[Int(frame.whole)].laneCount
        if room > machine.results.count { machine.growResults(room) }
        let kind = isObject ? ValueKind.object : ValueKind.array
        let results = resultTop
        collector?.clear(results..<results + count)
        resultTop += count
        let firstLane = machine.arena.states[Int(state)].firstLane
        for index in 0..<count {
            let lane = firstLane &+ index
            let holds = machine.arena.lanes[lane].kinds & kind != 0
            machine.results[results &+ index] = holds ? 1 : 0
            if !holds, machine.arena.lanes[lane].isHard {
                mismatch(text, of: machine.arena.lanes[lane], depth: depth - 1, at: p)
            }
        }
        var more = 0
        if isObject, machine.arena.states[Int(state)].hasObjects {
            if machine.arena.states[Int(state)].object < 0 {
                machine.makeObjectPlan(state, program)
                charge()
            }
            frame.object = machine.arena.states[Int(state)].object
            frame.entry = -2
            more = machine.arena.objectPlans[Int(frame.object)].moreWords
        } else if !isObject, machine.arena.states[Int(state)].hasArrays {
            if machine.arena.states[Int(state)].array < 0 {
                machine.makeArrayPlan(state, program)
                charge()
            }
            frame.array = machine.arena.states[Int(state)].array
            more = machine.arena.arrayPlans[Int(frame.array)].counters
            if machine.arena.arrayPlans[Int(frame.array)].isUnique { frame.hashes = true }
        }
        if more > 0 {
            steps -= more / 8
            if wordTop + more > machine.words.count { machine.growWords(wordTop + more) }
            for word in wordTop..<wordTop + more { machine.words[word] = 0 }
            wordTop += more
        }
        return true
    }

    @inline(__always) mutating func leaveFrame() { frame = machine.frames.pop() }

    @inline(__always) mutating func take(_ transition: TransitionIndex) {
        frame.transition = transition
        frame.part = machine.arena.transitions[Int(transition)].state
        frame.isQuiet = machine.arena.transitions[Int(transition)].isSimple && !frame.hashes
    }

    // MARK: Elements

    @inline(__always) mutating func firstElement() {
        if frame.array >= 0 { nextElement() }
    }

    @inline(__always) mutating func nextElement() {
        if frame.array < 0 || frame.count > machine.arena.arrayPlans[Int(frame.array)].prefixCount { return }
        choose(frame.count, Int(frame.array))
    }

    @inline(never) private mutating func choose(_ index: Int, _ plan: Int) {
        let found = machine.arena.arrayPlans[plan]
        let place = found.firstPrefix + index
        let isPrefix = index < found.prefixCount
        var transition = isPrefix ? machine.arena.indexes[place] : found.rest
        if transition < 0 {
            transition = machine.element(index, in: found, of: frame.state, program: program)
            if isPrefix {
                machine.arena.indexes[place] = transition
            } else {
                machine.arena.arrayPlans[plan].rest = transition
            }
        }
        charge()
        take(transition)
    }

    func hasRoom() -> Bool { machine.arena.size &+ uniques.size &+ keys.size <= machine.memoryLimit }

    @inline(never) mutating func charge() { steps -= machine.takeWork(of: steps) }

    // MARK: Keys

    /// Returns the index after the key, or `nil` if reading stopped.
    @inline(__always) mutating func readKey(_ text: Span<UInt8>, at p: Int, depth: Int) -> Int? {
        guard frame.object >= 0 else { return readOtherKey(text, at: p, depth: depth) }
        let plan = machine.arena.objectPlans[Int(frame.object)]
        let last = Int(frame.entry)
        let guess =
            last >= 0 ? Int(machine.arena.entries[plan.firstEntry &+ last].next) : last == -2 ? Int(plan.first) : -1
        if guess >= 0, guess < 64, text.count &- p > 16, plan.names < 0,
            machine.arena.keys.isNext(guess, of: plan.keys, in: text, at: p &+ 1)
        {
            let transition = machine.arena.entries[plan.firstEntry &+ guess].transition
            if transition >= 0 {
                let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: guess)
                if frame.seen & bit != 0 { duplicate(text, depth, at: p) } else { frame.count &+= 1 }
                frame.seen |= bit
                frame.entry = Int32(truncatingIfNeeded: guess)
                take(transition)
                let behind = p &+ machine.arena.keys.length(guess, of: plan.keys) &+ 2
                frame.keyEnd = behind
                return behind
            }
        }
        return readOtherKey(text, at: p, depth: depth)
    }

    @inline(never) private mutating func readOtherKey(_ text: Span<UInt8>, at p: Int, depth: Int) -> Int? {
        let scan = JSONGrammar.string(in: text, from: p + 1)
        if scan.fault != .none {
            stop(text, scan.fault, at: scan.index, depth: depth - 1)
            return nil
        }
        frame.keyEnd = scan.index
        let content = JSONContent(p + 1, scan.index - 1)
        let hasEscapes = content.hasEscapes(in: text)
        let hash = KeyHash.hash(text, content, hasEscapes: hasEscapes)
        let plan = frame.object < 0 ? nil : machine.arena.objectPlans[Int(frame.object)]
        var entry = -1
        if let plan, plan.keys.count > 0 {
            entry = machine.arena.keys.find(text, content, in: plan.keys, hasEscapes: hasEscapes, hash: hash)
        }
        if let plan, entry >= 0 {
            let last = Int(frame.entry)
            if last >= 0 {
                machine.arena.entries[plan.firstEntry + last].next = Int32(entry)
            } else if last == -2 {
                machine.arena.objectPlans[Int(frame.object)].first = Int32(entry)
            }
            frame.entry = Int32(entry)
            if markSeen(entry) { frame.count &+= 1 } else { duplicate(text, depth, at: p) }
        } else {
            switch keys.insert(text, content, hasEscapes: hasEscapes, hash: hash, object: frame.number) {
            case .new:
                frame.count &+= 1
                if keys.count & 0xFFF == 0, !hasRoom() {
                    hasTooManyKeys = true
                    _ = tooMuch(text, at: p, depth: depth)
                    return nil
                }
            case .present: duplicate(text, depth, at: p)
            case .full:
                hasTooManyKeys = true
                tooManyKeys(text, at: p, depth: depth)
                return nil
            }
        }
        guard let plan else { return scan.index }
        guard let transition = transition(text, entry: entry, content, hasEscapes: hasEscapes, at: p, depth: depth)
        else { return nil }
        take(transition)
        if plan.names >= 0 { guard settleName(text, plan.names, in: p..<scan.index, depth: depth) else { return nil } }
        return scan.index
    }

    private mutating func markSeen(_ entry: Int) -> Bool {
        if hasSeen(entry) { return false }
        if entry < 64 {
            frame.seen |= 1 << UInt64(entry)
        } else {
            machine.words[frame.words + entry / 64 - 1] |= 1 << (entry % 64)
        }
        return true
    }

    @inline(__always) func hasSeen(_ entry: Int) -> Bool {
        entry < 64
            ? frame.seen >> UInt64(entry) & 1 != 0
            : machine.words[frame.words + entry / 64 - 1] >> (entry % 64) & 1 != 0
    }

    private mutating func transition(
        _ text: Span<UInt8>, entry: Int, _ content: JSONContent, hasEscapes: Bool, at p: Int, depth: Int
    ) -> TransitionIndex? {
        let plan = machine.arena.objectPlans[Int(frame.object)]
        if entry >= 0 {
            let known = machine.arena.entries[plan.firstEntry + entry].transition
            if known >= 0 { return known }
        } else if plan.other >= 0 {
            return plan.other
        }
        var matches = [UInt64](repeating: 0, count: (plan.patternCount + 63) / 64)
        for bit in 0..<plan.patternCount {
            switch match(text, machine.arena.numbers[plan.firstPattern + bit], at: content, hasEscapes: hasEscapes) {
            case .matches: matches[bit / 64] |= 1 << UInt64(bit % 64)
            case .differs: break
            case .exceeded:
                let (expected, found) = patternLimit(content)
                problems.stop(
                    .limit, pointer: pointer(text, depth - 1), expected: expected, found: found, offset: p)
                return nil
            }
        }
        defer { charge() }
        if entry >= 0 {
            let key = Array(machine.arena.keys.bytes(entry, of: plan.keys))
            let made = machine.member(key, matching: matches, in: plan, of: frame.state, program)
            machine.arena.entries[plan.firstEntry + entry].transition = made
            return made
        }
        if let known = machine.variants[plan.variants][matches] { return known }
        let made = machine.member(nil, matching: matches, in: plan, of: frame.state, program)
        machine.variants[plan.variants][matches] = made
        machine.arena.count(128 + matches.count * 8)
        return made
    }
}
