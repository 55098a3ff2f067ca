import ErrandJSONValidation

/// An open array or object, or the document.
struct SchemaFrame: BitwiseCopyable {
    var state: StateIndex = 0
    /// The state with all branches. Its results are delivered to the enclosing frame. If a tag ruled out branches,
    /// `state` has fewer branches than this state.
    var whole: StateIndex = 0
    var transition: TransitionIndex = 0
    var part: StateIndex = 0
    var array: Int32 = -1
    var object: Int32 = -1
    /// The entry of the current key in the object's plan. -1 for a key without an entry, -2 before the first key.
    var entry: Int32 = -1
    var hashes = false
    /// Whether a part needs no further work if it fits all its schemas.
    var isQuiet = true
    var isObject = false
    var hasEqual = false
    var start = 0
    /// The current key's opening quote.
    var key = 0
    var keyEnd = 0
    /// The index of the current element, or the number of members so far.
    var count = 0
    /// One bit for each of the plan's first 64 keys.
    var seen: UInt64 = 0
    /// The start of the lanes' results in the machine's `results`. Its `words` contain the counters and further key
    /// bits.
    var results = 0
    var words = 0
    var number = 0
    var keysBefore: Int32 = 0
    var uniquesBefore: Int32 = 0
    var pendingBefore = 0
    var digest = ValueDigest(hash: 0, length: 0)
}

/// An element or member that doesn't fit a lane's schema for unevaluated parts. If another lane in `fate` evaluates the
/// part and holds, the part doesn't count as unevaluated.
struct PendingPart {
    var fate: PendingFate
    var values: [(value: Int, index: Int)]
    var count = 1
    var annotations: [Int]?
}

struct PendingFate: Hashable {
    var container: Int
    var lane: Int32
    /// One bit for each lane that evaluates the parts if it holds.
    var evaluators: [UInt64]
}
