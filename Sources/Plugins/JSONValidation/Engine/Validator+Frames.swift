import ErrandJSONSyntax

extension Validator {
    /// An open array or object, or the document. Indexes are -1 without what they refer to.
    struct Frame: BitwiseCopyable {
        var node: Int32 = 0
        /// The node for elements, or for keys that the rule does not name.
        var others: Int32 = 0
        /// The rule for objects; -1 for an array, and for an object without constraints.
        var rule: Int32 = -1
        /// The first of the keys of the rule in `members`, or of those of the order, and the number of the latter.
        var firstKey: Int32 = 0
        var orderedCount: Int32 = 0
        /// The index in `successors` of the key that is expected next; without a rule the index in `order`, or -1 if the keys
        /// do not follow it.
        var member: Int32 = 0
        /// The order of the keys, or of those of the objects in an array; -1 where a shape has a rule.
        var order: Int32 = -1
        var isObject = false
        /// Its opening bracket.
        var start = 0
        /// The opening quote of the current key.
        var key = 0
        /// The number of elements before the current one, or of keys that the rule does not name.
        var count = 0
        /// A bit for each of the first 64 keys of the rule that was found.
        var seen: UInt64 = 0
        /// The number of keys that are not stored before it.
        var orderedBefore = 0
        /// The number of the object.
        var object = 0
        /// The number of keys in the key set, and of problems, before it.
        var keysBefore = 0
        var problemsBefore = 0
    }

    /// Whether the text continues with all of a key that has more than its first 16 bytes, and its closing quote.
    @inline(never) mutating func isLongKey(_ text: Span<UInt8>, _ member: Int, _ p: Int) -> Bool {
        let length = Int(members[member].length)
        return text.count - p > length && text[p + length] == JSONGrammar.quote
            && isText(text, member, JSONContent(p, p + length), false)
    }

    @inline(__always) mutating func open(
        _ text: Span<UInt8>, _ node: Int, at p: Int, isObject: Bool, depth: Int
    ) {
        let kind = isObject ? ValueKind.object : ValueKind.array
        var node = node
        if nodes[node].kinds & kind == 0 {
            mismatch(text, node, depth, at: p)
            node = ShapeProgram.any
        }
        let array = isObject ? -1 : nodes[node].array
        let object = isObject ? nodes[node].object : -1
        let order: Int32 = array >= 0 || object >= 0 ? -1 : self.order(of: text)
        outerFrames.push(frame)
        frame.node = Int32(truncatingIfNeeded: node)
        frame.others = Int32(ShapeProgram.any)
        frame.rule = object
        frame.order = order
        frame.orderedCount = 0
        frame.start = p
        frame.key = p
        frame.count = 0
        frame.seen = 0
        frame.isObject = isObject
        frame.keysBefore = keys.count
        frame.problemsBefore = problems.count
        if isObject {
            objects &+= 1
            frame.object = objects
            if object >= 0 {
                frame.others = objectRules[Int(object)].others
                frame.firstKey = objectRules[Int(object)].keys.first
                frame.member = Int32(truncatingIfNeeded: members.count) &+ object
            } else {
                beginOrder()
            }
        } else if array >= 0 {
            frame.others = arrayRules[Int(array)].element
        }
    }

    /// Goes back to the frame around the innermost one.
    @inline(__always) mutating func leaveFrame() { frame = outerFrames.pop() }
}
