@usableFromInline package enum PatternOutcome: Sendable {
    case matches, differs
    /// The limit of steps was reached first.
    case exceeded
}

/// Runs programs on well-formed UTF-8. Reuse one machine for many texts, one after another.
package struct PatternMachine {
    package enum Scope: Sendable { case whole, anywhere }

    private struct Threads {
        var stepIndices: [Int32] = []
        /// The value of `round` when each step was last added. Each character starts a round.
        var rounds: [UInt32] = []
        var round: UInt32 = 0

        mutating func clear(_ count: Int) {
            stepIndices.removeAll(keepingCapacity: true)
            if rounds.count < count { rounds += [UInt32](repeating: 0, count: count - rounds.count) }
            if round == .max {
                for index in rounds.indices { rounds[index] = 0 }
                round = 0
            }
            round += 1
        }
    }

    private var spare: [(Threads, Threads)] = []
    private var stack: [Int32] = []
    /// For each lookaround used so far, one bit per position at which it matches.
    private var looks: [[UInt64]] = []
    private var left = 0
    /// The steps for the last text, including building a table.
    package private(set) var taken = 0

    package init() {}

    package mutating func run(
        _ program: PatternProgram, on text: Span<UInt8>, _ scope: Scope, budget: Int,
        usesTable: Bool = true
    ) -> PatternOutcome {
        if usesTable, text.count <= budget, let outcome = program.table(scope)?.run(text, 0..<text.count) {
            taken = 1 + text.count / PatternTable.charactersOfStep
            return outcome
        }
        left = max(0, budget)
        looks = program.looks.isEmpty ? [] : [[UInt64]](repeating: [], count: program.looks.count)
        let found = run(program, on: text, scope: scope)
        taken = max(0, budget) - max(0, left)
        if usesTable { taken += program.spent(taken, scope) }
        return left < 0 ? .exceeded : found ? .matches : .differs
    }

    private mutating func run(_ program: PatternProgram, on text: Span<UInt8>, scope: Scope) -> Bool {
        var (now, next) = spare.popLast() ?? (Threads(), Threads())
        defer { spare.append((now, next)) }
        let isWhole = scope == .whole
        now.clear(program.steps.count)
        var position = 0
        var isAccepted = add(0, to: &now, of: program, in: text, at: position, isWhole: isWhole, stops: true)
        while !isAccepted, left >= 0, !now.stepIndices.isEmpty || !isWhole {
            guard let (value, behind) = Self.scalar(text, at: position) else { break }
            next.clear(program.steps.count)
            for step in now.stepIndices where accepts(program, at: step, value: value) {
                isAccepted = add(step + 1, to: &next, of: program, in: text, at: behind, isWhole: isWhole, stops: true)
                if isAccepted || left < 0 { break }
            }
            position = behind
            if !isWhole, !isAccepted {
                isAccepted = add(0, to: &next, of: program, in: text, at: position, isWhole: false, stops: true)
            }
            swap(&now, &next)
        }
        return isAccepted && left >= 0
    }

    private mutating func accepts(_ program: PatternProgram, at step: Int32, value: UInt32) -> Bool {
        switch program.steps[Int(step)] {
        case .scalar(let expected): return expected == value
        case .set(let index):
            // Searching ranges takes longer than looking up a bit.
            if value >= 0x80 { left -= 1 }
            return program.sets[Int(index)].contains(value)
        default: return false
        }
    }

    /// Follows steps that don't read a character. Returns whether they reach the end of the pattern.
    private mutating func add(
        _ step: Int32, to threads: inout Threads, of program: PatternProgram, in text: Span<UInt8>, at position: Int,
        isWhole: Bool, stops: Bool
    ) -> Bool {
        let base = stack.count
        var isAccepted = false
        stack.append(step)
        while stack.count > base {
            let step = stack.removeLast()
            if threads.rounds[Int(step)] == threads.round { continue }
            threads.rounds[Int(step)] = threads.round
            left -= 1
            if left < 0 { break }
            switch program.steps[Int(step)] {
            case .scalar, .set: threads.stepIndices.append(step)
            case .jump(let target): stack.append(target)
            case .fork(let first, let second):
                stack.append(second)
                stack.append(first)
            case .assertion(let assertion):
                if PatternPosition.holds(assertion, in: text, at: position) { stack.append(step + 1) }
            case .look(let number, let isNegative):
                if looks(program, in: text, number: Int(number), at: position) != isNegative { stack.append(step + 1) }
            case .accept:
                if isWhole, position < text.count { continue }
                isAccepted = true
                if !stops { continue }
                stack.removeLast(stack.count - base)
                return true
            }
        }
        stack.removeLast(stack.count - base)
        return isAccepted
    }

    // MARK: Lookarounds

    private mutating func looks(_ program: PatternProgram, in text: Span<UInt8>, number: Int, at position: Int) -> Bool
    {
        if looks[number].isEmpty {
            let found = positions(program, in: text, look: program.looks[number])
            looks[number] = found
        }
        return looks[number][position / 64] >> UInt64(position % 64) & 1 != 0
    }

    /// Finds all positions at which a lookaround matches in a single pass: backward for a lookahead, forward for a
    /// lookbehind.
    private mutating func positions(_ program: PatternProgram, in text: Span<UInt8>, look: PatternProgram.Look)
        -> [UInt64]
    {
        var (now, next) = spare.popLast() ?? (Threads(), Threads())
        defer { spare.append((now, next)) }
        var found = [UInt64](repeating: 0, count: text.count / 64 + 1)
        var position = look.isAhead ? text.count : 0
        now.clear(program.steps.count)
        var isFound = add(look.entry, to: &now, of: program, in: text, at: position, isWhole: false, stops: false)
        while left >= 0 {
            if isFound { found[position / 64] |= 1 << UInt64(position % 64) }
            guard
                let (value, behind) = look.isAhead
                    ? Self.scalar(text, before: position) : Self.scalar(text, at: position)
            else { break }
            next.clear(program.steps.count)
            isFound = false
            for step in now.stepIndices where accepts(program, at: step, value: value) {
                if add(step + 1, to: &next, of: program, in: text, at: behind, isWhole: false, stops: false) {
                    isFound = true
                }
                if left < 0 { break }
            }
            position = behind
            if add(look.entry, to: &next, of: program, in: text, at: position, isWhole: false, stops: false) {
                isFound = true
            }
            swap(&now, &next)
        }
        return found
    }

    // MARK: Text

    private static func scalar(_ text: Span<UInt8>, at position: Int) -> (UInt32, Int)? {
        guard position < text.count else { return nil }
        let byte = text[position]
        if byte < 0x80 { return (UInt32(byte), position + 1) }
        let length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
        guard position + length <= text.count else { return nil }
        var value = UInt32(byte) & (0xFF >> UInt32(length + 1))
        for index in position + 1..<position + length { value = value << 6 | UInt32(text[index] & 0x3F) }
        return (value, position + length)
    }

    private static func scalar(_ text: Span<UInt8>, before position: Int) -> (UInt32, Int)? {
        guard position > 0 else { return nil }
        var start = position - 1
        while start > 0, text[start] & 0xC0 == 0x80 { start -= 1 }
        return scalar(text, at: start).map { ($0.0, start) }
    }
}

enum PatternPosition {
    static func holds(
        _ assertion: PatternAssertion, in text: Span<UInt8>, at position: Int
    ) -> Bool {
        switch assertion {
        case .start: position == 0
        case .end: position == text.count
        case .lineStart: position == 0 || isLineEnd(text, before: position)
        case .lineEnd: position == text.count || isLineEnd(text, at: position)
        case .boundary(let isNegative, let ignoresCase):
            (isWord(text, before: position, ignoresCase) != isWord(text, at: position, ignoresCase)) != isNegative
        }
    }

    // MARK: Words (ECMA-262, section 22.2.2.4.3)

    private static func isWord(_ text: Span<UInt8>, at position: Int, _ ignoresCase: Bool) -> Bool {
        guard position < text.count else { return false }
        if text[position] < 0x80 { return isWord(text[position]) }
        return ignoresCase
            && (matches(text, at: position, bytes: [0xC5, 0xBF])
                || matches(text, at: position, bytes: [0xE2, 0x84, 0xAA]))
    }

    private static func isWord(
        _ text: Span<UInt8>, before position: Int, _ ignoresCase: Bool
    ) -> Bool {
        guard position > 0 else { return false }
        if text[position - 1] < 0x80 { return isWord(text[position - 1]) }
        return ignoresCase
            && (matches(text, at: position - 2, bytes: [0xC5, 0xBF])
                || matches(text, at: position - 3, bytes: [0xE2, 0x84, 0xAA]))
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
    }

    // MARK: Lines

    private static func isLineEnd(_ text: Span<UInt8>, at position: Int) -> Bool {
        if text[position] == 0x0A || text[position] == 0x0D { return true }
        return matches(text, at: position, bytes: [0xE2, 0x80, 0xA8])
            || matches(text, at: position, bytes: [0xE2, 0x80, 0xA9])
    }

    private static func isLineEnd(_ text: Span<UInt8>, before position: Int) -> Bool {
        if text[position - 1] == 0x0A || text[position - 1] == 0x0D { return true }
        return matches(text, at: position - 3, bytes: [0xE2, 0x80, 0xA8])
            || matches(text, at: position - 3, bytes: [0xE2, 0x80, 0xA9])
    }

    private static func matches(
        _ text: Span<UInt8>, at position: Int, bytes: [UInt8]
    ) -> Bool {
        guard position >= 0, position + bytes.count <= text.count else { return false }
        return bytes.indices.allSatisfy { text[position + $0] == bytes[$0] }
    }
}
