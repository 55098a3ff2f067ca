import ErrandJSONValidation

/// Stores the states that a machine has derived and their parts, in one array for each type. The parts refer to each
/// other by index.
struct SchemaArena {
    var states: [SchemaState] = []
    private(set) var lanes: [SchemaLane] = []
    var gates: [LaneGate] = []
    var transitions: [SchemaTransition] = []
    private(set) var wires: [SchemaWire] = []
    private(set) var evaluators: [UInt64] = []
    var arrayPlans: [ArrayPlan] = []
    private(set) var arrayRules: [LaneArray] = []
    var objectPlans: [ObjectPlan] = []
    private(set) var objectRules: [LaneObject] = []
    var entries: [KeyEntry] = []
    /// The transitions for array prefixes, and the states for tag values.
    var indexes: [Int32] = []
    /// Lists of indexes: the branches of gates, the lanes of roots, the keys of rules, and patterns.
    private(set) var numbers: [Int32] = []
    var keys = SchemaKeyTables()
    private(set) var size = 0

    mutating func count(_ bytes: Int) { size += bytes }

    private mutating func count<Element>(_ elements: [Element]) {
        size += max(16, elements.count * MemoryLayout<Element>.stride)
    }

    // Each method returns the index of the first added element.

    mutating func add(_ new: [SchemaLane]) -> Int { add(new, to: \.lanes) }
    mutating func add(_ new: [LaneGate]) -> Int { add(new, to: \.gates) }
    mutating func add(_ new: [SchemaWire]) -> Int { add(new, to: \.wires) }
    mutating func add(_ new: [LaneArray]) -> Int { add(new, to: \.arrayRules) }
    mutating func add(_ new: [LaneObject]) -> Int { add(new, to: \.objectRules) }
    mutating func add(_ new: [KeyEntry]) -> Int { add(new, to: \.entries) }
    mutating func addEvaluators(_ new: [UInt64]) -> Int { add(new, to: \.evaluators) }
    mutating func addNumbers(_ new: [Int32]) -> Int { add(new, to: \.numbers) }
    mutating func addIndexes(_ count: Int) -> Int { add([Int32](repeating: -1, count: count), to: \.indexes) }
    mutating func add(_ state: SchemaState) -> StateIndex { StateIndex(add([state], to: \.states)) }
    mutating func add(_ new: SchemaTransition) -> TransitionIndex { TransitionIndex(add([new], to: \.transitions)) }
    mutating func add(_ plan: ArrayPlan) -> Int32 { Int32(add([plan], to: \.arrayPlans)) }
    mutating func add(_ plan: ObjectPlan) -> Int32 { Int32(add([plan], to: \.objectPlans)) }

    mutating func addKeys(_ new: [[UInt8]]) -> SchemaKeys {
        let (keys, bytes) = keys.add(new)
        size += bytes
        return keys
    }

    private mutating func add<Element>(_ new: [Element], to path: WritableKeyPath<SchemaArena, [Element]>) -> Int {
        count(new)
        let first = self[keyPath: path].count
        self[keyPath: path] += new
        return first
    }

    // MARK: Access

    @inline(__always) func lane(_ index: Int, of state: StateIndex) -> SchemaLane {
        lanes[states[Int(state)].firstLane &+ index]
    }

    @inline(__always) func gate(_ index: Int, of lane: SchemaLane, _ state: StateIndex) -> LaneGate {
        gates[states[Int(state)].firstGate &+ Int(lane.firstGate) &+ index]
    }

    @inline(__always) func branch(_ index: Int, of gate: LaneGate, _ state: StateIndex) -> Int32 {
        numbers[states[Int(state)].firstBranch &+ Int(gate.first) &+ index]
    }

    func lanes(of state: StateIndex) -> ArraySlice<SchemaLane> {
        let state = states[Int(state)]
        return lanes[state.firstLane..<state.firstLane + state.laneCount]
    }

    func roots(of state: StateIndex) -> ArraySlice<Int32> {
        let state = states[Int(state)]
        return numbers[state.firstRoot..<state.firstRoot + state.rootCount]
    }
}
