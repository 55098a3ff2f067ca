/// A pattern as a deterministic automaton over ASCII, which takes one lookup per character.
///
/// Patterns with lookarounds or word boundaries, or that would need many states, don't get a table. The machine matches
/// texts beyond ASCII.
package final class PatternTable: Sendable {
    static let maximumStates = 200
    /// The number of lookups that count as one step.
    static let charactersOfStep = 8
    static var matched: UInt16 { .max }
    static var dead: UInt16 { .max - 1 }

    private let classes: [UInt8]
    private let classCount: Int
    /// The next state, by state and class.
    private let next: [UInt16]
    /// For each state, whether a text may end in it.
    private let accepts: [Bool]
    /// The size of the table in bytes.
    let size: Int

    init(classes: [UInt8], classCount: Int, next: [UInt16], accepts: [Bool]) {
        (self.classes, self.next, self.accepts, self.classCount) = (classes, next, accepts, classCount)
        size = classes.count + next.count * 2 + accepts.count + 128
    }

    /// Matches the text in a range. Returns `nil` if a character beyond ASCII affects the outcome.
    package func run(_ text: Span<UInt8>, _ range: Range<Int>) -> PatternOutcome? {
        var state = 0
        for index in range {
            let byte = text[index]
            if byte >= 0x80 { return nil }
            let target = next[state &* classCount &+ Int(classes[Int(byte)])]
            if target >= Self.dead { return target == Self.matched ? .matches : .differs }
            state = Int(target)
        }
        return accepts[state] ? .matches : .differs
    }

    struct Attempt {
        var table: PatternTable?
        /// Whether building might succeed with more steps.
        var isUnfinished = false
        /// The steps that building took.
        var work: Int
    }

    /// Builds the table of a pattern in a limited number of steps, if a table of reasonable size exists.
    static func make(_ program: PatternProgram, _ scope: PatternMachine.Scope, work: Int) -> Attempt {
        var builder = PatternTableBuilder(program, scope, work: work)
        let isMade = builder.build()
        var attempt = Attempt(isUnfinished: builder.isUnfinished, work: work - max(0, builder.left))
        if isMade {
            attempt.table = PatternTable(
                classes: builder.classes, classCount: builder.classCount, next: builder.next, accepts: builder.accepts)
        }
        return attempt
    }
}

/// A pattern's tables. Each is built once matching has taken as many steps as building may take.
struct PatternTables: Sendable {
    struct Entry: Sendable {
        private(set) var table: PatternTable?
        /// Whether no table will be built, or another task is building it.
        private var isClosed = false
        private var spent = 0
        private var threshold = 2_000

        /// Returns the steps that building a table may take now, or `nil` if it's too early.
        mutating func spend(_ count: Int) -> Int? {
            if isClosed { return nil }
            spent += count
            if spent < threshold { return nil }
            isClosed = true
            return threshold
        }

        mutating func settle(_ attempt: PatternTable.Attempt) {
            table = attempt.table
            isClosed = table != nil || !attempt.isUnfinished || threshold > 500_000
            threshold *= 4
        }
    }

    private var whole = Entry()
    private var part = Entry()

    subscript(scope: PatternMachine.Scope) -> Entry {
        get { scope == .whole ? whole : part }
        set { if scope == .whole { whole = newValue } else { part = newValue } }
    }
}
