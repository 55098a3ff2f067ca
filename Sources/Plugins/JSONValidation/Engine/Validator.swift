import ErrandJSONSyntax

/// Validates one text in one pass: reads the bytes, keeps a frame for each open array and object, and collects problems.
///
/// The loop is deliberately one function: it contains everything that a valid document needs, and calls other functions only
/// for what is rare. What they call in it is `mutating`, even if it changes nothing: to lend the validator to a function, the
/// compiler copies it. The text is a parameter, as a span cannot be stored.
struct Validator: ~Copyable, TextValidator {
    let program: ShapeProgram
    // The tables of the program that every text needs, kept for the sake of their spans and of fewer indirections.
    let nodes: [ShapeRule]
    let objectRules: [ObjectRule]
    let arrayRules: [ArrayRule]
    let members: [KeyRule]
    let pool: [UInt8]
    let limits: JSONLimits
    /// The innermost open array or object; that of the document if none is open.
    var frame = Frame()
    /// The frames around it, that of the document first.
    var outerFrames = FrameStack(repeating: Frame())
    /// For each key of an object, and for the start of each object, the key that followed it the last time.
    var successors: [Int32]
    var keys: KeySet
    /// The orders of keys by place; the first one is that of objects in what has none.
    var orders = KeyOrders()
    /// The number of keys of open objects that are not stored, as they follow an order.
    var orderedKeys = 0
    var problems: ProblemList
    /// The number of objects opened so far, which identifies the last one.
    var objects = 0
    /// How many bytes may still be read again to explain why no alternative fits.
    var rereadBudget: Int
    /// How many bytes may still be skipped to find the key that discriminates alternatives.
    var skipBudget: Int
    var machine = PatternMachine()
    /// How many steps may still be taken.
    var steps: Int
    /// Whether several alternatives are matched, and whether a limit was met meanwhile, so that it is not known which fits.
    var isMatching = false
    var isUncertain = false
    /// The index of a node among the candidates of an alternative match; -1 if it is none. Empty before the first match.
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
        // Kept out of the validator, which the calls might change for all that the optimizer knows.
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
                    let scan = JSONGrammar.string(in: text, from: p &+ 1)
                    p = scan.index
                    if scan.fault != .none { return stop(text, scan.fault, at: p, depth: depth) }
                    if plain & ValueKind.string == 0, !(nodes[node].isNonEmptyString && p &- start > 2) {
                        validateScalar(text, node, ValueKind.string, start..<p, depth)
                    }
                case 0x2D, 0x30...0x39:
                    let (scan, isPlain) = JSONGrammar.number(in: text, from: p)
                    p = scan.index
                    if scan.fault != .none { return stop(text, scan.fault, at: p, depth: depth) }
                    let kind = isPlain ? ValueKind.integer : ValueKind.fraction
                    if plain & kind == 0 { validateScalar(text, node, kind, start..<p, depth) }
                case 0x74, 0x66, 0x6E:
                    let scan = JSONGrammar.literal(in: text, from: p)
                    p = scan.index
                    if scan.fault != .none { return stop(text, scan.fault, at: p, depth: depth) }
                    let kind = byte == 0x74 ? ValueKind.true : byte == 0x66 ? ValueKind.false : ValueKind.null
                    if plain & kind == 0 { validateScalar(text, node, kind, start..<p, depth) }
                case JSONGrammar.openBrace, JSONGrammar.openBracket:
                    depth &+= 1
                    if depth > limits.maximumDepth { return tooDeep(text, at: p, depth: depth - 1) }
                    open(text, node, at: p, isObject: byte == JSONGrammar.openBrace, depth: depth &- 1)
                    p = JSONGrammar.skipSpace(in: text, from: p &+ 1)
                    if p < text.count, text[p] == byte &+ 2 {
                        if frame.isObject { closeObject(text, p, depth) } else { closeArray(text, 0, p, depth) }
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
            // After a value: closing brackets, then the next key or element.
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
                        closeArray(text, frame.count &+ 1, p, depth)
                        p &+= 1
                        depth &-= 1
                        leaveFrame()
                        continue
                    }
                    if byte == JSONGrammar.closeBrace {
                        closeObject(text, p, depth)
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
            // A key. Mostly it is the one that followed the previous key in the object before.
            guard p < text.count, text[p] == JSONGrammar.quote else {
                return stop(text, .key, at: p, depth: depth - 1)
            }
            frame.key = p
            let guess = frame.rule < 0 ? -1 : Int(successors[Int(frame.member)])
            if guess >= 0, text.count &- p > 16, members[guess].starts(text, p &+ 1),
                members[guess].length < 16 || isLongKey(text, guess, p &+ 1)
            {
                let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: guess &- Int(frame.firstKey))
                if frame.seen & bit != 0 { duplicate(text, depth, at: p) }
                frame.seen |= bit
                frame.member = Int32(truncatingIfNeeded: guess)
                node = Int(members[guess].node)
                p &+= Int(members[guess].length) &+ 2
            } else if let length = takeOrdered(text, p) {
                p &+= length &+ 2
                node = ShapeProgram.any
            } else {
                guard let key = readKey(text, p, depth) else { return }
                p = key.end
                node = key.node
            }
            if p < text.count, text[p] == JSONGrammar.colon {
                p &+= 1
            } else {
                p = JSONGrammar.skipSpace(in: text, from: p)
                guard p < text.count, text[p] == JSONGrammar.colon else {
                    return stop(text, .colon, at: p, depth: depth - 1)
                }
                p &+= 1
            }
            p = JSONGrammar.skipSpace(in: text, from: p)
        }
    }
}
