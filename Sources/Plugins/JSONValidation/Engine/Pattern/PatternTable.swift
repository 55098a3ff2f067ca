/// A pattern as a deterministic automaton over ASCII: one look-up for each character. Patterns with lookarounds or word
/// boundaries have none, nor have those that would need many states; texts beyond ASCII are left to the machine.
struct PatternTable: Sendable {
    private static let maximumStates = 200
    private static let maximumWork = 200_000
    private static let matched: UInt16 = .max
    private static let dead: UInt16 = .max - 1

    /// The class of each ASCII character.
    let classes: [UInt8]
    let classCount: Int
    /// The next state by state and class.
    let next: [UInt16]
    /// For each state whether a text may end in it.
    let accepts: [Bool]

    /// Nil if the pattern has no table of a reasonable size.
    init?(_ program: PatternProgram, _ scope: PatternMachine.Scope) {
        var builder = Builder(program, scope)
        guard builder.build() else { return nil }
        classes = builder.classes
        classCount = builder.classCount
        next = builder.next
        accepts = builder.accepts
    }

    /// The outcome for a text; nil if it has characters beyond ASCII that matter.
    func run(_ text: UnsafeBufferPointer<UInt8>) -> PatternOutcome? {
        classes.withUnsafeBufferPointer { classes in
            next.withUnsafeBufferPointer { next in
                accepts.withUnsafeBufferPointer { accepts in
                    Self.run(text, classes.baseAddress, next.baseAddress, accepts.baseAddress, classCount)
                }
            }
        }
    }

    /// The same with the addresses of the tables.
    @inline(__always) static func run(
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

    /// Determinises the steps of a program.
    private struct Builder {
        let steps: [PatternStep]
        let sets: [PatternProgram.CompiledSet]
        let isFloating: Bool
        var classes = [UInt8](repeating: 0, count: 128)
        var classCount = 0
        var next: [UInt16] = []
        var accepts: [Bool] = []
        private var samples: [UInt32] = []
        private var work = PatternTable.maximumWork
        private var numbers: [State: UInt16] = [:]
        private var states: [State] = []

        struct State: Hashable {
            /// The steps that read, in order.
            var places: [Int32]
            /// Whether the pattern has ended here, or would if the text ended.
            var isAccepted: Bool
            var isAcceptedAtEnd: Bool
        }

        init(_ program: PatternProgram, _ scope: PatternMachine.Scope) {
            (steps, sets) = (program.steps, program.sets)
            isFloating = scope == .anywhere
        }

        mutating func build() -> Bool {
            guard steps.count <= 512, classify() else { return false }
            let start = closure([0], isStart: true)
            guard number(start) == 0 else { return false }
            if isFloating, start.isAccepted {
                // The pattern matches the empty string at the start: every text has a match.
                (accepts, next) = ([true], samples.map { _ in PatternTable.matched })
                return true
            }
            var state = 0
            while state < states.count {
                let places = states[state].places
                accepts.append(states[state].isAcceptedAtEnd)
                for sample in samples {
                    var targets = places.filter { reads($0, sample) }.map { $0 + 1 }
                    if isFloating { targets.append(0) }
                    work -= places.count + 1
                    let target = number(closure(targets, isStart: false))
                    if work < 0 || states.count > PatternTable.maximumStates { return false }
                    next.append(target)
                }
                state += 1
            }
            return true
        }

        /// Groups the characters that no step distinguishes.
        private mutating func classify() -> Bool {
            var known: [[Bool]: UInt8] = [:]
            var readers: [Int32] = []
            for (place, step) in steps.enumerated() {
                switch step {
                case .scalar, .set: readers.append(Int32(place))
                case .look, .assertion(.boundary), .assertion(.noBoundary): return false
                default: break
                }
            }
            for value in UInt32(0)..<128 {
                let signature = readers.map { reads($0, value) }
                if known[signature] == nil {
                    known[signature] = UInt8(samples.count)
                    samples.append(value)
                }
                classes[Int(value)] = known[signature] ?? 0
            }
            classCount = samples.count
            return true
        }

        private func reads(_ place: Int32, _ value: UInt32) -> Bool {
            switch steps[Int(place)] {
            case .scalar(let expected): expected == value
            case .set(let index): sets[Int(index)].contains(value)
            default: false
            }
        }

        /// The number of a state; one that is decided has no row.
        private mutating func number(_ state: State) -> UInt16 {
            if isFloating, state.isAccepted, !states.isEmpty { return PatternTable.matched }
            if state.places.isEmpty, !states.isEmpty, !state.isAcceptedAtEnd { return PatternTable.dead }
            if let known = numbers[state] { return known }
            states.append(state)
            numbers[state] = UInt16(states.count - 1)
            return UInt16(states.count - 1)
        }

        /// The steps that read and follow some steps without reading.
        private mutating func closure(_ places: [Int32], isStart: Bool) -> State {
            var found: Set<Int32> = []
            var (isAccepted, isAcceptedAtEnd) = (false, false)
            // Behind an assertion of the end nothing can be read.
            for isAtEnd in [false, true] {
                var known: Set<Int32> = []
                var open = places
                while let place = open.popLast() {
                    guard known.insert(place).inserted else { continue }
                    work -= 1
                    switch steps[Int(place)] {
                    case .scalar, .set: if !isAtEnd { found.insert(place) }
                    case .jump(let target): open.append(target)
                    case .fork(let first, let second): open += [first, second]
                    case .assertion(.start): if isStart { open.append(place + 1) }
                    case .assertion(.end): if isAtEnd { open.append(place + 1) }
                    case .accept: if isAtEnd { isAcceptedAtEnd = true } else { isAccepted = true }
                    default: break
                    }
                }
            }
            return State(places: found.sorted(), isAccepted: isAccepted, isAcceptedAtEnd: isAcceptedAtEnd)
        }
    }
}
