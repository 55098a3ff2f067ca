import ErrandJSONValidation

/// An open array or object; the frame of the document at 0.
struct SchemaFrame {
    var state: StatePointer
    /// The state that the results are delivered for, of which a value of a tag may have left a part.
    var whole: StatePointer
    /// The state that the current element or member is validated against.
    var transition: TransitionPointer
    var array: UnsafeMutablePointer<ArrayPlan>?
    var object: UnsafeMutablePointer<ObjectPlan>?
    var start: BytePointer
    /// The opening quote of the current key, and the closing one.
    var key: BytePointer
    var keyEnd: BytePointer
    /// The index of the current element, or the number of members so far.
    var count = 0
    /// A bit for each of the first 64 keys of the plan that was found.
    var seen: UInt64 = 0
    /// Where the results of the lanes start, and the counters with the further bits.
    var results = 0
    var words = 0
    /// The entry of the current key; -1 for another one.
    var entry: Int32 = -1
    var number = 0
    var keysBefore = 0
    var uniquesBefore = 0
    var pendingBefore = 0
    var digest = ValueDigest(hash: 0, length: 0)
    /// Whether the digests of the parts are needed.
    var hashes = false
    /// Whether a part for which all lanes hold needs nothing else.
    var isQuiet = true
    var isObject = false
    /// Whether two elements are equal.
    var hasEqual = false
}

/// Elements or members that a lane may have to treat as unevaluated, because its schema for these does not hold, and that
/// the same lanes evaluate.
struct PendingPart {
    var fate: PendingFate
    /// The first of them: the key or the element, and its index.
    var values: [(value: BytePointer, index: Int)]
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
