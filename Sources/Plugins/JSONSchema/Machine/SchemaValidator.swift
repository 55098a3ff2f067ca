import ErrandJSONSyntax
import ErrandJSONValidation

/// Validates one text against a schema in one pass: a frame for each open array and object, and in it a result for each
/// lane of the state.
struct SchemaValidator: ~Copyable, TextValidator {
    let machine: SchemaMachine
    let program: SchemaProgram
    let base: BytePointer
    let end: BytePointer
    let limits: JSONLimits
    var keys: KeySet
    var uniques: UniqueSet
    let valueHash = ValueHash.shared
    var problems: ProblemList
    var pending: [PendingPart] = []
    /// The pending parts by what determines their fate.
    var pendingIndices: [PendingFate: Int] = [:]
    /// The number of objects and arrays opened so far, which identifies the last one.
    var containers = 0
    /// The gates of the value that just ended which need an explanation.
    var unexplained: [(node: Int32, gate: Int)] = []
    /// How many bytes may still be read again to explain problems, and how many explanations are under way.
    var rereadBudget: Int
    var rereads = 0
    /// Whether branches are told apart by tags, and how many bytes may still be skipped to find these.
    var usesTags = true
    var tagBudget: Int
    /// Whether an object was validated against a part of the branches, and whether the keys that no schema names took too much,
    /// among which may be those of other branches.
    var hasParts = false
    var hasTooManyKeys = false
    /// The sum of the weights of problems while a branch is weighed, instead of a list of them.
    var weight = 0
    var isWeighing = false
    /// How deep the value is that is weighed.
    var weighBase = 0
    /// Collects annotations, which is done for valid texts only.
    var collector: AnnotationCollector?
    var values: [SchemaLocation: JSONFragment] = [:]
    /// The results that are in use.
    var resultTop = 0
    var wordTop = 0
    /// How many bytes that are compared or hashed count as a step.
    static let bytesOfStep = 16
    /// How many steps may still be taken.
    var steps: Int

    init(_ machine: SchemaMachine, _ text: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits) {
        self.machine = machine
        program = machine.program.takeUnretainedValue()
        self.limits = limits
        // An empty text has no address; this pointer is compared only.
        base = text.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped
        end = base + text.count
        keys = KeySet(limit: limits.maximumKeys)
        uniques = UniqueSet(limit: limits.maximumUniqueItems)
        problems = ProblemList(limit: limits.maximumProblems)
        rereadBudget = text.count * 4 + 1 << 20
        tagBudget = rereadBudget
        steps = limits.maximumSteps
        machine.begin(limits)
    }

    mutating func run() {
        guard let p = firstByte() else { return }
        let root = machine.state([SchemaMachine.root(program.root, isHard: true)], program)
        guard var rest = read(p, root, 0) else { return }
        rest = JSONGrammar.skipSpace(rest, end)
        if rest < end { stop(.end, at: rest, depth: 0) }
        if steps < 0 || machine.isFull { _ = tooMuch(at: rest, depth: 0) }
    }

    /// Reads a value within some open frames; nil if the rest of the text is not read.
    mutating func read(_ start: BytePointer, _ root: StatePointer, _ base: Int) -> BytePointer? {
        let end = end
        var p = start
        var depth = base
        var state = root
        var frame = machine.frames + depth
        var isQuiet = collector == nil
        values: while true {
            guard p < end else { return stopped(.value, p, depth) }
            let start = p
            let byte = p.pointee
            var isOpen = false
            switch byte {
            case JSONGrammar.quote:
                let scan = JSONGrammar.string(p + 1, end)
                p = scan.end
                if scan.fault != .none { return stopped(scan.fault, p, depth) }
                if state.pointee.plain & ValueKind.string == 0 || !isQuiet {
                    guard settleScalar(state, ValueKind.string, start, p, depth, base) else { return nil }
                    frame = machine.frames + depth
                }
            case 0x2D, 0x30...0x39:
                let (scan, isPlain) = JSONGrammar.number(p, end)
                p = scan.end
                if scan.fault != .none { return stopped(scan.fault, p, depth) }
                let kind = isPlain ? ValueKind.integer : ValueKind.fraction
                if state.pointee.plain & kind == 0 || !isQuiet {
                    guard settleScalar(state, kind, start, p, depth, base) else { return nil }
                    frame = machine.frames + depth
                }
            case 0x74, 0x66, 0x6E:
                let scan = JSONGrammar.literal(p, end)
                p = scan.end
                if scan.fault != .none { return stopped(scan.fault, p, depth) }
                let kind = byte == 0x74 ? ValueKind.true : byte == 0x66 ? ValueKind.false : ValueKind.null
                if state.pointee.plain & kind == 0 || !isQuiet {
                    guard settleScalar(state, kind, start, p, depth, base) else { return nil }
                    frame = machine.frames + depth
                }
            case JSONGrammar.openBrace, JSONGrammar.openBracket:
                depth += 1
                if depth > limits.maximumDepth {
                    tooDeep(at: p, depth: depth - 1)
                    return nil
                }
                if depth == machine.frameCapacity { machine.growFrames() }
                frame = machine.frames + depth
                let isObject = byte == JSONGrammar.openBrace
                guard open(frame, state, at: p, isObject: isObject, hashes: depth - 1 > base && frame[-1].hashes, depth)
                else { return nil }
                p = JSONGrammar.skipSpace(p + 1, end)
                if p < end, p.pointee == byte + 2 {
                    p += 1
                    guard close(frame, 0, p, depth, base) else { return nil }
                    depth -= 1
                    frame = machine.frames + depth
                } else if isObject {
                    isOpen = true
                } else {
                    firstElement(frame)
                    state = frame.pointee.transition.pointee.state
                    isQuiet = frame.pointee.isQuiet
                    continue values
                }
            default: return stopped(.value, p, depth)
            }
            // After a value: closing brackets, then the next key or element.
            while !isOpen {
                if depth == base { return p }
                p = JSONGrammar.skipSpace(p, end)
                guard p < end else {
                    return stopped(frame.pointee.isObject ? .memberEnd : .elementEnd, p, depth - 1)
                }
                if p.pointee == JSONGrammar.comma {
                    p = JSONGrammar.skipSpace(p + 1, end)
                    if frame.pointee.isObject { break }
                    frame.pointee.count &+= 1
                    nextElement(frame)
                    state = frame.pointee.transition.pointee.state
                    isQuiet = frame.pointee.isQuiet
                    continue values
                }
                guard p.pointee == (frame.pointee.isObject ? JSONGrammar.closeBrace : JSONGrammar.closeBracket) else {
                    return stopped(frame.pointee.isObject ? .memberEnd : .elementEnd, p, depth - 1)
                }
                p += 1
                guard
                    close(frame, frame.pointee.isObject ? frame.pointee.count : frame.pointee.count + 1, p, depth, base)
                else { return nil }
                depth -= 1
                frame = machine.frames + depth
            }
            // A key. Mostly it is the one that followed the previous key in the object before.
            guard p < end, p.pointee == JSONGrammar.quote else { return stopped(.key, p, depth - 1) }
            frame.pointee.key = p
            guard let key = readKey(frame, p, depth) else { return nil }
            p = key
            state = frame.pointee.transition.pointee.state
            isQuiet = frame.pointee.isQuiet
            if p < end, p.pointee == JSONGrammar.colon {
                p += 1
            } else {
                p = JSONGrammar.skipSpace(p, end)
                guard p < end, p.pointee == JSONGrammar.colon else { return stopped(.colon, p, depth - 1) }
                p += 1
            }
            p = JSONGrammar.skipSpace(p, end)
        }
    }

    private mutating func stopped(_ fault: JSONFault, _ p: BytePointer, _ depth: Int) -> BytePointer? {
        stop(fault, at: p, depth: depth)
        return nil
    }
}
