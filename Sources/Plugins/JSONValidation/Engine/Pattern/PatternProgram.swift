/// One step of a compiled pattern.
enum PatternStep: Sendable {
    case scalar(UInt32)
    case set(Int32)
    /// Continues at both steps.
    case fork(Int32, Int32)
    case jump(Int32)
    case assertion(PatternAssertion)
    /// Continues if the steps from `entry` match, or do not match, from here.
    case look(entry: Int32, isAhead: Bool, isNegative: Bool)
    case accept
}

/// A pattern as steps that a machine runs for all possible matches at once, without backtracking: the time is bounded by
/// the length of the text times the number of steps, for every pattern.
final class PatternProgram: Sendable {
    /// The maximum number of steps of a pattern, with counted repetitions expanded.
    static let maximumSteps = 100_000

    let steps: [PatternStep]
    let sets: [CompiledSet]

    /// Compiles a pattern; throws ``PatternFault`` for what is not supported.
    init(_ source: String) throws(PatternFault) {
        var compiler = PatternCompiler()
        try compiler.compile(PatternParser.parse(source))
        (steps, sets) = (compiler.steps, compiler.sets)
    }

    /// The tables that replace the steps for texts in ASCII; made at their first use.
    private let wholeTable = Once<PatternTable?>()
    private let partTable = Once<PatternTable?>()

    func table(_ scope: PatternMachine.Scope) -> PatternTable? {
        (scope == .whole ? wholeTable : partTable).value { PatternTable(self, scope) }
    }

    /// A set with a bit for each ASCII character, and sorted ranges for the rest.
    struct CompiledSet: Sendable {
        let low: UInt64
        let high: UInt64
        private let ranges: [ClosedRange<UInt32>]
        private let set: PatternSet

        init(_ set: PatternSet) {
            var bits: (UInt64, UInt64) = (0, 0)
            for value in UInt32(0)..<128 {
                guard let scalar = Unicode.Scalar(value), set.contains(scalar) else { continue }
                if value < 64 { bits.0 |= 1 << UInt64(value) } else { bits.1 |= 1 << UInt64(value - 64) }
            }
            (low, high) = bits
            var merged: [ClosedRange<UInt32>] = []
            for range in set.ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
                if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
                    merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
                } else {
                    merged.append(range)
                }
            }
            ranges = merged
            self.set = set
        }

        func contains(_ value: UInt32) -> Bool {
            if value < 64 { return low >> UInt64(value) & 1 != 0 }
            if value < 128 { return high >> UInt64(value - 64) & 1 != 0 }
            var (first, last) = (0, ranges.count)
            while first < last {
                let middle = (first + last) / 2
                if ranges[middle].upperBound < value { first = middle + 1 } else { last = middle }
            }
            if first < ranges.count, ranges[first].contains(value) { return !set.isNegated }
            guard !set.properties.isEmpty, let scalar = Unicode.Scalar(value) else { return set.isNegated }
            return set.properties.contains { $0.property.contains(scalar) != $0.isNegated } != set.isNegated
        }
    }
}

/// Generates the steps of a tree.
private struct PatternCompiler {
    private(set) var steps: [PatternStep] = []
    private(set) var sets: [PatternProgram.CompiledSet] = []
    /// The contents of lookarounds, which are generated after the rest.
    private var pending: [(step: Int, node: PatternNode, isAhead: Bool, isNegative: Bool)] = []

    mutating func compile(_ node: PatternNode) throws(PatternFault) {
        try add(node, isForward: true)
        try append(.accept)
        while let look = pending.popLast() {
            steps[look.step] = .look(
                entry: Int32(steps.count), isAhead: look.isAhead, isNegative: look.isNegative)
            try add(look.node, isForward: look.isAhead)
            try append(.accept)
        }
    }

    private mutating func append(_ step: PatternStep) throws(PatternFault) {
        if steps.count >= PatternProgram.maximumSteps {
            throw PatternFault(reason: "has more than \(PatternProgram.maximumSteps) steps", offset: 0)
        }
        steps.append(step)
    }

    private mutating func add(_ node: PatternNode, isForward: Bool) throws(PatternFault) {
        switch node {
        case .empty: break
        case .set(let set):
            if !set.isNegated, set.properties.isEmpty, set.ranges.count == 1, set.ranges[0].count == 1 {
                return try append(.scalar(set.ranges[0].lowerBound))
            }
            sets.append(PatternProgram.CompiledSet(set))
            let index = Int32(sets.count - 1)
            try append(.set(index))
        case .sequence(let parts):
            for part in isForward ? parts : parts.reversed() { try add(part, isForward: isForward) }
        case .alternation(let parts): try addAlternation(parts, isForward)
        case .repetition(let part, let least, let most): try addRepetition(part, least, most, isForward)
        case .assertion(let assertion): try append(.assertion(assertion))
        case .look(let part, let isAhead, let isNegative):
            pending.append((steps.count, part, isAhead, isNegative))
            try append(.jump(0))
        }
    }

    private mutating func addAlternation(_ parts: [PatternNode], _ isForward: Bool) throws(PatternFault) {
        var ends: [Int] = []
        for (place, part) in parts.enumerated() {
            let fork = steps.count
            let isLast = place == parts.count - 1
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
        _ part: PatternNode, _ least: Int, _ most: Int?, _ isForward: Bool
    ) throws(PatternFault) {
        // Equal sets are stored once.
        let isEmpty = { (before: Int, steps: [PatternStep]) in steps.count == before }
        for _ in 0..<least {
            let before = steps.count
            try add(part, isForward: isForward)
            if isEmpty(before, steps) { return }
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
            if isEmpty(before, steps) { break }
        }
        for fork in forks { steps[fork] = .fork(Int32(fork + 1), Int32(steps.count)) }
    }
}
