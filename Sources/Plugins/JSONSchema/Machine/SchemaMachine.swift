import ErrandJSONValidation

/// The memory of a validation: its stacks, and the states that it derives from a schema when it needs them. Only one
/// validation at a time uses a machine. Later validations can reuse the machine.
struct SchemaMachine {
    /// The maximum number of bytes that a reusable machine may gain.
    private static let keptBytes = 16 << 20
    /// The state that every value fits.
    static let any: StateIndex = 0
    static let anyTransition: TransitionIndex = 0

    var arena = SchemaArena()
    private var states: [[Int32]: StateIndex] = [:]
    var variants: [[[UInt64]: TransitionIndex]] = []

    var frames = FrameStack(repeating: SchemaFrame())
    var results = [UInt8](repeating: 0, count: 1024)
    var words = [Int](repeating: 0, count: 256)
    var patterns = PatternMachine()

    // The program's rules for scalars. They're copied without references to objects, so using them doesn't retain
    // objects.
    let strings: [StringCheck]
    let numbers: [NumberCheck]
    let constants: [ConstantCheck]
    var patternTables: [PatternTable?]
    let tags: [SchemaTagTable]

    struct StringCheck {
        var minimum: Int
        var maximum: Int
        var pattern: Int32
        var format: JSONFormat?
    }

    struct NumberCheck {
        var least: Int64
        var most: Int64
        var isFast: Bool
    }

    struct ConstantCheck {
        var literals: UInt8
        var kinds: UInt8
        var keys: SchemaKeys
    }

    init(_ program: SchemaProgram) {
        strings = program.strings.map {
            StringCheck(minimum: $0.minimum, maximum: $0.maximum, pattern: $0.pattern, format: $0.format)
        }
        numbers = program.numbers.map { NumberCheck(least: $0.least, most: $0.most, isFast: $0.isFast) }
        patternTables = program.patterns.map { _ in nil }
        var arena = SchemaArena()
        _ = arena.add(SchemaState())
        _ = arena.add(SchemaTransition(state: Self.any))
        tags = program.tags.map { SchemaTagTable($0, &arena) }
        constants = program.constants.map {
            ConstantCheck(
                literals: $0.literals, kinds: $0.kinds, keys: arena.addKeys($0.strings.values.flatMap { $0 }))
        }
        arena.count(
            strings.count * MemoryLayout<StringCheck>.stride + numbers.count * MemoryLayout<NumberCheck>.stride
                + constants.count * MemoryLayout<ConstantCheck>.stride + tags.count
                * MemoryLayout<SchemaTagTable>.stride)
        self.arena = arena
        constantBytes = arena.size
    }

    /// Whether the machine is too large or incomplete to be reused.
    var isLarge: Bool {
        arena.size > Self.keptBytes + constantBytes || frames.capacity > 4_096 || results.count > 1 << 20 || isExhausted
    }
    var isFull: Bool { arena.size > memoryLimit }
    private(set) var memoryLimit = Int.max
    var work = 0
    private var workLimit = Int.max
    private(set) var isExhausted = false
    private let constantBytes: Int

    /// Returns whether there is room for an optional state. Optional states may take only half of the memory that a
    /// reusable machine may gain.
    func hasRoom(for bytes: Int) -> Bool {
        arena.size + bytes <= memoryLimit && arena.size <= constantBytes + Self.keptBytes / 2
    }

    mutating func begin(_ limits: JSONLimits) {
        let (limit, overflows) = arena.size.addingReportingOverflow(limits.maximumMemoryBytes)
        memoryLimit = overflows ? .max : limit
        (work, workLimit) = (0, limits.maximumSteps)
        frames.truncate(to: 0)
    }

    /// Returns the steps spent since the last call, and limits deriving to the rest of the given steps.
    mutating func takeWork(of steps: Int) -> Int {
        defer { (work, workLimit) = (0, max(0, steps - work)) }
        return work
    }

    /// If no steps are left, the machine isn't reused, because its states are incomplete.
    mutating func mayWork() -> Bool {
        if work <= workLimit { return true }
        isExhausted = true
        return false
    }

    mutating func growResults(_ needed: Int) {
        arena.count(needed * 2 - results.count)
        results += [UInt8](repeating: 0, count: needed * 2 - results.count)
    }

    mutating func growWords(_ needed: Int) {
        arena.count((needed * 2 - words.count) * 8)
        words += [Int](repeating: 0, count: needed * 2 - words.count)
    }

    // MARK: States

    /// Encodes a schema that a state is derived for. See ``SchemaLane`` for hard lanes.
    static func root(_ node: Int32, isHard: Bool) -> Int32 { node << 1 | (isHard ? 1 : 0) }

    /// Returns the state for roots in any order, and derives it if it's new.
    mutating func state(_ roots: [Int32], _ program: SchemaProgram) -> StateIndex {
        var sorted: [Int32] = []
        for root in roots.sorted() {
            // A hard root replaces another root of the same node.
            if let last = sorted.last, last >> 1 == root >> 1 { sorted.removeLast() }
            sorted.append(root)
        }
        sorted.removeAll { $0 == Self.root(SchemaProgram.any, isHard: true) }
        if sorted.isEmpty { return Self.any }
        if let known = states[sorted] { return known }
        let made = StateBuilder(program, sorted).build(&arena)
        work += 64 + sorted.count * 4 + arena.states[Int(made)].cost * 8
        arena.count(64 + sorted.count * 4)
        states[sorted] = made
        return made
    }
}

extension SchemaMachine {
    // MARK: Transitions

    private struct Draft {
        var roots: [Int32] = []
        var wires: [(role: SchemaWire.Role, node: Int32, parent: Int32, counter: Int32, evaluates: Bool)] = []
        var evaluators: [UInt64]
        /// Lanes with a schema for unevaluated parts, which applies unless another lane evaluates the part.
        var unevaluated: [(lane: Int, node: Int32)] = []

        init(_ lanes: Int) { evaluators = Array(repeating: 0, count: (lanes + 63) / 64) }

        mutating func evaluates(_ lane: Int) { evaluators[lane / 64] |= 1 << UInt64(lane % 64) }

        /// Adds a schema that the part must fit for the lane to hold.
        mutating func and(_ node: Int32, _ lane: Int, isHard: Bool) {
            if node == SchemaProgram.any { return }
            roots.append(SchemaMachine.root(node, isHard: isHard))
            if !isHard { wires.append((.and, node, Int32(lane), -1, false)) }
        }
    }

    private mutating func finish(
        _ draft: Draft, of state: StateIndex, lanes: [SchemaLane], program: SchemaProgram
    ) -> TransitionIndex {
        var draft = draft
        work += 200 + draft.roots.count * 4 + draft.wires.count * 4
        // If a lane has a schema for unevaluated parts, this schema evaluates the part. The part is then evaluated for
        // all lanes that apply this lane's schema.
        for (lane, _) in draft.unevaluated { draft.evaluates(lane) }
        for (lane, node) in draft.unevaluated {
            work += draft.wires.count
            let certain = reached(from: lane, onlyAll: true, state, lanes)
            if certain.contains(where: { draft.evaluators[$0 / 64] >> UInt64($0 % 64) & 1 != 0 }) { continue }
            let possible = reached(from: lane, onlyAll: false, state, lanes)
            let mayBeEvaluated =
                possible.contains { draft.evaluators[$0 / 64] >> UInt64($0 % 64) & 1 != 0 }
                || draft.wires.contains {
                    $0.evaluates && (Int($0.parent) == lane || possible.contains(Int($0.parent)))
                }
            if mayBeEvaluated {
                if node == SchemaProgram.any { continue }
                draft.roots.append(Self.root(node, isHard: false))
                draft.wires.append((.unevaluated, node, Int32(lane), -1, false))
            } else {
                draft.and(node, lane, isHard: lanes[lane].isHard)
            }
        }
        if draft.roots.isEmpty, draft.wires.isEmpty { return Self.anyTransition }
        let child = self.state(draft.roots, program)
        var laneNumbers: [Int32: Int32] = [:]
        for (number, lane) in arena.lanes(of: child).enumerated() { laneNumbers[lane.node] = Int32(number) }
        let wires = draft.wires.compactMap { wire -> SchemaWire? in
            guard let lane = laneNumbers[wire.node] else { return nil }
            return SchemaWire(
                role: wire.role, child: lane, parent: wire.parent, counter: wire.counter, evaluates: wire.evaluates)
        }
        var made = SchemaTransition(state: child, firstWire: arena.add(wires))
        made.wireCount = wires.count
        made.isSimple = wires.allSatisfy { $0.role != .contains }
        if wires.contains(where: { $0.role == .unevaluated }) {
            made.evaluators = arena.addEvaluators(draft.evaluators)
        }
        return arena.add(made)
    }

    /// Returns the lanes whose schemas a lane's schema applies to the same value, directly or indirectly. `onlyAll`
    /// limits them to lanes that hold whenever the given lane holds.
    private mutating func reached(
        from lane: Int, onlyAll: Bool, _ state: StateIndex, _ lanes: [SchemaLane]
    ) -> Set<Int> {
        var found: Set<Int> = []
        var open = [lane]
        while let next = open.popLast(), mayWork() {
            work += 1
            for gateIndex in 0..<Int(lanes[next].gateCount) {
                let gate = arena.gate(gateIndex, of: lanes[next], state)
                if gate.kind == .not || onlyAll && gate.kind != .all { continue }
                work += Int(gate.count)
                for branch in 0..<Int(gate.count) {
                    let target = Int(arena.branch(branch, of: gate, state))
                    if found.insert(target).inserted { open.append(target) }
                }
            }
        }
        return found
    }

    // MARK: Arrays

    mutating func makeArrayPlan(_ state: StateIndex, _ program: SchemaProgram) {
        let lanes = Array(arena.lanes(of: state))
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
        var plan = ArrayPlan(firstPrefix: arena.addIndexes(prefix), firstRule: arena.add(rules))
        (plan.prefixCount, plan.ruleCount, plan.counters) = (prefix, rules.count, Int(counters))
        plan.isUnique = rules.contains(where: \.isUnique)
        arena.states[Int(state)].array = arena.add(plan)
    }

    /// All elements after the longest prefix share one transition.
    mutating func element(
        _ index: Int, in plan: ArrayPlan, of state: StateIndex, program: SchemaProgram
    ) -> TransitionIndex {
        let lanes = Array(arena.lanes(of: state))
        var draft = Draft(lanes.count)
        work += plan.ruleCount
        for laneRule in arena.arrayRules[plan.firstRule..<plan.firstRule + plan.ruleCount] {
            let lane = Int(laneRule.lane)
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
                draft.roots.append(Self.root(rule.contains, isHard: false))
                draft.wires.append(
                    (
                        .contains, rule.contains, Int32(lane), laneRule.counter,
                        rule.containsEvaluates
                    ))
            }
            if isEvaluated {
                draft.evaluates(lane)
            } else if rule.unevaluated >= 0 {
                draft.unevaluated.append((lane, rule.unevaluated))
            }
        }
        return finish(draft, of: state, lanes: lanes, program: program)
    }

    // MARK: Objects

    /// Numbers keys in the order of their first use.
    private struct KeyNumbering {
        private(set) var keys: [[UInt8]] = []
        private var numbers: [[UInt8]: Int32] = [:]

        mutating func number(_ key: [UInt8]) -> Int32 {
            if let known = numbers[key] { return known }
            keys.append(key)
            numbers[key] = Int32(keys.count - 1)
            return Int32(keys.count - 1)
        }
    }

    mutating func makeObjectPlan(_ state: StateIndex, _ program: SchemaProgram) {
        let lanes = Array(arena.lanes(of: state))
        let firstGate = arena.states[Int(state)].firstGate
        var numbering = KeyNumbering()
        var rules: [LaneObject] = []
        var patterns: [Int32] = []
        var known: Set<Int32> = []
        var names = Draft(lanes.count)
        for (index, lane) in lanes.enumerated() {
            let node = program.nodes[Int(lane.node)]
            for (gateIndex, gate) in node.gates.enumerated() where gate.kind == .dependent {
                arena.gates[firstGate + Int(lane.firstGate) + gateIndex].entry = numbering.number(gate.key)
            }
            guard lane.object >= 0 else { continue }
            let rule = program.objects[Int(lane.object)]
            // The keys are sorted, so every machine derives the same plan.
            for key in rule.properties.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                _ = numbering.number(key)
            }
            for (pattern, _) in rule.patterns where known.insert(pattern).inserted { patterns.append(pattern) }
            work += 8 + rule.properties.count * 8 + rule.patterns.count * 2 + rule.required.count * 4
            if rule.names >= 0 { names.and(rule.names, index, isHard: lane.isHard) }
            let made = makeRule(rule, lane: index, &numbering)
            if made.needCount > 0 || made.dependentCount > 0 || made.minimum > 0 || made.maximum < .max
                || made.asksUnevaluated
            {
                rules.append(made)
            }
        }
        let keys = numbering.keys
        let entries = keys.indices.map { KeyEntry(transition: -1, next: Int32(($0 + 1) % keys.count)) }
        var plan = ObjectPlan(
            keys: arena.addKeys(keys), firstEntry: arena.add(entries), firstPattern: arena.addNumbers(patterns),
            firstRule: arena.add(rules))
        plan.moreWords = max(0, (keys.count - 1) / 64)
        plan.patternCount = patterns.count
        plan.ruleCount = rules.count
        plan.first = keys.isEmpty ? -1 : 0
        if !names.roots.isEmpty { plan.names = finish(names, of: state, lanes: lanes, program: program) }
        if patterns.isEmpty {
            plan.other = member(nil, matching: [], in: plan, of: state, program)
        } else {
            variants.append([:])
            plan.variants = variants.count - 1
        }
        arena.states[Int(state)].object = arena.add(plan)
    }

    private mutating func makeRule(
        _ rule: SchemaObjectRule, lane: Int, _ numbering: inout KeyNumbering
    ) -> LaneObject {
        let needs = rule.required.map { numbering.number($0) }
        let dependents = rule.dependentRequired.flatMap { pair in
            let key = numbering.number(pair.key)
            return pair.needs.flatMap { [key, numbering.number($0)] }
        }
        var made = LaneObject(
            lane: Int32(lane), firstNeed: arena.addNumbers(needs), needCount: needs.count,
            firstDependent: arena.addNumbers(dependents), dependentCount: dependents.count / 2)
        for need in needs { if need < 64 { made.required |= 1 << UInt64(need) } else { made.isWide = true } }
        (made.minimum, made.maximum) = (rule.minimum, rule.maximum)
        made.asksUnevaluated = rule.unevaluated >= 0
        return made
    }

    /// `key` is `nil` for any key that no lane names. `matches` has one bit for each pattern that the key matches.
    mutating func member(
        _ key: [UInt8]?, matching matches: [UInt64], in plan: ObjectPlan, of state: StateIndex, _ program: SchemaProgram
    ) -> TransitionIndex {
        let lanes = Array(arena.lanes(of: state))
        var matched: Set<Int32> = []
        for bit in 0..<plan.patternCount where matches[bit / 64] >> UInt64(bit % 64) & 1 != 0 {
            matched.insert(arena.numbers[plan.firstPattern + bit])
        }
        var draft = Draft(lanes.count)
        work += lanes.count + plan.patternCount
        for (index, lane) in lanes.enumerated() where lane.object >= 0 {
            let rule = program.objects[Int(lane.object)]
            work += rule.patterns.count
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
        return finish(draft, of: state, lanes: lanes, program: program)
    }
}
