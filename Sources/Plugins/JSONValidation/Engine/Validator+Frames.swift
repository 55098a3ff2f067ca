import ErrandJSONSyntax

extension Validator {
    /// An open array or object.
    struct Frame {
        var node: UnsafePointer<ShapeRule>
        /// The node for elements, or for keys that the rule does not name.
        var others: UnsafePointer<ShapeRule>
        /// Nil for an array, and for an object without constraints.
        var rule: UnsafePointer<ObjectRule>?
        /// Its opening bracket.
        var start: BytePointer
        /// The opening quote of the current key.
        var key: BytePointer
        /// The number of elements before the current one, or of keys that the rule does not name.
        var count = 0
        /// A bit for each of the first 64 keys of the rule that was found.
        var seen: UInt64 = 0
        /// The index in `successors` of the key that is expected next; without a rule the index in `order`, or -1 if the keys
        /// do not follow it.
        var member = 0
        /// The order of the keys, or of those of the objects in an array; nil where a shape has a rule.
        var order: OrderPointer?
        /// The number of keys that are not stored before it.
        var orderedBefore = 0
        /// The number of the object.
        var object = 0
        /// The number of keys in the key set, and of problems, before it.
        var keysBefore = 0
        var problemsBefore = 0
        var isObject: Bool
    }

    /// Whether the text continues with a key and its closing quote; at least 16 bytes are left.
    @inline(__always)
    mutating func isKey(_ rule: UnsafePointer<KeyRule>, _ p: BytePointer, _ end: BytePointer) -> Bool {
        guard Bytes.word(p) & rule.pointee.mask0 == rule.pointee.word0,
            Bytes.word(p + 8) & rule.pointee.mask1 == rule.pointee.word1
        else { return false }
        return rule.pointee.length < 16 || isLongKey(rule, p, end)
    }

    @inline(never) private mutating func isLongKey(
        _ rule: UnsafePointer<KeyRule>, _ p: BytePointer, _ end: BytePointer
    ) -> Bool {
        let length = Int(rule.pointee.length)
        let isEnd = end - p > length && p[length] == JSONGrammar.quote
        return isEnd && isText(rule, JSONText(start: p, end: p + length), false)
    }

    @inline(__always) mutating func open(
        _ frame: UnsafeMutablePointer<Frame>, _ node: UnsafePointer<ShapeRule>, at p: BytePointer, isObject: Bool,
        depth: Int
    ) {
        let kind = isObject ? ValueKind.object : ValueKind.array
        var node = node
        if node.pointee.kinds & kind == 0 {
            mismatch(node, depth, at: p)
            node = tables.any
        }
        // Field by field, which is faster than assigning a whole frame.
        frame.pointee.node = node
        frame.pointee.others = tables.any
        frame.pointee.rule = nil
        frame.pointee.order = nil
        frame.pointee.start = p
        frame.pointee.key = p
        frame.pointee.count = 0
        frame.pointee.seen = 0
        frame.pointee.isObject = isObject
        frame.pointee.keysBefore = keys.count
        frame.pointee.problemsBefore = problems.count
        if isObject {
            objects &+= 1
            frame.pointee.object = objects
            if node.pointee.object >= 0 {
                let rule = tables.objects + Int(node.pointee.object)
                frame.pointee.rule = rule
                frame.pointee.others = tables.nodes + Int(rule.pointee.others)
                frame.pointee.member = program.members.count + Int(node.pointee.object)
            } else {
                beginOrder(frame, order(in: frame - 1))
            }
        } else if node.pointee.array >= 0 {
            frame.pointee.others = tables.nodes + Int(program.arrays[Int(node.pointee.array)].element)
        } else {
            frame.pointee.order = order(in: frame - 1)
        }
    }

    @inline(never) mutating func growFrames() {
        let grown = Self.makeFrames(capacity * 2, tables, base)
        grown.update(from: frames, count: capacity)
        frames.deallocate()
        frames = grown
        capacity *= 2
    }

    static func makeFrames(
        _ count: Int, _ tables: ShapeTables, _ base: BytePointer
    ) -> UnsafeMutablePointer<Frame> {
        let frames = UnsafeMutablePointer<Frame>.allocate(capacity: count)
        let blank = Frame(node: tables.any, others: tables.any, start: base, key: base, isObject: false)
        frames.initialize(repeating: blank, count: count)
        return frames
    }
}
