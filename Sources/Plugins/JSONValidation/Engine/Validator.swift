import ErrandJSONSyntax

/// Validates one text in one pass: reads the bytes, keeps a frame for each open array and object, and collects problems.
///
/// The loop is deliberately one function over raw pointers: it contains everything that a valid document needs, and calls
/// other functions only for what is rare. What they call in it is `mutating`, even if it changes nothing: to lend the validator
/// to a function, the compiler copies it.
struct Validator: ~Copyable, TextValidator {
    let program: ShapeProgram
    let tables: ShapeTables
    let base: BytePointer
    let end: BytePointer
    let limits: JSONLimits
    /// The frame of the document at 0, then one for each open array or object.
    var frames: UnsafeMutablePointer<Frame>
    var capacity = 16
    /// For each key of an object, and for the start of each object, the key that followed it the last time.
    let successors: UnsafeMutablePointer<Int32>
    var keys: KeySet
    /// The orders of keys by place; the first one is that of objects in what has none.
    var orders: [OrderPointer] = []
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

    init(_ program: ShapeProgram, _ tables: ShapeTables, _ text: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits) {
        self.program = program
        self.tables = tables
        self.limits = limits
        // An empty text has no address; this pointer is compared only.
        base = text.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped
        end = base + text.count
        frames = Self.makeFrames(capacity, tables, base)
        keys = KeySet(limit: limits.maximumKeys)
        problems = ProblemList(limit: limits.maximumProblems)
        rereadBudget = text.count * 4 + 1 << 20
        skipBudget = rereadBudget
        steps = limits.maximumSteps
        successors = .allocate(capacity: program.members.count + program.objects.count)
        for index in program.members.indices { successors[index] = -1 }
        for (index, object) in program.objects.enumerated() {
            let keys = object.keys
            successors[program.members.count + index] = keys.count > 0 && !object.isWide ? keys.first : -1
            // All keys of a wide object go to the key set, so that the fast comparison does not apply.
            if object.isWide { continue }
            for offset in 0..<Int(keys.count) {
                successors[Int(keys.first) + offset] = keys.first + Int32((offset + 1) % Int(keys.count))
            }
        }
    }

    deinit {
        frames.deallocate()
        successors.deallocate()
        for order in orders {
            order.pointee.deallocate()
            order.deallocate()
        }
    }

    mutating func run() {
        if let p = firstByte() { read(p) }
    }

    private mutating func read(_ start: BytePointer) {
        let end = end
        let members = tables.members
        var p = start
        var depth = 0
        var node = tables.nodes + program.root
        var frame = frames
        values: while true {
            guard p < end else { return stop(.value, at: p, depth: depth) }
            let start = p
            let byte = p.pointee
            var isOpen = false
            if node.pointee.ambiguous != 0 {
                let choice = choose(among: node, at: p, depth: depth)
                node = choice.node
                if choice.isAtEnd { return }
                p = choice.end
            }
            if p == start {
                switch byte {
                case JSONGrammar.quote:
                    let scan = JSONGrammar.string(p + 1, end)
                    p = scan.end
                    if scan.fault != .none { return stop(scan.fault, at: p, depth: depth) }
                    if node.pointee.plain & ValueKind.string == 0, !(node.pointee.isNonEmptyString && p - start > 2) {
                        validateScalar(node, ValueKind.string, start, p, depth)
                    }
                case 0x2D, 0x30...0x39:
                    let (scan, isPlain) = JSONGrammar.number(p, end)
                    p = scan.end
                    if scan.fault != .none { return stop(scan.fault, at: p, depth: depth) }
                    let kind = isPlain ? ValueKind.integer : ValueKind.fraction
                    if node.pointee.plain & kind == 0 { validateScalar(node, kind, start, p, depth) }
                case 0x74, 0x66, 0x6E:
                    let scan = JSONGrammar.literal(p, end)
                    p = scan.end
                    if scan.fault != .none { return stop(scan.fault, at: p, depth: depth) }
                    let kind = byte == 0x74 ? ValueKind.true : byte == 0x66 ? ValueKind.false : ValueKind.null
                    if node.pointee.plain & kind == 0 { validateScalar(node, kind, start, p, depth) }
                case JSONGrammar.openBrace, JSONGrammar.openBracket:
                    depth += 1
                    if depth > limits.maximumDepth { return tooDeep(at: p, depth: depth - 1) }
                    if depth == capacity { growFrames() }
                    frame = frames + depth
                    open(frame, node, at: p, isObject: byte == JSONGrammar.openBrace, depth: depth - 1)
                    p = JSONGrammar.skipSpace(p + 1, end)
                    if p < end, p.pointee == byte + 2 {
                        if frame.pointee.isObject {
                            closeObject(frame, p, depth)
                        } else {
                            closeArray(frame, 0, p, depth)
                        }
                        p += 1
                        depth -= 1
                        frame -= 1
                    } else if byte == JSONGrammar.openBracket {
                        node = frame.pointee.others
                        continue values
                    } else {
                        isOpen = true
                    }
                default: return stop(.value, at: p, depth: depth)
                }
            }
            // After a value: closing brackets, then the next key or element.
            while true {
                if depth == 0 {
                    p = JSONGrammar.skipSpace(p, end)
                    return p < end ? stop(.end, at: p, depth: 0) : ()
                }
                if !isOpen {
                    p = JSONGrammar.skipSpace(p, end)
                    guard p < end else {
                        return stop(frame.pointee.isObject ? .memberEnd : .elementEnd, at: p, depth: depth - 1)
                    }
                    if !frame.pointee.isObject {
                        if p.pointee == JSONGrammar.comma {
                            frame.pointee.count &+= 1
                            p = JSONGrammar.skipSpace(p + 1, end)
                            node = frame.pointee.others
                            continue values
                        }
                        guard p.pointee == JSONGrammar.closeBracket else {
                            return stop(.elementEnd, at: p, depth: depth - 1)
                        }
                        closeArray(frame, frame.pointee.count + 1, p, depth)
                        p += 1
                        depth -= 1
                        frame -= 1
                        continue
                    }
                    if p.pointee == JSONGrammar.closeBrace {
                        closeObject(frame, p, depth)
                        p += 1
                        depth -= 1
                        frame -= 1
                        continue
                    }
                    guard p.pointee == JSONGrammar.comma else { return stop(.memberEnd, at: p, depth: depth - 1) }
                    p = JSONGrammar.skipSpace(p + 1, end)
                }
                break
            }
            // A key. Mostly it is the one that followed the previous key in the object before.
            guard p < end, p.pointee == JSONGrammar.quote else { return stop(.key, at: p, depth: depth - 1) }
            frame.pointee.key = p
            let guess = frame.pointee.rule == nil ? -1 : Int(successors[frame.pointee.member])
            if guess >= 0, end - p > 16, isKey(members + guess, p + 1, end) {
                let bit: UInt64 = 1 << UInt64(guess - Int(frame.pointee.rule.unsafelyUnwrapped.pointee.keys.first))
                if frame.pointee.seen & bit != 0 { duplicate(depth, at: p) }
                frame.pointee.seen |= bit
                frame.pointee.member = guess
                node = tables.nodes + Int(members[guess].node)
                p += Int(members[guess].length) + 2
            } else if isOrdered(frame, p) {
                p += takeOrdered(frame, frame.pointee.member) + 2
                node = tables.any
            } else {
                guard let key = readKey(frame, p, depth) else { return }
                p = key.end
                node = key.node
            }
            if p < end, p.pointee == JSONGrammar.colon {
                p += 1
            } else {
                p = JSONGrammar.skipSpace(p, end)
                guard p < end, p.pointee == JSONGrammar.colon else { return stop(.colon, at: p, depth: depth - 1) }
                p += 1
            }
            p = JSONGrammar.skipSpace(p, end)
        }
    }
}
