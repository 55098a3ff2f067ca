/// A pattern as a deterministic automaton over ASCII, with one lookup per character.
///
/// Patterns with lookarounds or word boundaries don't get a table, and neither do patterns that would need many states.
/// The machine matches texts beyond ASCII.
package final class PatternTable: Sendable {
    static let maximumStates = 200
    /// Lookups that count as one step.
    static let charactersOfStep = 8
    static var matched: UInt16 { .max }
    static var dead: UInt16 { .max - 1 }

    private let classes: [UInt8]
    private let classCount: Int
    private let next: [UInt16]
    private let accepts: [Bool]
    /// In bytes.
    let size: Int

    init(classes: [UInt8], classCount: Int, next: [UInt16], accepts: [Bool]) {
        (self.classes, self.next, self.accepts, self.classCount) = (classes, next, accepts, classCount)
        size = classes.count + next.count * 2 + accepts.count + 128
    }

    /// Returns `nil` if a character beyond ASCII affects the outcome.
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
        /// Whether building ran out of steps. It might succeed with more steps.
        var isUnfinished = false
        var work: Int
    }

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

/// Each table is built when matching has taken as many steps as building may take.
struct PatternTables: Sendable {
    struct Entry: Sendable {
        private(set) var table: PatternTable?
        /// Whether another table may not be built, because another task is building it or because it isn't worthwhile.
        private var isClosed = false
        private var spent = 0
        private var threshold = 2_000

        /// The steps that building may take now, or `nil` if it's too early.
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
