import ErrandJSONSyntax

/// Matches a value against several alternatives in a single pass, including nested alternatives.
///
/// Each rule that may apply to the current value is a candidate, only once even if several alternatives contain the
/// rule. The cost of an alternative is the number of problems that the value has with it. The error message describes
/// the alternative with the lowest cost.
struct AlternativeMatch {
    struct Candidate {
        /// A node with a single rule for the kind of the value.
        var node: Int
        /// -1 accepts any value.
        var expectedNode = -1
        var cost = 0
        var required = 0
        /// The candidate of the same node for an enclosing value.
        var previous: Int32 = -1
    }

    struct Level {
        var start: Int
        var key: Int
        var isObject: Bool
        /// The index of the first candidate for this container. The candidates for the value inside it come after the
        /// container's candidates.
        var first: Int
        var count = 0
        var object: Int
        var keysBefore: Int

        var kind: UInt8 { isObject ? ValueKind.object : ValueKind.array }
    }

    let top: [Int]
    let depth: Int
    var candidates: [Candidate] = []
    var levels: [Level] = []
    /// The innermost candidate of each node, or -1.
    var candidateIndexes: [Int32]
    /// Problems for every alternative.
    var duplicates: [JSONProblem] = []
    var duplicateCount = 0

    init(among top: [Int], depth: Int, candidateIndexes: [Int32]) {
        (self.top, self.depth, self.candidateIndexes) = (top, depth, candidateIndexes)
    }

    mutating func enter(_ node: Int, behind first: Int) {
        if candidateIndexes[node] >= first { return }
        candidates.append(Candidate(node: node, previous: candidateIndexes[node]))
        candidateIndexes[node] = Int32(candidates.count - 1)
    }

    mutating func leave(behind first: Int) {
        while candidates.count > first {
            let last = candidates.removeLast()
            candidateIndexes[last.node] = last.previous
        }
    }
}

extension ShapeValidator {
    /// If `end` is the index after the value, the value has been validated. If `end` is the start of the value, it must
    /// still be validated against `node`.
    struct Choice {
        var node: Int
        var end: Int
        var isAtEnd = false
    }

    @inline(never) mutating func choose(
        _ text: Span<UInt8>, among node: Int, at start: Int, depth: Int
    ) -> Choice {
        guard let kind = kind(text, at: start), nodes[node].ambiguous & kind != 0 else {
            return Choice(node: node, end: start)
        }
        if kind == ValueKind.object, nodes[node].tag >= 0,
            let choice = choose(text, byTagOf: node, at: start, depth: depth)
        {
            return choice
        }
        return choose(text, among: [node], of: node, kind, at: start, depth: depth)
    }

    mutating func choose(
        _ text: Span<UInt8>, among top: [Int], of node: Int, _ kind: UInt8, at start: Int, depth: Int
    ) -> Choice {
        guard let (match, end) = evaluate(text, top, at: start, depth: depth) else {
            return Choice(node: node, end: start, isAtEnd: true)
        }
        guard let best = match.candidates.min(by: { $0.cost < $1.cost }) else { return Choice(node: node, end: end) }
        if best.cost > 0, kind & (ValueKind.array | ValueKind.object) != 0, !problems.isFull,
            rereadBudget >= end - start
        {
            rereadBudget -= end - start
            return Choice(node: best.node, end: start)
        }
        if best.cost > 0 { reportNoMatch(text, match, kind: kind, from: start, to: end, depth: depth) }
        if match.duplicateCount > 0 { problems.note(.duplicateKey) }
        for duplicate in match.duplicates { problems.add(duplicate) }
        problems.addUnlisted(match.duplicateCount - match.duplicates.count)
        return Choice(node: node, end: end)
    }

    /// Matches a value against several nodes. Returns `nil` if reading stopped.
    mutating func evaluate(
        _ text: Span<UInt8>, _ top: [Int], at start: Int, depth: Int
    ) -> (AlternativeMatch, Int)? {
        if candidateIndexes.isEmpty { candidateIndexes = [Int32](repeating: -1, count: nodes.count) }
        var match = AlternativeMatch(among: top, depth: depth, candidateIndexes: [])
        swap(&match.candidateIndexes, &candidateIndexes)
        let isOuter = isMatching
        isMatching = true
        let end = readCompeting(text, &match, from: start)
        isMatching = isOuter
        let candidates = match.candidates
        match.leave(behind: 0)
        match.candidates = candidates
        swap(&match.candidateIndexes, &candidateIndexes)
        return end.map { (match, $0) }
    }

    private mutating func reportNoMatch(
        _ text: Span<UInt8>, _ match: AlternativeMatch, kind: UInt8, from start: Int, to end: Int, depth: Int
    ) {
        let found = Self.kindWord(text[start]) + " that doesn't fit"
        if kind & (ValueKind.array | ValueKind.object) != 0 {
            return problem(text, .value, depth: depth, at: start) { _ in
                ("one of \(match.candidates.count) shapes", found)
            }
        }
        problems.note(.value, isDerived: isUncertain)
        if problems.isFull { return problems.addUnlisted(1) }
        var words: [String] = []
        for candidate in match.candidates {
            if words.count == 12 {
                words.append("others")
                break
            }
            let rule = candidate.node
            guard let violation = violation(text, rule, kind: kind, in: start..<end) else { continue }
            let word = expected(rule, kind: kind, violation: violation)
            if !words.contains(word) { words.append(word) }
        }
        let expected = MessageText.list(words)
        problem(text, .value, depth: depth, at: start) { _ in (expected, found) }
    }

    func kind(_ text: Span<UInt8>, at p: Int) -> UInt8? {
        switch text[p] {
        case JSONGrammar.quote: return ValueKind.string
        case JSONGrammar.openBrace: return ValueKind.object
        case JSONGrammar.openBracket: return ValueKind.array
        case UInt8(ascii: "t"): return ValueKind.true
        case UInt8(ascii: "f"): return ValueKind.false
        case UInt8(ascii: "n"): return ValueKind.null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return JSONGrammar.number(in: text, from: p).isPlain ? ValueKind.integer : ValueKind.fraction
        default: return nil
        }
    }
}

extension ShapeValidator {
    /// Computes the value's cost for each candidate. Returns the index after the value, or `nil` if reading stopped.
    mutating func readCompeting(
        _ text: Span<UInt8>, _ match: inout AlternativeMatch, from start: Int
    ) -> Int? {
        var p = start
        while true {
            guard p < text.count, let kind = kind(text, at: p) else { return stop(text, match, fault: .value, at: p) }
            let first = match.candidates.count
            enter(&match, kind)
            steps -= 1 + (match.candidates.count - first) * 2
            if steps < 0 {
                let (expected, found) = tooManySteps
                problems.stop(
                    .limit, pointer: pointer(text, match.depth), expected: expected, found: found, offset: p)
                return nil
            }
            if kind & (ValueKind.array | ValueKind.object) != 0 {
                if match.depth + match.levels.count >= limits.maximumDepth {
                    tooDeep(text, at: p, depth: match.depth)
                    return nil
                }
                let isObject = kind == ValueKind.object
                if isObject { objects &+= 1 }
                match.levels.append(
                    AlternativeMatch.Level(
                        start: p, key: p, isObject: isObject, first: first, object: objects, keysBefore: keys.count))
                p = JSONGrammar.skipSpace(in: text, from: p + 1)
                let isEmpty =
                    p < text.count && text[p] == (isObject ? JSONGrammar.closeBrace : JSONGrammar.closeBracket)
                if !isEmpty {
                    guard let next = isObject ? readCompetingKey(text, &match, at: p) : element(&match, p) else {
                        return nil
                    }
                    p = next
                    continue
                }
                p = leave(text, &match, at: p)
            } else {
                let scan = scalar(text, at: p, kind: kind)
                if scan.fault != .none { return stop(text, match, fault: scan.fault, at: scan.index) }
                for index in first..<match.candidates.count {
                    let node = match.candidates[index].node
                    match.candidates[index].cost = violation(text, node, kind: kind, in: p..<scan.index)?.weight ?? 0
                }
                p = scan.index
                chargeParents(&match, kind: kind, from: first)
            }
            // After a value, reads closing brackets until another key or element follows.
            var isNext = false
            while let level = match.levels.last, !isNext {
                p = JSONGrammar.skipSpace(in: text, from: p)
                let fault = level.isObject ? JSONFault.memberEnd : .elementEnd
                guard p < text.count else { return stop(text, match, fault: fault, at: p) }
                switch (text[p], level.isObject) {
                case (JSONGrammar.comma, let isObject):
                    p = JSONGrammar.skipSpace(in: text, from: p + 1)
                    guard let next = isObject ? readCompetingKey(text, &match, at: p) : element(&match, p) else {
                        return nil
                    }
                    p = next
                    isNext = true
                case (JSONGrammar.closeBrace, true), (JSONGrammar.closeBracket, false): p = leave(text, &match, at: p)
                default: return stop(text, match, fault: fault, at: p)
                }
            }
            if !isNext { return p }
        }
    }

    private func scalar(_ text: Span<UInt8>, at p: Int, kind: UInt8) -> JSONTokenEnd {
        switch kind {
        case ValueKind.string: JSONGrammar.string(in: text, from: p + 1)
        case ValueKind.integer, ValueKind.fraction: JSONGrammar.number(in: text, from: p).end
        default: JSONGrammar.literal(in: text, from: p)
        }
    }

    private func element(_ match: inout AlternativeMatch, _ p: Int) -> Int? {
        let level = match.levels.count - 1
        match.levels[level].count += 1
        for index in match.levels[level].first..<match.candidates.count {
            let array = nodes[match.candidates[index].node].array
            match.candidates[index].expectedNode = array < 0 ? -1 : Int(arrayRules[Int(array)].element)
        }
        return p
    }

    private mutating func readCompetingKey(
        _ text: Span<UInt8>, _ match: inout AlternativeMatch, at p: Int
    ) -> Int? {
        guard p < text.count, text[p] == JSONGrammar.quote else { return stop(text, match, fault: .key, at: p) }
        let scan = JSONGrammar.string(in: text, from: p + 1)
        if scan.fault != .none { return stop(text, match, fault: scan.fault, at: scan.index, isKey: true) }
        let content = JSONContent(p + 1, scan.index - 1)
        let hasEscapes = content.hasEscapes(in: text)
        let hash = KeyHash.hash(text, content, hasEscapes: hasEscapes)
        let level = match.levels.count - 1
        match.levels[level].key = p
        let outcome = store(text, content, hasEscapes: hasEscapes, hash: hash, object: match.levels[level].object)
        if outcome == .full {
            tooManyKeys(text, at: p, depth: match.depth)
            return nil
        }
        if outcome == .present { addDuplicate(text, &match, at: p) } else { match.levels[level].count += 1 }
        steps -= (match.candidates.count - match.levels[level].first) * 2
        for index in match.levels[level].first..<match.candidates.count {
            match.candidates[index].expectedNode = -1
            let object = Int(nodes[match.candidates[index].node].object)
            guard object >= 0 else { continue }
            let rule = objectRules[object]
            let member = find(text, content, hasEscapes: hasEscapes, hash: hash, in: rule.keys)
            if member >= 0 {
                match.candidates[index].expectedNode = Int(members[member].node)
                if members[member].isRequired, outcome == .new { match.candidates[index].required += 1 }
            } else if rule.isClosed {
                match.candidates[index].cost += 1
            } else {
                match.candidates[index].expectedNode = Int(rule.others)
            }
        }
        let colon = JSONGrammar.skipSpace(in: text, from: scan.index)
        guard colon < text.count, text[colon] == JSONGrammar.colon else {
            return stop(text, match, fault: .colon, at: colon)
        }
        return JSONGrammar.skipSpace(in: text, from: colon + 1)
    }

    private func addDuplicate(_ text: Span<UInt8>, _ match: inout AlternativeMatch, at p: Int) {
        guard limits.refusesRepeatedKeys else { return }
        match.duplicateCount += 1
        guard problems.problems.count + match.duplicates.count < problems.limit else { return }
        match.duplicates.append(
            JSONProblem(
                kind: .duplicateKey, pointer: pointer(text, match, levels: match.levels.count),
                expected: "each key once",
                found: "a repeated key", offset: p))
    }

    // MARK: Messages

    private mutating func stop(
        _ text: Span<UInt8>, _ match: AlternativeMatch, fault: JSONFault, at p: Int, isKey: Bool = false
    ) -> Int? {
        // Whether the fault belongs to the enclosing array or object instead of the last value.
        let isAround = isKey || [.key, .colon, .elementEnd, .memberEnd].contains(fault)
        problems.stop(
            .syntax, pointer: pointer(text, match, levels: match.levels.count - (isAround ? 1 : 0)),
            expected: fault.expected,
            found: fault.found(in: text, at: p), offset: p)
        return nil
    }

    private func pointer(_ text: Span<UInt8>, _ match: AlternativeMatch, levels: Int) -> String {
        match.levels.prefix(max(0, levels)).reduce(pointer(text, match.depth)) { pointer, level in
            JSONPointer.appending(level.isObject ? key(text, level.key) : "\(level.count - 1)", to: pointer)
        }
    }
}
