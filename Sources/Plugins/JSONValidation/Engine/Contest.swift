/// Alternatives that compete for one value: all of them are weighed in the same pass over its bytes, so that no value is
/// read once for each, however deep alternatives lie within alternatives.
///
/// At every level each rule that is still of interest is there once. What a value costs an alternative is the number of
/// its problems; the cheapest is the one that the message will speak of.
struct Contest {
    struct Candidate {
        /// A node that is not ambiguous for the kind of the value.
        var node: Int
        /// The node for the current key or element; -1 for anything.
        var wanted = -1
        var cost = 0
        /// Required keys that came.
        var required = 0
        /// Where the same node stands for a value around this one.
        var previous: Int32 = -1
    }

    struct Level {
        var start: BytePointer
        var key: BytePointer
        var isObject: Bool
        /// Where its candidates begin; those of the value within follow.
        var first: Int
        var count = 0
        var object: Int
        var keysBefore: Int

        var kind: UInt8 { isObject ? ValueKind.object : ValueKind.array }
    }

    /// The nodes that compete for the whole value.
    let top: [Int]
    /// Frames around the value.
    let depth: Int
    var candidates: [Candidate] = []
    var levels: [Level] = []
    /// For each node the place of its innermost candidate; -1 if it has none.
    var places: [Int32]
    /// Keys that come twice, whichever alternative wins.
    var duplicates: [JSONProblem] = []
    var duplicateCount = 0

    init(among top: [Int], depth: Int, places: [Int32]) { (self.top, self.depth, self.places) = (top, depth, places) }

    mutating func enter(_ node: Int, behind first: Int) {
        if places[node] >= first { return }
        candidates.append(Candidate(node: node, previous: places[node]))
        places[node] = Int32(candidates.count - 1)
    }

    mutating func leave(behind first: Int) {
        while candidates.count > first {
            let last = candidates.removeLast()
            places[last.node] = last.previous
        }
    }
}

extension Validator {
    /// What `choose` decided: the value is dealt with if `end` is behind it, otherwise it has to fit `node`.
    struct Choice {
        var node: UnsafePointer<ShapeRule>
        var end: BytePointer
        var isOver = false
    }

    /// Finds the alternative that a value fits, or the one that comes closest.
    @inline(never) mutating func choose(
        among node: UnsafePointer<ShapeRule>, at start: BytePointer, depth: Int
    ) -> Choice {
        guard let kind = kind(at: start), node.pointee.ambiguous & kind != 0 else {
            return Choice(node: node, end: start)
        }
        if kind == ValueKind.object, node.pointee.tag >= 0,
            let choice = choose(byTagOf: node, at: start, depth: depth)
        {
            return choice
        }
        return choose(among: [node - tables.nodes], of: node, kind, at: start, depth: depth)
    }

    mutating func choose(
        among top: [Int], of node: UnsafePointer<ShapeRule>, _ kind: UInt8, at start: BytePointer, depth: Int
    ) -> Choice {
        guard let (contest, end) = weigh(top, at: start, depth) else {
            return Choice(node: node, end: start, isOver: true)
        }
        guard let best = contest.candidates.min(by: { $0.cost < $1.cost }) else { return Choice(node: node, end: end) }
        if best.cost > 0, kind & (ValueKind.array | ValueKind.object) != 0, !problems.isFull, rereadable >= end - start
        {
            rereadable -= end - start
            return Choice(node: tables.nodes + best.node, end: start)
        }
        if best.cost > 0 { reportNoneFits(contest, kind, start, end, depth) }
        for duplicate in contest.duplicates { problems.add(duplicate) }
        problems.addUnlisted(contest.duplicateCount - contest.duplicates.count)
        return Choice(node: node, end: end)
    }

    /// Weighs nodes for a value, and leaves the candidates with their costs. Nil if the text ends here.
    mutating func weigh(_ top: [Int], at start: BytePointer, _ depth: Int) -> (Contest, BytePointer)? {
        if places.isEmpty { places = [Int32](repeating: -1, count: program.nodes.count) }
        var contest = Contest(among: top, depth: depth, places: [])
        swap(&contest.places, &places)
        let end = weigh(&contest, from: start)
        let candidates = contest.candidates
        contest.leave(behind: 0)
        contest.candidates = candidates
        swap(&contest.places, &places)
        return end.map { (contest, $0) }
    }

    private mutating func reportNoneFits(
        _ contest: Contest, _ kind: UInt8, _ start: BytePointer, _ end: BytePointer, _ depth: Int
    ) {
        let found = Self.kindWord(start) + " that fits none"
        if kind & (ValueKind.array | ValueKind.object) != 0 {
            return problem(.value, depth, at: start) { _ in ("one of \(contest.candidates.count) shapes", found) }
        }
        if problems.isFull { return problems.addUnlisted(1) }
        var words: [String] = []
        for candidate in contest.candidates {
            if words.count == 12 {
                words.append("others")
                break
            }
            let rule = tables.nodes + candidate.node
            guard let objection = objection(rule, kind, start, end) else { continue }
            let word = expected(rule, kind, objection)
            if !words.contains(word) { words.append(word) }
        }
        let expected = MessageText.list(words)
        problem(.value, depth, at: start) { _ in (expected, found) }
    }

    /// The kind of the value that starts here; nil if none does.
    func kind(at p: BytePointer) -> UInt8? {
        switch p.pointee {
        case Lexer.quote: return ValueKind.string
        case Lexer.openBrace: return ValueKind.object
        case Lexer.openBracket: return ValueKind.array
        case 0x74: return ValueKind.true
        case 0x66: return ValueKind.false
        case 0x6E: return ValueKind.null
        case 0x2D, 0x30...0x39: return Lexer.number(p, end).isPlain ? ValueKind.integer : ValueKind.fraction
        default: return nil
        }
    }

    // MARK: Reading

    /// Reads a value and leaves the candidates for it with their costs. Nil if the text ends here for the validator.
    private mutating func weigh(_ contest: inout Contest, from start: BytePointer) -> BytePointer? {
        var p = start
        while true {
            guard p < end, let kind = kind(at: p) else { return stop(contest, .value, at: p) }
            let first = contest.candidates.count
            enter(&contest, kind)
            if kind & (ValueKind.array | ValueKind.object) != 0 {
                if contest.depth + contest.levels.count >= limits.maximumDepth {
                    tooDeep(at: p, depth: contest.depth)
                    return nil
                }
                let isObject = kind == ValueKind.object
                if isObject { objects &+= 1 }
                contest.levels.append(
                    Contest.Level(
                        start: p, key: p, isObject: isObject, first: first, object: objects, keysBefore: keys.count))
                p = Lexer.skipSpace(p + 1, end)
                let isEmpty = p < end && p.pointee == (isObject ? Lexer.closeBrace : Lexer.closeBracket)
                if !isEmpty {
                    guard let next = isObject ? weighKey(&contest, p) : element(&contest, p) else { return nil }
                    p = next
                    continue
                }
                p = leave(&contest, p)
            } else {
                let scan = scalar(p, kind)
                if scan.fault != .none { return stop(contest, scan.fault, at: scan.end) }
                for index in first..<contest.candidates.count {
                    let node = tables.nodes + contest.candidates[index].node
                    contest.candidates[index].cost = objection(node, kind, p, scan.end)?.weight ?? 0
                }
                p = scan.end
                settle(&contest, kind, first)
            }
            // Behind a value.
            var isNext = false
            while let level = contest.levels.last, !isNext {
                p = Lexer.skipSpace(p, end)
                let fault = level.isObject ? SyntaxFault.memberEnd : .elementEnd
                guard p < end else { return stop(contest, fault, at: p) }
                switch (p.pointee, level.isObject) {
                case (Lexer.comma, let isObject):
                    p = Lexer.skipSpace(p + 1, end)
                    guard let next = isObject ? weighKey(&contest, p) : element(&contest, p) else { return nil }
                    p = next
                    isNext = true
                case (Lexer.closeBrace, true), (Lexer.closeBracket, false): p = leave(&contest, p)
                default: return stop(contest, fault, at: p)
                }
            }
            if !isNext { return p }
        }
    }

    private func scalar(_ p: BytePointer, _ kind: UInt8) -> Scan {
        switch kind {
        case ValueKind.string: Lexer.string(p + 1, end)
        case ValueKind.integer, ValueKind.fraction: Lexer.number(p, end).scan
        default: Lexer.literal(p, end)
        }
    }

    /// The next element is what the candidates want now.
    private func element(_ contest: inout Contest, _ p: BytePointer) -> BytePointer? {
        let level = contest.levels.count - 1
        contest.levels[level].count += 1
        for index in contest.levels[level].first..<contest.candidates.count {
            let array = tables.nodes[contest.candidates[index].node].array
            contest.candidates[index].wanted = array < 0 ? -1 : Int(program.arrays[Int(array)].element)
        }
        return p
    }

    /// Reads a key with its colon; its value is what the candidates want now.
    private mutating func weighKey(_ contest: inout Contest, _ p: BytePointer) -> BytePointer? {
        guard p < end, p.pointee == Lexer.quote else { return stop(contest, .key, at: p) }
        let scan = Lexer.string(p + 1, end)
        if scan.fault != .none { return stop(contest, scan.fault, at: scan.end, isKey: true) }
        let text = JSONText(start: p + 1, end: scan.end - 1)
        let hasEscapes = text.hasEscapes
        let hash = KeyHash.hash(text, hasEscapes: hasEscapes)
        let level = contest.levels.count - 1
        contest.levels[level].key = p
        let outcome = keys.insert(text, hasEscapes: hasEscapes, hash: hash, object: contest.levels[level].object)
        if outcome == .full {
            tooManyKeys(at: p, depth: contest.depth)
            return nil
        }
        if outcome == .duplicate { addDuplicate(&contest, at: p) } else { contest.levels[level].count += 1 }
        for index in contest.levels[level].first..<contest.candidates.count {
            contest.candidates[index].wanted = -1
            let object = Int(tables.nodes[contest.candidates[index].node].object)
            guard object >= 0 else { continue }
            let rule = tables.objects[object]
            let member = find(text, hasEscapes, hash, in: rule.keys)
            if member >= 0 {
                contest.candidates[index].wanted = Int(tables.members[member].node)
                if tables.members[member].isRequired, outcome == .new { contest.candidates[index].required += 1 }
            } else if rule.isClosed {
                contest.candidates[index].cost += 1
            } else {
                contest.candidates[index].wanted = Int(rule.others)
            }
        }
        let colon = Lexer.skipSpace(scan.end, end)
        guard colon < end, colon.pointee == Lexer.colon else { return stop(contest, .colon, at: colon) }
        return Lexer.skipSpace(colon + 1, end)
    }

    private func addDuplicate(_ contest: inout Contest, at p: BytePointer) {
        guard limits.refusesRepeatedKeys else { return }
        contest.duplicateCount += 1
        guard problems.problems.count + contest.duplicates.count < problems.limit else { return }
        contest.duplicates.append(
            JSONProblem(
                kind: .duplicateKey, pointer: pointer(contest, contest.levels.count), expected: "each key once",
                found: "a key that was there before", offset: p - base))
    }

    // MARK: Messages

    private mutating func stop(
        _ contest: Contest, _ fault: SyntaxFault, at p: BytePointer, isKey: Bool = false
    ) -> BytePointer? {
        // These are faults of the array or object itself, not of the value that was read in it last.
        let isAround = isKey || [.key, .colon, .elementEnd, .memberEnd].contains(fault)
        problems.stop(
            .syntax, pointer: pointer(contest, contest.levels.count - (isAround ? 1 : 0)), expected: fault.expected,
            found: fault.found(at: p, end), offset: p - base)
        return nil
    }

    private func pointer(_ contest: Contest, _ levels: Int) -> String {
        contest.levels.prefix(max(0, levels)).reduce(pointer(contest.depth)) { pointer, level in
            JSONPointer.appending(level.isObject ? key(level.key) : "\(level.count - 1)", to: pointer)
        }
    }
}
