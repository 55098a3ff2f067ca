import ErrandJSONValidation

/// A pointer to a state; the machine owns what it leads to.
typealias StatePointer = UnsafeMutablePointer<SchemaState>
typealias TransitionPointer = UnsafeMutablePointer<SchemaTransition>

/// The schemas that one value is validated against at the same time, with everything that they apply to the same value: a
/// lane for each, in an order in which each one comes behind those that its own result depends on.
///
/// States are derived when a document first needs them, as those of a lazily determinised automaton are.
struct SchemaState {
    var lanes: UnsafeMutablePointer<SchemaLane>
    var laneCount = 0
    var gates: UnsafeMutablePointer<LaneGate>
    /// The lanes that gates refer to.
    var branches: UnsafeMutablePointer<Int32>
    /// The lanes that others refer to, ascending.
    var roots: UnsafeMutablePointer<Int32>?
    var rootCount = 0
    /// The steps that applying it takes: its lanes, and what their gates refer to.
    var cost = 0
    /// The scalar kinds of which every value fits all lanes.
    var plain: UInt8 = ValueKind.all
    /// Whether a lane compares arrays or objects with constants.
    var wantsHash = false
    /// Whether a lane has rules for arrays or for objects.
    var hasArrays = false
    var hasObjects = false
    /// The rules for arrays and objects, derived at the first array and at the first object.
    var array: UnsafeMutablePointer<ArrayPlan>?
    var object: UnsafeMutablePointer<ObjectPlan>?
    /// The tag of the gate with most branches among those that have one, and this gate; -1 without one.
    var tag: Int32 = -1
    var tagGate: Int32 = -1
    /// By the number of a value of the tag, what remains of the state for an object with it, once that is derived: the state
    /// itself where it is not worth it.
    var variants: UnsafeMutablePointer<StatePointer?>?
}

/// One schema among those for a value.
struct SchemaLane {
    var node: Int32
    /// Whether the document is invalid if this schema does not hold: problems are reported at once.
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

    /// Whether every value of a scalar kind fits, but for the gates.
    func isPlain(_ kind: UInt8) -> Bool {
        if kinds & kind == 0 || constant >= 0 || enumeration >= 0 { return false }
        if kind == ValueKind.string { return string < 0 }
        if kind & ValueKind.number != 0 { return number < 0 && (!isIntegral || kind == ValueKind.integer) }
        return true
    }
}

/// A gate of a lane, with its lanes in `branches`.
struct LaneGate {
    var kind: SchemaGate.Kind
    var first: Int32
    var count: Int32
    /// The entry of the key of a dependent schema; known when the plan for objects is there.
    var entry: Int32 = -1
    /// The tag that its branches differ by; -1 without one, and for those that a value of it has left.
    var tag: Int32 = -1
}

/// The state that a part of a value is validated against, and the effect of its results on the lanes of the whole.
struct SchemaTransition {
    var state: StatePointer
    var wires: UnsafeMutablePointer<SchemaWire>
    var wireCount = 0
    /// A bit for each lane that evaluates the part, whatever the part is; nil if no lane asks.
    var evaluators: UnsafeMutablePointer<UInt64>?
    /// Whether a part for which all lanes hold changes nothing.
    var isSimple = true
}

/// From the result of a lane of a part to a lane of the whole.
struct SchemaWire {
    enum Role: UInt8 { case and, contains, unevaluated }

    var role: Role
    var child: Int32
    var parent: Int32
    /// The counter of a `contains`.
    var counter: Int32 = -1
    /// Whether a match of `contains` evaluates the element.
    var evaluates = false
}

/// The rules for arrays of all lanes of a state.
struct ArrayPlan {
    var prefix: UnsafeMutablePointer<TransitionPointer?>
    var prefixCount = 0
    var rest: TransitionPointer?
    var rules: UnsafeMutablePointer<LaneArray>
    var ruleCount = 0
    var counters = 0
    var isUnique = false
}

struct LaneArray {
    var lane: Int32
    var minimum: Int
    var maximum: Int
    var isUnique: Bool
    /// The number of the counter of `contains`; -1 without it.
    var counter: Int32
    var minimumContained: Int
    var maximumContained: Int
    var asksUnevaluated: Bool
}

/// The rules for objects of all lanes of a state.
struct ObjectPlan {
    /// The keys that some lane names.
    var keys: SchemaKeys
    var entries: UnsafeMutablePointer<KeyEntry>
    /// The words for a bit for each key, beyond the first 64.
    var moreWords = 0
    var patterns: UnsafeMutablePointer<Int32>
    var patternCount = 0
    /// For other keys, if there are no patterns.
    var other: TransitionPointer?
    /// The number of the table of the transitions for other keys, by the patterns that they match.
    var variants = 0
    /// For the keys themselves.
    var names: TransitionPointer?
    /// The entry that is expected first.
    var first: Int32 = -1
    var rules: UnsafeMutablePointer<LaneObject>
    var ruleCount = 0
}

/// A key that some lane names.
struct KeyEntry {
    var transition: TransitionPointer?
    /// The entry that followed the last time.
    var next: Int32
}

/// The checks at the end of an object.
struct LaneObject {
    var lane: Int32
    /// A bit for each required key among the first 64.
    var required: UInt64 = 0
    /// All required keys.
    var needs: UnsafeMutablePointer<Int32>
    var needCount = 0
    var isWide = false
    /// Pairs of a key, and one that it requires.
    var dependents: UnsafeMutablePointer<Int32>
    var dependentCount = 0
    var minimum = 0
    var maximum = Int.max
    var asksUnevaluated = false
}
