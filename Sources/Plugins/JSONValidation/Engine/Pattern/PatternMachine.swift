/// The result of matching a pattern.
enum PatternOutcome: Sendable {
    case matches, differs
    /// The limit of steps was reached first.
    case exceeded
}

/// Runs programs on well-formed UTF-8. One machine is used for many texts, one after the other.
struct PatternMachine {
    /// Whether a pattern has to match the whole text, or a part of it.
    enum Scope { case whole, anywhere }

    private struct Threads {
        var places: [Int32] = []
        /// For each step the round in which it was last added.
        var rounds: [UInt32] = []
        var round: UInt32 = 0

        mutating func clear(_ count: Int) {
            places.removeAll(keepingCapacity: true)
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
    /// The results of lookarounds, by their entry and position.
    private var looks: [Int: Bool] = [:]
    private var left = 0

    init() {}

    /// The values that the inner loop reads, copied from the program.
    private struct Run {
        let steps: UnsafeBufferPointer<PatternStep>
        let sets: UnsafeBufferPointer<PatternProgram.CompiledSet>
        let text: UnsafeBufferPointer<UInt8>
    }

    /// Matches a text, in a limited number of steps.
    mutating func run(
        _ program: PatternProgram, on text: UnsafeBufferPointer<UInt8>, _ scope: Scope, budget: Int,
        usesTable: Bool = true
    ) -> PatternOutcome {
        if usesTable, text.count <= budget, let outcome = program.table(scope)?.run(text) { return outcome }
        left = max(0, budget)
        if !looks.isEmpty { looks.removeAll() }
        let found = program.steps.withUnsafeBufferPointer { steps in
            program.sets.withUnsafeBufferPointer { sets in
                run(
                    Run(steps: steps, sets: sets, text: text), from: 0, at: 0, isForward: true,
                    isWhole: scope == .whole,
                    isFloating: scope == .anywhere)
            }
        }
        return left < 0 ? .exceeded : found ? .matches : .differs
    }

    private mutating func run(
        _ run: Run, from entry: Int32, at start: Int, isForward: Bool, isWhole: Bool, isFloating: Bool
    ) -> Bool {
        var (now, next) = spare.popLast() ?? (Threads(), Threads())
        defer { spare.append((now, next)) }
        now.clear(run.steps.count)
        var position = start
        var isAccepted = add(entry, to: &now, run, position, isWhole)
        while !isAccepted, left >= 0, !now.places.isEmpty || isFloating {
            guard
                let (value, behind) = isForward
                    ? Self.scalar(run.text, at: position) : Self.scalar(run.text, before: position)
            else { break }
            next.clear(run.steps.count)
            for place in now.places where Self.accepts(run, place, value) {
                if add(place + 1, to: &next, run, behind, isWhole) { isAccepted = true }
                if isAccepted || left < 0 { break }
            }
            position = behind
            if isFloating, !isAccepted, add(entry, to: &next, run, position, isWhole) { isAccepted = true }
            swap(&now, &next)
        }
        return isAccepted && left >= 0
    }

    private static func accepts(_ run: Run, _ place: Int32, _ value: UInt32) -> Bool {
        switch run.steps[Int(place)] {
        case .scalar(let expected): expected == value
        case .set(let index): run.sets[Int(index)].contains(value)
        default: false
        }
    }

    /// Adds a step and all steps that follow without reading; returns whether they include the end of the pattern.
    private mutating func add(
        _ place: Int32, to threads: inout Threads, _ run: Run, _ position: Int, _ isWhole: Bool
    ) -> Bool {
        let base = stack.count
        stack.append(place)
        while stack.count > base {
            let place = stack.removeLast()
            if threads.rounds[Int(place)] == threads.round { continue }
            threads.rounds[Int(place)] = threads.round
            left -= 1
            if left < 0 { break }
            switch run.steps[Int(place)] {
            case .scalar, .set: threads.places.append(place)
            case .jump(let target): stack.append(target)
            case .fork(let first, let second):
                stack.append(second)
                stack.append(first)
            case .assertion(let assertion):
                if Self.holds(assertion, run.text, position) { stack.append(place + 1) }
            case .look(let entry, let isAhead, let isNegative):
                if looks(run, entry, isAhead, position) != isNegative { stack.append(place + 1) }
            case .accept:
                if isWhole, position < run.text.count { continue }
                stack.removeLast(stack.count - base)
                return true
            }
        }
        stack.removeLast(stack.count - base)
        return false
    }

    private mutating func looks(
        _ run: Run, _ entry: Int32, _ isAhead: Bool, _ position: Int
    ) -> Bool {
        let key = Int(entry) * (run.text.count + 1) + position
        if let known = looks[key] { return known }
        let found = self.run(
            run, from: entry, at: position, isForward: isAhead, isWhole: false, isFloating: false)
        looks[key] = found
        return found
    }

    // MARK: Text

    private static func holds(_ assertion: PatternAssertion, _ text: UnsafeBufferPointer<UInt8>, _ position: Int)
        -> Bool
    {
        switch assertion {
        case .start: position == 0
        case .end: position == text.count
        case .boundary: isWord(text, position - 1) != isWord(text, position)
        case .noBoundary: isWord(text, position - 1) == isWord(text, position)
        }
    }

    /// Word characters are ASCII, so that a byte is sufficient.
    private static func isWord(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        guard text.indices.contains(index) else { return false }
        return switch text[index] {
        case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
    }

    private static func scalar(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> (UInt32, Int)? {
        guard position < text.count else { return nil }
        let byte = text[position]
        if byte < 0x80 { return (UInt32(byte), position + 1) }
        let length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
        guard position + length <= text.count else { return nil }
        var value = UInt32(byte) & (0xFF >> UInt32(length + 1))
        for index in position + 1..<position + length { value = value << 6 | UInt32(text[index] & 0x3F) }
        return (value, position + length)
    }

    private static func scalar(_ text: UnsafeBufferPointer<UInt8>, before position: Int) -> (UInt32, Int)? {
        guard position > 0 else { return nil }
        var start = position - 1
        while start > 0, text[start] & 0xC0 == 0x80 { start -= 1 }
        return scalar(text, at: start).map { ($0.0, start) }
    }
}
