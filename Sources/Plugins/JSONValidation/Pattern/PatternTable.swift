/// A pattern as a deterministic automaton over ASCII: one look-up for each character. Patterns with lookarounds or word
/// boundaries have none, nor have those that would need many states; texts beyond ASCII are left to the machine.
@usableFromInline package final class PatternTable: @unchecked Sendable {
    // The memory behind the pointers is written in the initializer, and never again.

    static let maximumStates = 200
    /// How many characters that are looked up count as a step.
    static let charactersOfStep = 8
    @inlinable static var matched: UInt16 { .max }
    @inlinable static var dead: UInt16 { .max - 1 }

    /// The class of each ASCII character.
    package let classes: UnsafePointer<UInt8>
    package let classCount: Int
    /// The next state by state and class.
    package let next: UnsafePointer<UInt16>
    /// For each state whether a text may end in it.
    package let accepts: UnsafePointer<Bool>
    /// The bytes that it takes.
    let size: Int

    init(classes: [UInt8], classCount: Int, next: [UInt16], accepts: [Bool]) {
        (self.classes, self.next) = (Self.copy(classes), Self.copy(next))
        (self.accepts, self.classCount) = (Self.copy(accepts), classCount)
        size = classes.count + next.count * 2 + accepts.count + 128
    }

    deinit {
        classes.deallocate()
        next.deallocate()
        accepts.deallocate()
    }

    private static func copy<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
        let pointer = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
        for (index, element) in elements.enumerated() { (pointer + index).initialize(to: element) }
        return UnsafePointer(pointer)
    }

    /// The outcome for a text; nil if it has characters beyond ASCII that matter.
    func run(_ text: UnsafeBufferPointer<UInt8>) -> PatternOutcome? {
        Self.run(text, classes, next, accepts, classCount)
    }

    /// The same with the addresses of the tables.
    @inlinable @inline(__always) package static func run(
        _ text: UnsafeBufferPointer<UInt8>, _ classes: UnsafePointer<UInt8>?, _ next: UnsafePointer<UInt16>?,
        _ accepts: UnsafePointer<Bool>?, _ classCount: Int
    ) -> PatternOutcome? {
        guard let classes, let next, let accepts else { return nil }
        var state = 0
        for byte in text {
            if byte >= 0x80 { return nil }
            let target = next[state * classCount + Int(classes[Int(byte)])]
            if target >= dead { return target == matched ? .matches : .differs }
            state = Int(target)
        }
        return accepts[state] ? .matches : .differs
    }

    /// The result of making a table.
    struct Attempt {
        var table: PatternTable?
        /// Whether more work might make one.
        var isUnfinished = false
        /// The steps that it took.
        var work: Int
    }

    /// Makes the table of a pattern in a limited number of steps; it may have none of a reasonable size.
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

/// The tables of a pattern, each of which is made when texts have taken as many steps as it may take.
struct PatternTables: Sendable {
    struct Entry: Sendable {
        private(set) var table: PatternTable?
        /// Whether no table will be made, or another task makes one.
        private var isClosed = false
        private var spent = 0
        private var threshold = 2_000

        /// The steps that a table may take now; nil if it is not the time.
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
