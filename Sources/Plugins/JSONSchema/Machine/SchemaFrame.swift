import ErrandJSONValidation

/// An open array or object, or the document.
struct SchemaFrame: BitwiseCopyable {
    var state: StateIndex = 0
    /// The state that the results are delivered for, of which a value of a tag may have left a part.
    var whole: StateIndex = 0
    /// What the current element or member is validated against, and its state.
    var transition: TransitionIndex = 0
    var part: StateIndex = 0
    /// The plans; -1 without one.
    var array: Int32 = -1
    var object: Int32 = -1
    /// The entry of the current key; -1 for another one, and -2 before the first one.
    var entry: Int32 = -1
    /// Whether the digests of the parts are needed.
    var hashes = false
    /// Whether a part for which all lanes hold needs nothing else.
    var isQuiet = true
    var isObject = false
    /// Whether two elements are equal.
    var hasEqual = false
    var start = 0
    /// The opening quote of the current key, and behind the closing one.
    var key = 0
    var keyEnd = 0
    /// The index of the current element, or the number of members so far.
    var count = 0
    /// A bit for each of the first 64 keys of the plan that was found.
    var seen: UInt64 = 0
    /// Where the results of the lanes start, and the counters with the further bits.
    var results = 0
    var words = 0
    var number = 0
    var keysBefore: Int32 = 0
    var uniquesBefore: Int32 = 0
    var pendingBefore = 0
    var digest = ValueDigest(hash: 0, length: 0)
}

/// Elements or members that a lane may have to treat as unevaluated, because its schema for these does not hold, and that
/// the same lanes evaluate.
struct PendingPart {
    var fate: PendingFate
    /// The first of them: the key or the element, and its index.
    var values: [(value: Int, index: Int)]
    var count = 1
    /// For a part whose schema holds, its annotations.
    var annotations: [Int]?
}

struct PendingFate: Hashable {
    /// The number of the array or object.
    var container: Int
    var lane: Int32
    /// A bit for each lane that evaluates the parts, if it holds.
    var evaluators: [UInt64]
}
