import ErrandJSONValidation

/// The states that validation derives from a schema as it goes, and its stacks: used by one validation at a time, and
/// then by the next ones.
final class SchemaMachine {
    /// The bytes that a machine may grow to, and still be kept for the next validation.
    private static let keptBytes = 16 << 20
    let program: Unmanaged<SchemaProgram>
    let arena = SchemaArena()
    /// The state that every value fits.
    let any: StatePointer
    let anyTransition: TransitionPointer
    private var states: [[Int32]: StatePointer] = [:]
    var variants: [[[UInt64]: TransitionPointer]] = []
    private var constants: [Int32: SchemaKeys] = [:]

    // The stacks of the validator.
    var frames: UnsafeMutablePointer<SchemaFrame>
    var frameCapacity = 32
    var results: UnsafeMutablePointer<UInt8>
    var resultCapacity = 1024
    var words: UnsafeMutablePointer<Int>
    var wordCapacity = 256
    var patterns = PatternMachine()

    /// The rules that are read for each scalar, without what needs to be retained.
    let strings: UnsafeMutablePointer<StringCheck>
    let numbers: UnsafeMutablePointer<NumberCheck>
    let constantChecks: UnsafeMutablePointer<ConstantCheck>
    let patternChecks: UnsafeMutablePointer<PatternCheck>
    let tags: UnsafeMutablePointer<SchemaTagTable>

    struct StringCheck {
        var minimum: Int
        var maximum: Int
        var pattern: Int32
        var format: JSONFormat?
    }

    /// A pattern as a table, once it has one.
    struct PatternCheck {
        var classes: UnsafePointer<UInt8>?
        var next: UnsafePointer<UInt16>?
        var accepts: UnsafePointer<Bool>?
        var classCount = 0

        /// The pattern keeps its table for as long as it lives.
        mutating func load(_ table: PatternTable) {
            (classes, next, accepts) = (table.classes, table.next, table.accepts)
            classCount = table.classCount
        }
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
        var hasComposites: Bool
    }

    init(_ program: SchemaProgram) {
        self.program = .passUnretained(program)
        any = arena.copy(
            SchemaState(lanes: arena.copy([]), gates: arena.copy([]), branches: arena.copy([])))
        anyTransition = arena.copy(SchemaTransition(state: any, wires: arena.copy([])))
        frames = .allocate(capacity: frameCapacity)
        results = .allocate(capacity: resultCapacity)
        words = .allocate(capacity: wordCapacity)
        strings = arena.copy(
            program.strings.map {
                StringCheck(minimum: $0.minimum, maximum: $0.maximum, pattern: $0.pattern, format: $0.format)
            })
        numbers = arena.copy(program.numbers.map { NumberCheck(least: $0.least, most: $0.most, isFast: $0.isFast) })
        let arena = arena
        patternChecks = arena.copy(program.patterns.map { _ in PatternCheck() })
        tags = arena.copy(program.tags.map { SchemaTagTable($0, arena) })
        constantChecks = arena.copy(
            program.constants.map {
                ConstantCheck(
                    literals: $0.literals, kinds: $0.kinds, keys: SchemaKeys($0.strings.values.flatMap { $0 }, arena),
                    hasComposites: !$0.composites.isEmpty)
            })
    }

    deinit {
        frames.deallocate()
        results.deallocate()
        words.deallocate()
    }

    /// Whether it is too large to be kept, or has what was not derived to the end.
    var isLarge: Bool {
        arena.size > Self.keptBytes + constantBytes || frameCapacity > 4_096 || resultCapacity > 1 << 20 || isExhausted
    }
    /// Whether the text made it take more memory than it may.
    var isFull: Bool { arena.size > memoryLimit }
    private(set) var memoryLimit = Int.max
    /// The steps that deriving took, and may take, since they were counted the last time.
    var work = 0
    private var workLimit = Int.max
    private(set) var isExhausted = false
    /// The bytes that it was made with.
    private lazy var constantBytes = arena.size

    /// Whether it is far enough from what it may take to derive what it can do without, which is never much of it.
    func hasRoom(for bytes: Int) -> Bool {
        arena.size + bytes <= memoryLimit && arena.size <= constantBytes + Self.keptBytes / 2
    }

    /// Begins with another text.
    func begin(_ limits: JSONLimits) {
        _ = constantBytes
        let (limit, overflows) = arena.size.addingReportingOverflow(limits.maximumMemoryBytes)
        memoryLimit = overflows ? .max : limit
        (work, workLimit) = (0, limits.maximumSteps)
    }

    /// The steps that deriving took since the last call; with those that are left without them.
    func takeWork(of steps: Int) -> Int {
        defer { (work, workLimit) = (0, max(0, steps - work)) }
        return work
    }

    /// Whether there are steps left to derive something; if not, what is derived is not kept.
    func mayWork() -> Bool {
        if work <= workLimit { return true }
        isExhausted = true
        return false
    }

    func growFrames() {
        let grown = UnsafeMutablePointer<SchemaFrame>.allocate(capacity: frameCapacity * 2)
        grown.update(from: frames, count: frameCapacity)
        frames.deallocate()
        (frames, frameCapacity) = (grown, frameCapacity * 2)
    }

    func growResults(_ needed: Int) {
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: needed * 2)
        arena.count(needed * 2 - resultCapacity)
        grown.update(from: results, count: resultCapacity)
        results.deallocate()
        (results, resultCapacity) = (grown, needed * 2)
    }

    func growWords(_ needed: Int) {
        let grown = UnsafeMutablePointer<Int>.allocate(capacity: needed * 2)
        arena.count((needed * 2 - wordCapacity) * 8)
        grown.update(from: words, count: wordCapacity)
        words.deallocate()
        (words, wordCapacity) = (grown, needed * 2)
    }

    // MARK: States

    /// The root of a set of roots for a node: the number, and a bit for those that are hard.
    static func root(_ node: Int32, isHard: Bool) -> Int32 { node << 1 | (isHard ? 1 : 0) }

    /// The state for some schemas, in any order.
    func state(_ roots: [Int32], _ program: SchemaProgram) -> StatePointer {
        var sorted: [Int32] = []
        for root in roots.sorted() {
            // Behind one that is not hard, the same one that is hard replaces it.
            if let last = sorted.last, last >> 1 == root >> 1 { sorted.removeLast() }
            sorted.append(root)
        }
        sorted.removeAll { $0 == Self.root(SchemaProgram.any, isHard: true) }
        if sorted.isEmpty { return any }
        if let known = states[sorted] { return known }
        let made = StateBuilder(program, sorted).build(arena)
        work += 64 + sorted.count * 4 + made.pointee.cost * 8
        arena.count(64 + sorted.count * 4)
        states[sorted] = made
        return made
    }
}
