import ErrandJSONValidation

/// The states that validation derives from a schema as it goes, and its stacks: used by one validation at a time, and
/// then by the next ones.
struct SchemaMachine {
    /// The bytes that a machine may grow to, and still be kept for the next validation.
    private static let keptBytes = 16 << 20
    /// The state that every value fits, and the transition to it.
    static let any: StateIndex = 0
    static let anyTransition: TransitionIndex = 0

    var arena = SchemaArena()
    private var states: [[Int32]: StateIndex] = [:]
    var variants: [[[UInt64]: TransitionIndex]] = []

    // The stacks of the validator.
    var frames = FrameStack(repeating: SchemaFrame())
    var results = [UInt8](repeating: 0, count: 1024)
    var words = [Int](repeating: 0, count: 256)
    var patterns = PatternMachine()

    // The rules that are read for each scalar, without what needs to be retained.
    let strings: [StringCheck]
    let numbers: [NumberCheck]
    let constants: [ConstantCheck]
    /// The tables of the patterns that have one yet.
    var patternTables: [PatternTable?]
    let tags: [SchemaTagTable]

    struct StringCheck {
        var minimum: Int
        var maximum: Int
        var pattern: Int32
        var format: JSONFormat?
    }

    struct NumberCheck {
        var least: Int64
        var most: Int64
        var isFast: Bool
    }

    struct ConstantCheck {
        var literals: UInt8
        var kinds: UInt8
        var keys: SchemaKeys
    }

    init(_ program: SchemaProgram) {
        strings = program.strings.map {
            StringCheck(minimum: $0.minimum, maximum: $0.maximum, pattern: $0.pattern, format: $0.format)
        }
        numbers = program.numbers.map { NumberCheck(least: $0.least, most: $0.most, isFast: $0.isFast) }
        patternTables = program.patterns.map { _ in nil }
        var arena = SchemaArena()
        _ = arena.add(SchemaState())
        _ = arena.add(SchemaTransition(state: Self.any))
        tags = program.tags.map { SchemaTagTable($0, &arena) }
        constants = program.constants.map {
            ConstantCheck(
                literals: $0.literals, kinds: $0.kinds, keys: arena.addKeys($0.strings.values.flatMap { $0 }))
        }
        arena.count(
            strings.count * MemoryLayout<StringCheck>.stride + numbers.count * MemoryLayout<NumberCheck>.stride
                + constants.count * MemoryLayout<ConstantCheck>.stride + tags.count
                * MemoryLayout<SchemaTagTable>.stride)
        self.arena = arena
        constantBytes = arena.size
    }

    /// Whether it is too large to be kept, or has what was not derived to the end.
    var isLarge: Bool {
        arena.size > Self.keptBytes + constantBytes || frames.capacity > 4_096 || results.count > 1 << 20 || isExhausted
    }
    /// Whether the text made it take more memory than it may.
    var isFull: Bool { arena.size > memoryLimit }
    private(set) var memoryLimit = Int.max
    /// The steps that deriving took, and may take, since they were counted the last time.
    var work = 0
    private var workLimit = Int.max
    private(set) var isExhausted = false
    /// The bytes that it was made with.
    private let constantBytes: Int

    /// Whether it is far enough from what it may take to derive what it can do without, which is never much of it.
    func hasRoom(for bytes: Int) -> Bool {
        arena.size + bytes <= memoryLimit && arena.size <= constantBytes + Self.keptBytes / 2
    }

    /// Begins with another text.
    mutating func begin(_ limits: JSONLimits) {
        let (limit, overflows) = arena.size.addingReportingOverflow(limits.maximumMemoryBytes)
        memoryLimit = overflows ? .max : limit
        (work, workLimit) = (0, limits.maximumSteps)
        frames.truncate(to: 0)
    }

    /// The steps that deriving took since the last call; with those that are left without them.
    mutating func takeWork(of steps: Int) -> Int {
        defer { (work, workLimit) = (0, max(0, steps - work)) }
        return work
    }

    /// Whether there are steps left to derive something; if not, what is derived is not kept.
    mutating func mayWork() -> Bool {
        if work <= workLimit { return true }
        isExhausted = true
        return false
    }

    mutating func growResults(_ needed: Int) {
        arena.count(needed * 2 - results.count)
        results += [UInt8](repeating: 0, count: needed * 2 - results.count)
    }

    mutating func growWords(_ needed: Int) {
        arena.count((needed * 2 - words.count) * 8)
        words += [Int](repeating: 0, count: needed * 2 - words.count)
    }

    // MARK: States

    /// The root of a set of roots for a node: the number, and a bit for those that are hard.
    static func root(_ node: Int32, isHard: Bool) -> Int32 { node << 1 | (isHard ? 1 : 0) }

    /// The state for some schemas, in any order.
    mutating func state(_ roots: [Int32], _ program: SchemaProgram) -> StateIndex {
        var sorted: [Int32] = []
        for root in roots.sorted() {
            // Behind one that is not hard, the same one that is hard replaces it.
            if let last = sorted.last, last >> 1 == root >> 1 { sorted.removeLast() }
            sorted.append(root)
        }
        sorted.removeAll { $0 == Self.root(SchemaProgram.any, isHard: true) }
        if sorted.isEmpty { return Self.any }
        if let known = states[sorted] { return known }
        let made = StateBuilder(program, sorted).build(&arena)
        work += 64 + sorted.count * 4 + arena.states[Int(made)].cost * 8
        arena.count(64 + sorted.count * 4)
        states[sorted] = made
        return made
    }
}
