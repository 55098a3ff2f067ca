/// A state of the table is a set of the pattern's steps.
struct PatternTableBuilder {
    private let steps: [PatternStep]
    private let sets: [PatternProgram.CompiledSet]
    private let isFloating: Bool
    private(set) var classes = [UInt8](repeating: 0, count: 128)
    private(set) var classCount = 0
    private(set) var next: [UInt16] = []
    private(set) var accepts: [Bool] = []
    private(set) var left: Int
    private var samples: [UInt32] = []
    private var numbers: [State: UInt16] = [:]
    private var states: [State] = []
    private var visited: [UInt32]
    private var round: UInt32 = 0
    private var open: [Int32] = []

    private struct State: Hashable {
        /// The steps that read a character, in order.
        var stepIndices: [Int32]
        var isAccepted: Bool
        var isAcceptedAtEnd: Bool
    }

    init(_ program: PatternProgram, _ scope: PatternMachine.Scope, work: Int) {
        (steps, sets, left) = (program.steps, program.sets, work)
        isFloating = scope == .anywhere
        visited = [UInt32](repeating: 0, count: program.steps.count)
    }

    var isUnfinished: Bool { left < 0 }

    mutating func build() -> Bool {
        guard steps.count <= 512, classify() else { return false }
        let start = closure([0], isStart: true)
        guard number(start) == 0 else { return false }
        if isFloating, start.isAccepted {
            // The pattern matches the empty string, so it matches every text.
            (accepts, next) = ([true], samples.map { _ in PatternTable.matched })
            return true
        }
        var state = 0
        while state < states.count {
            let stepIndices = states[state].stepIndices
            accepts.append(states[state].isAcceptedAtEnd)
            for sample in samples {
                var targets = stepIndices.filter { reads($0, sample) }.map { $0 + 1 }
                if isFloating { targets.append(0) }
                left -= stepIndices.count + 8
                let target = number(closure(targets, isStart: false))
                if left < 0 || states.count > PatternTable.maximumStates { return false }
                next.append(target)
            }
            state += 1
        }
        return true
    }

    /// Groups characters that no step distinguishes into classes. Returns `false` if the pattern can't have a table, or
    /// if no steps are left.
    private mutating func classify() -> Bool {
        for step in steps {
            switch step {
            case .look, .assertion(.boundary), .assertion(.lineStart), .assertion(.lineEnd): return false
            default: break
            }
        }
        // Each set splits the classes that it partly contains.
        var (number, count) = ([Int](repeating: 0, count: 128), 1)
        func split(_ contains: (UInt32) -> Bool) {
            var split: [Int: Int] = [:]
            var sizes: [Int: Int] = [:]
            for value in 0..<128 { sizes[number[value], default: 0] += 1 }
            let inside = (0..<128).filter { contains(UInt32($0)) }
            var parts: [Int: Int] = [:]
            for value in inside { parts[number[value], default: 0] += 1 }
            for value in inside where parts[number[value]] != sizes[number[value]] {
                let old = number[value]
                if split[old] == nil {
                    split[old] = count
                    count += 1
                }
                number[value] = split[old] ?? old
            }
        }
        var known: Set<UInt32> = []
        for step in steps {
            if case .scalar(let value) = step, known.insert(value).inserted {
                left -= 16
                if value < 128 { split { $0 == value } }
            }
        }
        for set in sets {
            left -= 16
            split { set.contains($0) }
        }
        var numbers: [Int: UInt8] = [:]
        for value in 0..<128 {
            if numbers[number[value]] == nil {
                numbers[number[value]] = UInt8(samples.count)
                samples.append(UInt32(value))
            }
            classes[value] = numbers[number[value]] ?? 0
        }
        classCount = samples.count
        return left >= 0
    }

    private func reads(_ step: Int32, _ value: UInt32) -> Bool {
        switch steps[Int(step)] {
        case .scalar(let expected): expected == value
        case .set(let index): sets[Int(index)].contains(value)
        default: false
        }
    }

    /// If the outcome is certain in a state, returns `matched` or `dead`, which don't have a row in the table.
    private mutating func number(_ state: State) -> UInt16 {
        if isFloating, state.isAccepted, !states.isEmpty { return PatternTable.matched }
        if state.stepIndices.isEmpty, !states.isEmpty, !state.isAcceptedAtEnd { return PatternTable.dead }
        if let known = numbers[state] { return known }
        states.append(state)
        numbers[state] = UInt16(states.count - 1)
        return UInt16(states.count - 1)
    }

    /// Returns the reading steps that are reachable without reading.
    private mutating func closure(_ stepIndices: [Int32], isStart: Bool) -> State {
        var state = State(stepIndices: [], isAccepted: false, isAcceptedAtEnd: false)
        // The second pass also follows assertions of the text's end. After such an assertion, no step can read a
        // character.
        for isAtEnd in [false, true] {
            round += 1
            open.removeAll(keepingCapacity: true)
            open += stepIndices
            while let step = open.popLast() {
                if visited[Int(step)] == round { continue }
                visited[Int(step)] = round
                left -= 1
                switch steps[Int(step)] {
                case .scalar, .set: if !isAtEnd { state.stepIndices.append(step) }
                case .jump(let target): open.append(target)
                case .fork(let first, let second):
                    open.append(first)
                    open.append(second)
                case .assertion(.start): if isStart { open.append(step + 1) }
                case .assertion(.end): if isAtEnd { open.append(step + 1) }
                case .accept: if isAtEnd { state.isAcceptedAtEnd = true } else { state.isAccepted = true }
                default: break
                }
            }
        }
        state.stepIndices.sort()
        return state
    }
}
