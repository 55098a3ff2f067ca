import ErrandJSONSyntax

/// Validates a text in one pass and keeps a frame for each open array and object.
///
/// After inlining, the loop is one function that contains everything a valid document needs. The functions for rare
/// cases are `mutating` even if they don't change anything, because the compiler copies the validator to pass it to a
/// nonmutating function. The text is a parameter because a span can't be stored.
struct ShapeValidator: ~Copyable, TextValidator {
    let program: ShapeProgram
    // Stored here to save an indirection.
    let nodes: [ShapeRule]
    let objectRules: [ObjectRule]
    let arrayRules: [ArrayRule]
    let members: [KeyRule]
    let pool: ContiguousArray<UInt8>
    let limits: JSONLimits
    var frame = Frame()
    var outerFrames = FrameStack(repeating: Frame())
    /// The key that followed last time, after each key and at the start of each object.
    var successors: [Int32]
    var keys: KeySet
    /// The orders of keys. The first order is for objects in a frame without an order.
    var orders = KeyOrders()
    /// The keys in open objects that aren't stored because they follow an order.
    var orderedKeys = 0
    var problems: ProblemList
    /// The number of objects opened so far, which also identifies the last one.
    var objects = 0
    /// The bytes that may still be reread to explain why no alternative fits.
    var rereadBudget: Int
    /// The bytes that may still be skipped to find a tag.
    var skipBudget: Int
    var machine = PatternMachine()
    var steps: Int
    /// Whether alternatives are being matched. If a limit is exceeded in the meantime, it's uncertain which alternative
    /// fits.
    var isMatching = false
    var isUncertain = false
    /// The index of each node among the candidates of an alternative match, or -1. Empty before the first match.
    var candidateIndexes: [Int32] = []

    init(_ program: ShapeProgram, textCount: Int, _ limits: JSONLimits) {
        self.program = program
        (nodes, objectRules, arrayRules) = (program.nodes, program.objects, program.arrays)
        (members, pool) = (program.members, program.pool)
        self.limits = limits
        keys = KeySet(limit: limits.maximumKeys)
        problems = ProblemList(limit: limits.maximumProblems)
        rereadBudget = textCount * 4 + 1 << 20
        skipBudget = rereadBudget
        steps = limits.maximumSteps
        successors = program.successors
    }

    mutating func run(_ text: Span<UInt8>) {
        if let p = firstByte(text) { read(text, from: p) }
    }

    private mutating func read(_ text: Span<UInt8>, from start: Int) {
        // Local copies, because the optimizer must assume that calls change the validator.
        let (nodes, members) = (nodes, members)
        var p = start
        var depth = 0
        var node = program.root
        values: while true {
            guard p < text.count else { return stop(text, .value, at: p, depth: depth) }
            let start = p
            let byte = text[p]
            var isOpen = false
            var plain = nodes[node].plain
            if nodes[node].ambiguous != 0 {
                let choice = choose(text, among: node, at: p, depth: depth)
                node = choice.node
                if choice.isAtEnd { return }
                p = choice.end
                plain = nodes[node].plain
            }
            if p == start {
                switch byte {
                case JSONGrammar.quote:
                    guard let end = scanned(text, JSONGrammar.string(in: text, from: p &+ 1), depth: depth) else {
                        return
                    }
                    p = end
                    if plain & ValueKind.string == 0, !(nodes[node].isNonEmptyString && p &- start > 2) {
                        validateScalar(text, node, kind: ValueKind.string, in: start..<p, depth: depth)
                    }
                case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    let (scan, isPlain) = JSONGrammar.number(in: text, from: p)
                    guard let end = scanned(text, scan, depth: depth) else { return }
                    p = end
                    let kind = isPlain ? ValueKind.integer : ValueKind.fraction
                    if plain & kind == 0 { validateScalar(text, node, kind: kind, in: start..<p, depth: depth) }
                case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
                    guard let end = scanned(text, JSONGrammar.literal(in: text, from: p), depth: depth) else { return }
                    p = end
                    let kind = ValueKind.ofLiteral(byte)
                    if plain & kind == 0 { validateScalar(text, node, kind: kind, in: start..<p, depth: depth) }
                case JSONGrammar.openBrace, JSONGrammar.openBracket:
                    depth &+= 1
                    if depth > limits.maximumDepth { return tooDeep(text, at: p, depth: depth - 1) }
                    open(text, node, at: p, isObject: byte == JSONGrammar.openBrace, depth: depth &- 1)
                    p = JSONGrammar.skipSpace(in: text, from: p &+ 1)
                    // The code of a closing bracket is two higher than the code of its opening bracket.
                    let closing = byte &+ 2
                    if p < text.count, text[p] == closing {
                        if frame.isObject {
                            closeObject(text, at: p, depth: depth)
                        } else {
                            closeArray(text, count: 0, at: p, depth: depth)
                        }
                        p &+= 1
                        depth &-= 1
                        leaveFrame()
                    } else if byte == JSONGrammar.openBracket {
                        node = Int(frame.others)
                        continue values
                    } else {
                        isOpen = true
                    }
                default: return stop(text, .value, at: p, depth: depth)
                }
            }
            // After a value, reads closing brackets until another key or element follows.
            while true {
                if depth == 0 {
                    p = JSONGrammar.skipSpace(in: text, from: p)
                    return p < text.count ? stop(text, .end, at: p, depth: 0) : ()
                }
                if !isOpen {
                    p = JSONGrammar.skipSpace(in: text, from: p)
                    guard p < text.count else {
                        return stop(text, frame.isObject ? .memberEnd : .elementEnd, at: p, depth: depth - 1)
                    }
                    let byte = text[p]
                    if !frame.isObject {
                        if byte == JSONGrammar.comma {
                            frame.count &+= 1
                            p = JSONGrammar.skipSpace(in: text, from: p &+ 1)
                            node = Int(frame.others)
                            continue values
                        }
                        guard byte == JSONGrammar.closeBracket else {
                            return stop(text, .elementEnd, at: p, depth: depth - 1)
                        }
                        closeArray(text, count: frame.count &+ 1, at: p, depth: depth)
                        p &+= 1
                        depth &-= 1
                        leaveFrame()
                        continue
                    }
                    if byte == JSONGrammar.closeBrace {
                        closeObject(text, at: p, depth: depth)
                        p &+= 1
                        depth &-= 1
                        leaveFrame()
                        continue
                    }
                    guard byte == JSONGrammar.comma else { return stop(text, .memberEnd, at: p, depth: depth - 1) }
                    p = JSONGrammar.skipSpace(in: text, from: p &+ 1)
                }
                break
            }
            guard let key = takeKey(text, at: p, of: members, depth: depth),
                let value = takeColon(text, after: key.end, depth: depth)
            else {
                return
            }
            (node, p) = (key.node, value)
        }
    }

    @inline(__always)
    private mutating func scanned(_ text: Span<UInt8>, _ scan: JSONTokenEnd, depth: Int) -> Int? {
        if scan.fault == .none { return scan.index }
        stop(text, scan.fault, at: scan.index, depth: depth)
        return nil
    }

    /// Usually, the same key followed the previous key in the last object. Returns the end of the key and the node of
    /// its value, or `nil` if reading stopped.
    @inline(__always)
    private mutating func takeKey(
        _ text: Span<UInt8>, at p: Int, of members: [KeyRule], depth: Int
    ) -> (end: Int, node: Int)? {
        guard p < text.count, text[p] == JSONGrammar.quote else {
            stop(text, .key, at: p, depth: depth - 1)
            return nil
        }
        frame.key = p
        let guess = frame.rule < 0 ? -1 : Int(successors[Int(frame.member)])
        if guess >= 0, text.count &- p > 16, members[guess].starts(text, p &+ 1),
            members[guess].length < 16 || isLongKey(text, guess, at: p &+ 1)
        {
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: guess &- Int(frame.firstKey))
            if frame.seen & bit != 0 { duplicate(text, depth, at: p) }
            frame.seen |= bit
            frame.member = Int32(truncatingIfNeeded: guess)
            return (p &+ Int(members[guess].length) &+ 2, Int(members[guess].node))
        }
        if let length = takeOrdered(in: text, at: p) { return (p &+ length &+ 2, ShapeProgram.any) }
        return readKey(text, at: p, depth: depth)
    }

    @inline(__always)
    private mutating func takeColon(_ text: Span<UInt8>, after end: Int, depth: Int) -> Int? {
        var p = end
        if !(p < text.count && text[p] == JSONGrammar.colon) {
            p = JSONGrammar.skipSpace(in: text, from: p)
            guard p < text.count, text[p] == JSONGrammar.colon else {
                stop(text, .colon, at: p, depth: depth - 1)
                return nil
            }
        }
        return JSONGrammar.skipSpace(in: text, from: p &+ 1)
    }
}

extension ShapeValidator {
    func enter(_ match: inout AlternativeMatch, _ kind: UInt8) {
        let end = match.candidates.count
        // Several candidates may expect the same node. If this node has several rules, its alternatives are added only
        // once.
        var unions: Set<Int> = []
        guard let level = match.levels.last else {
            for node in match.top { add(node, kind: kind, to: &match, from: end, unions: &unions) }
            return
        }
        for index in level.first..<end where match.candidates[index].expectedNode >= 0 {
            add(match.candidates[index].expectedNode, kind: kind, to: &match, from: end, unions: &unions)
        }
    }

    private func add(
        _ index: Int, kind: UInt8, to match: inout AlternativeMatch, from first: Int, unions: inout Set<Int>
    ) {
        let node = nodes[index]
        if node.kinds & ~node.plain & kind == 0 { return }
        if node.ambiguous & kind == 0 { return match.enter(index, behind: first) }
        guard unions.insert(index).inserted else { return }
        for alternative in program.alternatives[node.alternativesRange] {
            add(Int(alternative), kind: kind, to: &match, from: first, unions: &unions)
        }
    }

    private func cost(
        of index: Int, _ kind: UInt8, in match: AlternativeMatch, from first: Int, _ unions: inout [Int: Int]
    ) -> Int {
        let node = nodes[index]
        if node.plain & kind != 0 { return 0 }
        if node.kinds & kind == 0 { return 1 }
        if node.ambiguous & kind == 0 {
            let candidate = Int(match.candidateIndexes[index])
            return candidate >= first ? match.candidates[candidate].cost : 0
        }
        if let known = unions[index] { return known }
        var least = Int.max
        for alternative in program.alternatives[node.alternativesRange]
        where nodes[Int(alternative)].kinds & kind != 0 {
            least = min(least, cost(of: Int(alternative), kind, in: match, from: first, &unions))
        }
        let cost = least == .max ? 1 : least
        unions[index] = cost
        return cost
    }

    /// Adds a value's cost to the candidates of the enclosing value. Then removes the value's own candidates, unless
    /// the value is the outermost value.
    func chargeParents(_ match: inout AlternativeMatch, kind: UInt8, from first: Int) {
        guard let level = match.levels.last else { return }
        var unions: [Int: Int] = [:]
        for index in level.first..<first where match.candidates[index].expectedNode >= 0 {
            match.candidates[index].cost += cost(
                of: match.candidates[index].expectedNode, kind, in: match, from: first, &unions)
        }
        match.leave(behind: first)
    }

    mutating func leave(_ text: Span<UInt8>, _ match: inout AlternativeMatch, at p: Int) -> Int {
        let level = match.levels.removeLast()
        for index in level.first..<match.candidates.count {
            let node = nodes[match.candidates[index].node]
            var count: Int32 = -1
            if level.isObject, node.object >= 0 {
                let rule = objectRules[Int(node.object)]
                match.candidates[index].cost += rule.requiredCount - match.candidates[index].required
                count = rule.count
            } else if !level.isObject, node.array >= 0 {
                count = arrayRules[Int(node.array)].count
            }
            if count >= 0, !program.bounds[Int(count)].contains(level.count) { match.candidates[index].cost += 1 }
            if node.hasChecks, match.candidates[index].cost == 0 {
                for check in node.checks where passes(text, check, in: level.start..<p + 1) != true {
                    match.candidates[index].cost += 1
                }
            }
        }
        keys.removeAll(behind: level.keysBefore)
        chargeParents(&match, kind: level.kind, from: level.first)
        return p + 1
    }
}

extension ShapeValidator {
    /// An open array or object, or the document. Missing indexes are -1.
    struct Frame: BitwiseCopyable {
        var node: Int32 = 0
        /// The node for elements or unnamed keys.
        var others: Int32 = 0
        /// -1 for arrays and unconstrained objects.
        var rule: Int32 = -1
        /// The first key of the rule in `members`, or of the order.
        var firstKey: Int32 = 0
        var orderedCount: Int32 = 0
        /// The next expected key in `successors`. Without a rule, the next expected key in the order, or -1 if the
        /// object's keys don't follow it.
        var member: Int32 = 0
        /// The order of the object's keys, or of the keys of objects in the array. -1 with a rule.
        var order: Int32 = -1
        var isObject = false
        var start = 0
        /// The opening quote.
        var key = 0
        /// The number of elements before the current one, or of unnamed keys.
        var count = 0
        /// One bit for each of the first 64 keys of the rule or order.
        var seen: UInt64 = 0
        var orderedBefore = 0
        var object = 0
        var keysBefore = 0
        var problemsBefore = 0
    }

    @inline(never) mutating func isLongKey(_ text: Span<UInt8>, _ member: Int, at p: Int) -> Bool {
        let length = Int(members[member].length)
        return text.count - p > length && text[p + length] == JSONGrammar.quote
            && isText(text, member, at: JSONContent(p, p + length), hasEscapes: false)
    }

    @inline(__always) mutating func open(
        _ text: Span<UInt8>, _ node: Int, at p: Int, isObject: Bool, depth: Int
    ) {
        let kind = isObject ? ValueKind.object : ValueKind.array
        var node = node
        if nodes[node].kinds & kind == 0 {
            mismatch(text, node, depth: depth, at: p)
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

    @inline(__always) mutating func leaveFrame() { frame = outerFrames.pop() }
}
