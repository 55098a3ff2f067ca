/// Derives what the arrays and objects of a state need.
struct PlanBuilder {
    let machine: SchemaMachine
    let program: SchemaProgram
    let state: StatePointer

    private var lanes: UnsafeMutableBufferPointer<SchemaLane> {
        UnsafeMutableBufferPointer(start: state.pointee.lanes, count: state.pointee.laneCount)
    }

    // MARK: Transitions

    /// Collects what a part is validated against.
    private struct Draft {
        var roots: [Int32] = []
        var wires: [(role: SchemaWire.Role, node: Int32, parent: Int32, counter: Int32, evaluates: Bool)] = []
        var evaluators: [UInt64]
        /// The lanes that treat the part as unevaluated, unless another lane evaluates it.
        var unevaluated: [(lane: Int, node: Int32)] = []

        init(_ lanes: Int) { evaluators = Array(repeating: 0, count: (lanes + 63) / 64) }

        mutating func evaluates(_ lane: Int) { evaluators[lane / 64] |= 1 << UInt64(lane % 64) }

        /// A schema that has to hold for the lane to hold.
        mutating func and(_ node: Int32, _ lane: Int, isHard: Bool) {
            if node == SchemaProgram.any { return }
            roots.append(SchemaMachine.root(node, isHard: isHard))
            if !isHard { wires.append((.and, node, Int32(lane), -1, false)) }
        }
    }

    private func finish(_ draft: Draft) -> TransitionPointer {
        var draft = draft
        machine.work += 200 + draft.roots.count * 4 + draft.wires.count * 4
        // Parts that a lane treats as unevaluated count as evaluated for those that apply it.
        for (lane, _) in draft.unevaluated { draft.evaluates(lane) }
        for (lane, node) in draft.unevaluated {
            machine.work += draft.wires.count
            let certain = reached(from: lane, onlyAll: true)
            if certain.contains(where: { draft.evaluators[$0 / 64] >> UInt64($0 % 64) & 1 != 0 }) { continue }
            let possible = reached(from: lane, onlyAll: false)
            let mayBeEvaluated =
                possible.contains { draft.evaluators[$0 / 64] >> UInt64($0 % 64) & 1 != 0 }
                || draft.wires.contains {
                    $0.evaluates && (Int($0.parent) == lane || possible.contains(Int($0.parent)))
                }
            if mayBeEvaluated {
                if node == SchemaProgram.any { continue }
                draft.roots.append(SchemaMachine.root(node, isHard: false))
                draft.wires.append((.unevaluated, node, Int32(lane), -1, false))
            } else {
                draft.and(node, lane, isHard: lanes[lane].isHard)
            }
        }
        if draft.roots.isEmpty, draft.wires.isEmpty { return machine.anyTransition }
        let child = machine.state(draft.roots, program)
        var laneNumbers: [Int32: Int32] = [:]
        for number in 0..<child.pointee.laneCount { laneNumbers[child.pointee.lanes[number].node] = Int32(number) }
        let wires = draft.wires.compactMap { wire -> SchemaWire? in
            guard let lane = laneNumbers[wire.node] else { return nil }
            return SchemaWire(
                role: wire.role, child: lane, parent: wire.parent, counter: wire.counter, evaluates: wire.evaluates)
        }
        var made = SchemaTransition(state: child, wires: machine.arena.copy(wires))
        made.wireCount = wires.count
        made.isSimple = wires.allSatisfy { $0.role != .contains }
        if wires.contains(where: { $0.role == .unevaluated }) { made.evaluators = machine.arena.copy(draft.evaluators) }
        return machine.arena.copy(made)
    }

    /// The lanes that a lane applies to the same value, directly or not; only those that have to hold if it holds, or all
    /// whose annotations may reach it.
    private func reached(from lane: Int, onlyAll: Bool) -> Set<Int> {
        var found: Set<Int> = []
        var open = [lane]
        while let next = open.popLast(), machine.mayWork() {
            machine.work += 1
            for gateIndex in 0..<Int(lanes[next].gateCount) {
                let gate = state.pointee.gates[Int(lanes[next].firstGate) + gateIndex]
                if gate.kind == .not || onlyAll && gate.kind != .all { continue }
                machine.work += Int(gate.count)
                for branch in 0..<Int(gate.count) {
                    let target = Int(state.pointee.branches[Int(gate.first) + branch])
                    if found.insert(target).inserted { open.append(target) }
                }
            }
        }
        return found
    }

    // MARK: Arrays

    func arrayPlan() -> UnsafeMutablePointer<ArrayPlan> {
        var rules: [LaneArray] = []
        var (prefix, counters) = (0, Int32(0))
        for (index, lane) in lanes.enumerated() where lane.array >= 0 {
            let rule = program.arrays[Int(lane.array)]
            prefix = max(prefix, rule.prefix.count)
            rules.append(
                LaneArray(
                    lane: Int32(index), minimum: rule.minimum, maximum: rule.maximum, isUnique: rule.isUnique,
                    counter: rule.contains >= 0 ? counters : -1, minimumContained: rule.minimumContained,
                    maximumContained: rule.maximumContained, asksUnevaluated: rule.unevaluated >= 0))
            if rule.contains >= 0 { counters += 1 }
        }
        var plan = ArrayPlan(
            prefix: machine.arena.copy([TransitionPointer?](repeating: nil, count: prefix)),
            rules: machine.arena.copy(rules))
        (plan.prefixCount, plan.ruleCount, plan.counters) = (prefix, rules.count, Int(counters))
        plan.isUnique = rules.contains(where: \.isUnique)
        return machine.arena.copy(plan)
    }

    /// The transition for an element; those behind all prefixes have the same.
    func element(_ index: Int, _ plan: UnsafeMutablePointer<ArrayPlan>) -> TransitionPointer {
        var draft = Draft(lanes.count)
        machine.work += plan.pointee.ruleCount
        for ruleIndex in 0..<plan.pointee.ruleCount {
            let lane = Int(plan.pointee.rules[ruleIndex].lane)
            let rule = program.arrays[Int(lanes[lane].array)]
            let isHard = lanes[lane].isHard
            var isEvaluated = true
            if index < rule.prefix.count {
                draft.and(rule.prefix[index], lane, isHard: isHard)
            } else if rule.items >= 0 {
                draft.and(rule.items, lane, isHard: isHard)
            } else {
                isEvaluated = false
            }
            if rule.contains >= 0 {
                draft.roots.append(SchemaMachine.root(rule.contains, isHard: false))
                draft.wires.append(
                    (
                        .contains, rule.contains, Int32(lane), plan.pointee.rules[ruleIndex].counter,
                        rule.containsEvaluates
                    ))
            }
            if isEvaluated {
                draft.evaluates(lane)
            } else if rule.unevaluated >= 0 {
                draft.unevaluated.append((lane, rule.unevaluated))
            }
        }
        return finish(draft)
    }

    // MARK: Objects

    func objectPlan() -> UnsafeMutablePointer<ObjectPlan> {
        var keys: [[UInt8]] = []
        var numbers: [[UInt8]: Int32] = [:]
        func number(_ key: [UInt8]) -> Int32 {
            if let known = numbers[key] { return known }
            keys.append(key)
            numbers[key] = Int32(keys.count - 1)
            return Int32(keys.count - 1)
        }
        var rules: [LaneObject] = []
        var patterns: [Int32] = []
        var known: Set<Int32> = []
        var names = Draft(lanes.count)
        for (index, lane) in lanes.enumerated() {
            let node = program.nodes[Int(lane.node)]
            for (gateIndex, gate) in node.gates.enumerated() where gate.kind == .dependent {
                state.pointee.gates[Int(lane.firstGate) + gateIndex].entry = number(gate.key)
            }
            guard lane.object >= 0 else { continue }
            let rule = program.objects[Int(lane.object)]
            // In the order of the names, so that every machine derives the same.
            for key in rule.properties.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { _ = number(key) }
            for (pattern, _) in rule.patterns where known.insert(pattern).inserted { patterns.append(pattern) }
            machine.work += 8 + rule.properties.count * 8 + rule.patterns.count * 2 + rule.required.count * 4
            if rule.names >= 0 { names.and(rule.names, index, isHard: lane.isHard) }
            let needs = rule.required.map(number)
            let dependents = rule.dependentRequired.flatMap { pair in
                let key = number(pair.key)
                return pair.needs.flatMap { [key, number($0)] }
            }
            var made = LaneObject(
                lane: Int32(index), needs: machine.arena.copy(needs), dependents: machine.arena.copy(dependents))
            (made.needCount, made.dependentCount) = (needs.count, dependents.count / 2)
            for need in needs { if need < 64 { made.required |= 1 << UInt64(need) } else { made.isWide = true } }
            (made.minimum, made.maximum) = (rule.minimum, rule.maximum)
            made.asksUnevaluated = rule.unevaluated >= 0
            if made.needCount > 0 || made.dependentCount > 0 || made.minimum > 0 || made.maximum < .max
                || made.asksUnevaluated
            {
                rules.append(made)
            }
        }
        let entries = keys.indices.map { KeyEntry(transition: nil, next: Int32(($0 + 1) % keys.count)) }
        var plan = ObjectPlan(
            keys: SchemaKeys(keys, machine.arena), entries: machine.arena.copy(entries),
            patterns: machine.arena.copy(patterns), rules: machine.arena.copy(rules))
        plan.moreWords = max(0, (keys.count - 1) / 64)
        plan.patternCount = patterns.count
        plan.ruleCount = rules.count
        plan.first = keys.isEmpty ? -1 : 0
        if !names.roots.isEmpty { plan.names = finish(names) }
        let made = machine.arena.copy(plan)
        if patterns.isEmpty {
            made.pointee.other = member(nil, [])
        } else {
            machine.variants.append([:])
            made.pointee.variants = machine.variants.count - 1
        }
        return made
    }

    /// The transition for a member with a key, or with one that no lane names; a bit for each pattern that it matches.
    func member(_ key: [UInt8]?, _ matches: [UInt64], patterns: UnsafeMutablePointer<Int32>? = nil, count: Int = 0)
        -> TransitionPointer
    {
        var matched: Set<Int32> = []
        for bit in 0..<count where matches[bit / 64] >> UInt64(bit % 64) & 1 != 0 {
            if let patterns { matched.insert(patterns[bit]) }
        }
        var draft = Draft(lanes.count)
        machine.work += lanes.count + count
        for (index, lane) in lanes.enumerated() where lane.object >= 0 {
            let rule = program.objects[Int(lane.object)]
            machine.work += rule.patterns.count
            var isEvaluated = false
            if let key, let node = rule.properties[key] {
                draft.and(node, index, isHard: lane.isHard)
                isEvaluated = true
            }
            for (pattern, node) in rule.patterns where matched.contains(pattern) {
                draft.and(node, index, isHard: lane.isHard)
                isEvaluated = true
            }
            if !isEvaluated, rule.additional >= 0 {
                draft.and(rule.additional, index, isHard: lane.isHard)
                isEvaluated = true
            }
            if isEvaluated {
                draft.evaluates(index)
            } else if rule.unevaluated >= 0 {
                draft.unevaluated.append((index, rule.unevaluated))
            }
        }
        return finish(draft)
    }
}
