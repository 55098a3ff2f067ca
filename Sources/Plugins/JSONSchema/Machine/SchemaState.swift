import ErrandJSONValidation

typealias StateIndex = Int32
/// -1 if the transition isn't derived yet.
typealias TransitionIndex = Int32

/// A state: the schemas that a value is validated against at the same time, including the schemas that these apply to
/// the same value. Each schema has a ``SchemaLane``, which comes after the lanes that its result depends on.
///
/// Validation derives a state when a document first needs it, like a state of a lazily determinized automaton.
struct SchemaState {
    var firstLane = 0
    var laneCount = 0
    var firstGate = 0
    var firstBranch = 0
    /// The roots are the lanes of the schemas that the state was derived for, in ascending order.
    var firstRoot = 0
    var rootCount = 0
    /// The steps for applying the state: one per lane and per branch of a gate.
    var cost = 0
    /// The scalar kinds whose values all lanes accept without looking at the value.
    var plain: UInt8 = ValueKind.all
    var wantsHash = false
    var hasArrays = false
    var hasObjects = false
    /// Plans, or -1 before the first array or object.
    var array: Int32 = -1
    var object: Int32 = -1
    /// The tag and index of the tagged gate with the most branches, or -1.
    var tag: Int32 = -1
    var tagGate: Int32 = -1
    /// The index of the first variant, or -1. A tag value's variant is the state that remains for objects with this
    /// value. It's this state if a smaller state isn't worthwhile.
    var firstVariant = -1
}

/// A lane: one of the schemas that a state validates a value against. The lane holds if the value fits the schema.
struct SchemaLane {
    var node: Int32
    /// Whether the document is invalid if the value doesn't fit. Problems of a hard lane are reported at once.
    var isHard: Bool
    var isNever: Bool
    var kinds: UInt8
    var isIntegral: Bool
    var number: Int32
    var string: Int32
    var array: Int32
    var object: Int32
    var constant: Int32
    var enumeration: Int32
    var firstGate: Int32 = 0
    var gateCount: Int32 = 0

    init(_ index: Int32, _ node: SchemaNode, isHard: Bool) {
        self.node = index
        self.isHard = isHard
        isNever = node.isNever
        kinds = node.isNever ? 0 : node.kinds
        isIntegral = node.isIntegral
        (number, string, array, object) = (node.number, node.string, node.array, node.object)
        (constant, enumeration) = (node.constant, node.enumeration)
    }

    /// Returns whether all values of the kind fit. Ignores the lane's gates.
    func isPlain(_ kind: UInt8) -> Bool {
        if kinds & kind == 0 || constant >= 0 || enumeration >= 0 { return false }
        if kind == ValueKind.string { return string < 0 }
        if kind & ValueKind.number != 0 { return number < 0 && (!isIntegral || kind == ValueKind.integer) }
        return true
    }
}

/// A lane's ``SchemaGate``. `first` and `count` are the range of its lanes among the state's branches.
struct LaneGate {
    var kind: SchemaGate.Kind
    var first: Int32
    var count: Int32
    /// The key entry of a dependent schema. Set when the plan for objects is derived.
    var entry: Int32 = -1
    /// -1 without a tag, or if a value of the tag has already reduced the branches.
    var tag: Int32 = -1
}

/// The state for a part of a value, such as an element, and the effect of its results on the whole value.
struct SchemaTransition {
    var state: StateIndex
    var firstWire = 0
    var wireCount = 0
    /// The start of the bits for lanes that always evaluate the part, or -1 if no lane needs them.
    var evaluators = -1
    /// Whether a part that fits all its schemas leaves the results of the whole value unchanged.
    var isSimple = true
}

/// Connects the result of a lane for a part to a lane for the whole value.
struct SchemaWire {
    enum Role: UInt8 { case and, contains, unevaluated }

    var role: Role
    var child: Int32
    var parent: Int32
    var counter: Int32 = -1
    var evaluates = false
}

/// The array rules of all lanes of a state.
struct ArrayPlan {
    var firstPrefix = 0
    var prefixCount = 0
    var rest: TransitionIndex = -1
    var firstRule = 0
    var ruleCount = 0
    var counters = 0
    var isUnique = false
}

struct LaneArray {
    var lane: Int32
    var minimum: Int
    var maximum: Int
    var isUnique: Bool
    var counter: Int32
    var minimumContained: Int
    var maximumContained: Int
    var asksUnevaluated: Bool
}

/// The object rules of all lanes of a state.
struct ObjectPlan {
    var keys: SchemaKeys
    var firstEntry = 0
    /// The words for the bits of keys beyond the first 64.
    var moreWords = 0
    var firstPattern = 0
    var patternCount = 0
    /// For keys that no lane names and no pattern matches.
    var other: TransitionIndex = -1
    /// The start in the machine's `variants` of the transitions for other keys, by the patterns that a key matches.
    var variants = 0
    /// For `propertyNames`, or -1.
    var names: TransitionIndex = -1
    var first: Int32 = -1
    var firstRule = 0
    var ruleCount = 0
}

struct KeyEntry {
    var transition: TransitionIndex
    /// The entry of the key that followed this key in the last object. It's the first guess for the next key.
    var next: Int32
}

/// The checks at the end of an object.
struct LaneObject {
    var lane: Int32
    /// Bits of the required keys among the first 64.
    var required: UInt64 = 0
    /// Required keys, in the arena's `numbers`.
    var firstNeed = 0
    var needCount = 0
    var isWide = false
    /// Pairs of a key and a key that it requires, in the arena's `numbers`.
    var firstDependent = 0
    var dependentCount = 0
    var minimum = 0
    var maximum = Int.max
    var asksUnevaluated = false
}

struct StateBuilder {
    let program: SchemaProgram
    let roots: [Int32]

    init(_ program: SchemaProgram, _ roots: [Int32]) { (self.program, self.roots) = (program, roots) }

    func build(_ arena: inout SchemaArena) -> StateIndex {
        let hard = hardNodes()
        var laneNumbers: [Int32: Int32] = [:]
        var lanes: [SchemaLane] = []
        var gates: [LaneGate] = []
        var branches: [Int32] = []
        for node in ordered() {
            laneNumbers[node] = Int32(lanes.count)
            let rule = program.nodes[Int(node)]
            var lane = SchemaLane(node, rule, isHard: hard.contains(node))
            lane.firstGate = Int32(gates.count)
            for gate in rule.gates {
                // The gates keep their order, because messages find a gate by its index in the node.
                let lanesOfGate = gate.nodes.map { laneNumbers[$0] ?? 0 }
                gates.append(
                    LaneGate(
                        kind: gate.kind, first: Int32(branches.count), count: Int32(lanesOfGate.count), tag: gate.tag))
                branches += lanesOfGate
            }
            lane.gateCount = Int32(gates.count) - lane.firstGate
            lanes.append(lane)
        }
        return Self.state(
            lanes, gates: gates, branches: branches, roots: roots.compactMap { laneNumbers[$0 >> 1] }.sorted(),
            program: program,
            in: &arena)
    }

    static func state(
        _ lanes: [SchemaLane], gates: [LaneGate], branches: [Int32], roots: [Int32], program: SchemaProgram,
        in arena: inout SchemaArena
    ) -> StateIndex {
        var state = SchemaState(
            firstLane: arena.add(lanes), laneCount: lanes.count, firstGate: arena.add(gates),
            firstBranch: arena.addNumbers(branches), firstRoot: arena.addNumbers(roots), rootCount: roots.count)
        state.cost = lanes.count + branches.count
        state.hasArrays = lanes.contains { $0.array >= 0 }
        state.hasObjects = lanes.contains { lane in
            lane.object >= 0 || program.nodes[Int(lane.node)].gates.contains { $0.kind == .dependent }
        }
        state.wantsHash = lanes.contains { lane in
            [lane.constant, lane.enumeration].contains { $0 >= 0 && !program.constants[Int($0)].composites.isEmpty }
        }
        state.plain = plain(lanes, gates)
        for (index, gate) in gates.enumerated() where gate.tag >= 0 {
            // The gate with the most branches gets the tag, because its tag rules out the most branches.
            if state.tag >= 0, gate.count <= gates[Int(state.tagGate)].count { continue }
            (state.tag, state.tagGate) = (gate.tag, Int32(index))
        }
        return arena.add(state)
    }

    private static func plain(_ lanes: [SchemaLane], _ gates: [LaneGate]) -> UInt8 {
        if gates.contains(where: { $0.kind == .not || $0.kind == .one && $0.count > 1 }) { return 0 }
        var plain: UInt8 = 0
        for bit in 0..<6 {
            let kind: UInt8 = 1 << UInt8(bit)
            if lanes.allSatisfy({ $0.isPlain(kind) }) { plain |= kind }
        }
        return plain
    }

    /// Returns the hard roots, and the nodes that they apply unconditionally.
    private func hardNodes() -> Set<Int32> {
        var hard: Set<Int32> = []
        var open = roots.filter { $0 & 1 != 0 }.map { $0 >> 1 }
        while let node = open.popLast() {
            guard hard.insert(node).inserted else { continue }
            for gate in program.nodes[Int(node)].gates where gate.kind == .all { open += gate.nodes }
        }
        return hard
    }

    /// Returns the nodes of all lanes, each after the nodes that it depends on.
    private func ordered() -> [Int32] {
        var order: [Int32] = []
        var known: Set<Int32> = []
        for root in roots where known.insert(root >> 1).inserted {
            var path: [(node: Int32, gate: Int, branch: Int)] = [(root >> 1, 0, 0)]
            while let (node, gate, branch) = path.last {
                let gates = program.nodes[Int(node)].gates
                if gate == gates.count {
                    order.append(node)
                    path.removeLast()
                } else if branch == gates[gate].nodes.count {
                    path[path.count - 1] = (node, gate + 1, 0)
                } else {
                    path[path.count - 1].branch += 1
                    let next = gates[gate].nodes[branch]
                    if known.insert(next).inserted { path.append((next, 0, 0)) }
                }
            }
        }
        return order
    }
}
