import ErrandJSONValidation

/// The index of a state in its arena; what it leads to is in the same arena.
typealias StateIndex = Int32
/// The index of a transition in its arena; -1 for one that was not derived yet.
typealias TransitionIndex = Int32

/// The schemas that one value is validated against at the same time, with everything that they apply to the same value: a
/// lane for each, in an order in which each one comes behind those that its own result depends on.
///
/// States are derived when a document first needs them, as those of a lazily determinised automaton are.
struct SchemaState {
    /// The lanes, by their places in the arena.
    var firstLane = 0
    var laneCount = 0
    var firstGate = 0
    /// The lanes that gates refer to.
    var firstBranch = 0
    /// The lanes that others refer to, ascending.
    var firstRoot = 0
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
    /// The rules for arrays and objects, derived at the first array and at the first object; -1 before.
    var array: Int32 = -1
    var object: Int32 = -1
    /// The tag of the gate with most branches among those that have one, and this gate; -1 without one.
    var tag: Int32 = -1
    var tagGate: Int32 = -1
    /// Where the variants are, once there are any: by the number of a value of the tag, what remains of the state for an object
    /// with it; the state itself where it is not worth it, and -1 before it is derived.
    var firstVariant = -1
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

/// A gate of a lane, with its lanes among the branches of the state.
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
    var state: StateIndex
    var firstWire = 0
    var wireCount = 0
    /// Where the bits are, one for each lane that evaluates the part, whatever the part is; -1 if no lane asks.
    var evaluators = -1
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
    /// Where the transitions of the first elements are.
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
    /// The number of the counter of `contains`; -1 without it.
    var counter: Int32
    var minimumContained: Int
    var maximumContained: Int
    var asksUnevaluated: Bool
}

/// The rules for objects of all lanes of a state.
struct ObjectPlan {
    /// The keys that some lane names, and where the entry of the first one is.
    var keys: SchemaKeys
    var firstEntry = 0
    /// The words for a bit for each key, beyond the first 64.
    var moreWords = 0
    var firstPattern = 0
    var patternCount = 0
    /// For other keys, if there are no patterns.
    var other: TransitionIndex = -1
    /// The number of the table of the transitions for other keys, by the patterns that they match.
    var variants = 0
    /// For the keys themselves; -1 if no lane asks.
    var names: TransitionIndex = -1
    /// The entry that is expected first.
    var first: Int32 = -1
    var firstRule = 0
    var ruleCount = 0
}

/// A key that some lane names.
struct KeyEntry {
    var transition: TransitionIndex
    /// The entry that followed the last time.
    var next: Int32
}

/// The checks at the end of an object.
struct LaneObject {
    var lane: Int32
    /// A bit for each required key among the first 64.
    var required: UInt64 = 0
    /// All required keys.
    var firstNeed = 0
    var needCount = 0
    var isWide = false
    /// Pairs of a key, and one that it requires.
    var firstDependent = 0
    var dependentCount = 0
    var minimum = 0
    var maximum = Int.max
    var asksUnevaluated = false
}
