import Synchronization

enum PatternStep: Sendable {
    case scalar(UInt32)
    case set(Int32)
    case fork(Int32, Int32)
    case jump(Int32)
    case assertion(PatternAssertion)
    case look(Int32, isNegative: Bool)
    case accept
}

/// A pattern, compiled into steps. A machine tries all possible matches at once, without backtracking, so the time is
/// at most the length of the text times the number of steps.
package final class PatternProgram: Sendable {
    /// Includes expanded repetitions.
    static let maximumSteps = 100_000

    struct Look {
        var entry: Int32
        /// Whether it's a lookahead. A lookahead is read backward, so a single pass over the text finds all positions
        /// at which it matches.
        var isAhead: Bool
    }

    let steps: [PatternStep]
    let sets: [CompiledSet]
    let looks: [Look]
    private let tables = Mutex(PatternTables())
    private let room: PatternRoom

    convenience init(_ source: String) throws(PatternFault) {
        var budget = CompileBudget.pattern
        try self.init(source, budget: &budget, room: PatternRoom())
    }

    /// Several patterns share a budget and memory for tables.
    package init(
        _ source: String, budget: inout CompileBudget, room: PatternRoom, isLiteral: Bool = false
    ) throws(PatternFault) {
        let (node, sets) = try PatternParser.parse(source, &budget, isLiteral: isLiteral)
        var compiler = PatternCompiler(budget)
        defer { budget = compiler.budget }
        try compiler.compile(node)
        (steps, looks) = (compiler.steps, compiler.looks)
        self.room = room
        self.sets = sets.map { CompiledSet($0) }
    }

    /// For ASCII texts, if it has been built.
    package func table(_ scope: PatternMachine.Scope) -> PatternTable? { tables.withLock { $0[scope].table } }

    /// Adds the steps that a text took. When the steps add up to the cost of a table, builds the table. Returns the
    /// steps that building took.
    func spent(_ count: Int, _ scope: PatternMachine.Scope) -> Int {
        let work = tables.withLock { $0[scope].spend(count) }
        guard let work else { return 0 }
        var made = PatternTable.make(self, scope, work: work)
        if let table = made.table, !room.take(table.size) { made.table = nil }
        tables.withLock { $0[scope].settle(made) }
        return made.work
    }

    /// One bit per ASCII character, and sorted ranges for the rest.
    struct CompiledSet: Sendable {
        let low: UInt64
        let high: UInt64
        private let set: PatternSet

        init(_ set: PatternSet) {
            self.set = set
            var bits: (UInt64, UInt64) = (0, 0)
            for range in set.ranges where range.lowerBound < 128 {
                for value in range.lowerBound...min(range.upperBound, 127) {
                    if value < 64 { bits.0 |= 1 << UInt64(value) } else { bits.1 |= 1 << UInt64(value - 64) }
                }
            }
            (low, high) = bits
        }

        func contains(_ value: UInt32) -> Bool {
            if value < 64 { return low >> UInt64(value) & 1 != 0 }
            if value < 128 { return high >> UInt64(value - 64) & 1 != 0 }
            return set.contains(value)
        }
    }
}

private struct PatternCompiler {
    private(set) var steps: [PatternStep] = []
    private(set) var looks: [PatternProgram.Look] = []
    private(set) var budget: CompileBudget
    private var pending: [(look: Int, node: PatternNode)] = []

    init(_ budget: CompileBudget) { self.budget = budget }

    mutating func compile(_ node: PatternNode) throws(PatternFault) {
        try add(node, isForward: true)
        try append(.accept)
        while let (look, node) = pending.popLast() {
            looks[look].entry = Int32(steps.count)
            try add(node, isForward: !looks[look].isAhead)
            try append(.accept)
        }
    }

    private mutating func append(_ step: PatternStep) throws(PatternFault) {
        if steps.count >= PatternProgram.maximumSteps {
            throw PatternFault(
                reason: "has more than \(PatternProgram.maximumSteps) steps", offset: 0, kind: .tooLarge)
        }
        try spend(bytes: MemoryLayout<PatternStep>.stride)
        steps.append(step)
    }

    private mutating func spend(bytes: Int) throws(PatternFault) {
        if budget.spend(steps: 1, bytes: bytes) { return }
        throw PatternFault(reason: budget.excess, offset: 0, kind: .tooLarge)
    }

    private mutating func add(_ node: PatternNode, isForward: Bool) throws(PatternFault) {
        // Parts without steps also count toward the budget, because they may be repeated.
        try spend(bytes: 0)
        switch node {
        case .empty: break
        case .scalar(let value): try append(.scalar(value))
        case .set(let number): try append(.set(number))
        case .sequence(let parts):
            for part in isForward ? parts : parts.reversed() { try add(part, isForward: isForward) }
        case .alternation(let parts): try addAlternation(parts, isForward)
        case .repetition(let part, let least, let most):
            try addRepetition(of: part, atLeast: least, atMost: most, isForward: isForward)
        case .assertion(let assertion): try append(.assertion(assertion))
        case .look(let part, let isAhead, let isNegative):
            try append(.look(Int32(looks.count), isNegative: isNegative))
            pending.append((looks.count, part))
            looks.append(PatternProgram.Look(entry: 0, isAhead: isAhead))
        }
    }

    private mutating func addAlternation(_ parts: [PatternNode], _ isForward: Bool) throws(PatternFault) {
        var ends: [Int] = []
        for (index, part) in parts.enumerated() {
            let fork = steps.count
            let isLast = index == parts.count - 1
            if !isLast { try append(.jump(0)) }
            try add(part, isForward: isForward)
            if isLast { break }
            ends.append(steps.count)
            try append(.jump(0))
            steps[fork] = .fork(Int32(fork + 1), Int32(steps.count))
        }
        for end in ends { steps[end] = .jump(Int32(steps.count)) }
    }

    private mutating func addRepetition(
        of part: PatternNode, atLeast least: Int, atMost most: Int?, isForward: Bool
    ) throws(PatternFault) {
        for _ in 0..<least {
            let before = steps.count
            try add(part, isForward: isForward)
            if steps.count == before { return }
        }
        guard let most else {
            let fork = steps.count
            try append(.jump(0))
            try add(part, isForward: isForward)
            try append(.jump(Int32(fork)))
            steps[fork] = .fork(Int32(fork + 1), Int32(steps.count))
            return
        }
        var forks: [Int] = []
        for _ in least..<max(least, most) {
            forks.append(steps.count)
            try append(.jump(0))
            let before = steps.count
            try add(part, isForward: isForward)
            if steps.count == before { break }
        }
        for fork in forks { steps[fork] = .fork(Int32(fork + 1), Int32(steps.count)) }
    }
}

indirect enum PatternNode: Sendable {
    case empty
    case scalar(UInt32)
    /// The set's number in the pattern.
    case set(Int32)
    case sequence([PatternNode])
    case alternation([PatternNode])
    /// Unbounded if `most` is `nil`. Greedy and lazy repetitions match the same strings.
    case repetition(PatternNode, least: Int, most: Int?)
    case assertion(PatternAssertion)
    case look(PatternNode, isAhead: Bool, isNegative: Bool)
}

enum PatternAssertion: Sendable {
    case start, end
    /// `^` and `$` with the modifier `m`.
    case lineStart, lineEnd
    /// Ignoring case adds two more word characters.
    case boundary(isNegative: Bool, ignoresCase: Bool)
}

package struct PatternFault: Error, Hashable {
    package enum Kind: Hashable {
        case invalid
        /// Possibly a regular expression, but with unsupported syntax.
        case unsupported
        /// Possibly a regular expression, but beyond a limit.
        case tooLarge
    }

    /// Completes "the pattern …", for example "has an unclosed group".
    package var reason: String
    /// In Unicode scalars.
    package var offset: Int
    package var kind = Kind.invalid

    package func message(of pattern: String) -> String {
        "the pattern \(MessageText.shown(pattern, limit: 200)) \(reason) (character \(offset))"
    }
}

/// A regular expression that is compiled once, or the reason why it can't be.
struct JSONPattern: Sendable {
    let source: String
    let program: Result<PatternProgram, JSONShapeError>

    init(_ source: String) {
        self.source = source
        do throws(PatternFault) { program = .success(try PatternProgram(source)) } catch {
            program = .failure(JSONShapeError(pattern: source, reason: error.reason, offset: error.offset))
        }
    }

    /// A Swift literal may escape more characters.
    init(literal source: String) {
        self.source = source
        var budget = CompileBudget.pattern
        do throws(PatternFault) {
            program = .success(try PatternProgram(source, budget: &budget, room: PatternRoom(), isLiteral: true))
        } catch { program = .failure(JSONShapeError(pattern: source, reason: error.reason, offset: error.offset)) }
    }

    private init(_ error: JSONShapeError) { (source, program) = (error.pattern, .failure(error)) }

    /// For example, a regular expression that was built from components.
    static let unreadable = JSONPattern(
        JSONShapeError(pattern: "", reason: "isn't written as a literal, so its source is unknown", offset: 0))
}
