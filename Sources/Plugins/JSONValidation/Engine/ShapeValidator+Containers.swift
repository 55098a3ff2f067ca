import ErrandJSONSyntax

extension ShapeValidator {
    /// Reads a key other than the expected key. Returns `nil` if reading stopped.
    @inline(never) mutating func readKey(_ text: Span<UInt8>, at p: Int, depth: Int) -> (end: Int, node: Int)? {
        if let end = skipInOrder(text, p) { return (end, ShapeProgram.any) }
        let scan = JSONGrammar.string(in: text, from: p + 1)
        if scan.fault != .none {
            stop(text, scan.fault, at: scan.index, depth: depth - 1)
            return nil
        }
        let content = JSONContent(p + 1, scan.index - 1)
        let hasEscapes = content.hasEscapes(in: text)
        let hash = KeyHash.hash(text, content, hasEscapes: hasEscapes)
        let rule = frame.rule < 0 ? nil : objectRules[Int(frame.rule)]
        let member = rule.map { find(text, content, hasEscapes: hasEscapes, hash: hash, in: $0.keys) } ?? -1
        if member >= 0, let rule, !rule.isWide {
            successors[Int(frame.member)] = Int32(member)
            frame.member = Int32(member)
            let bit: UInt64 = 1 << UInt64(member - Int(rule.keys.first))
            if frame.seen & bit != 0 { duplicate(text, depth, at: p) }
            frame.seen |= bit
        } else {
            switch store(text, content, hasEscapes: hasEscapes, hash: hash, object: frame.object) {
            case .new:
                frame.count &+= 1
                if keys.count & 0xFFF == 0, keys.size > limits.maximumMemoryBytes {
                    tooMuchMemory(text, at: p, depth: depth)
                    return nil
                }
            case .present: duplicate(text, depth, at: p)
            case .full:
                tooManyKeys(text, at: p, depth: depth)
                return nil
            }
        }
        if member >= 0 { return (scan.index, Int(members[member].node)) }
        if let rule, rule.isClosed {
            problem(text, .unexpectedKey, depth: depth, at: p) { _ in ("no other key", "one") }
            return (scan.index, ShapeProgram.any)
        }
        return (scan.index, Int(frame.others))
    }

    @inline(__always) mutating func closeObject(_ text: Span<UInt8>, at p: Int, depth: Int) {
        if frame.rule >= 0 {
            let rule = Int(frame.rule)
            if objectRules[rule].required & ~frame.seen != 0 || objectRules[rule].needsClosing {
                validateObject(text, rule, depth: depth)
            }
        } else {
            endOrder(text)
        }
        if keys.count != frame.keysBefore { keys.removeAll(behind: frame.keysBefore) }
        if nodes[Int(frame.node)].hasChecks { validateContainer(text, at: p, depth: depth) }
    }

    @inline(__always) mutating func closeArray(_ text: Span<UInt8>, count: Int, at p: Int, depth: Int) {
        let array = nodes[Int(frame.node)].array
        if array >= 0, arrayRules[Int(array)].count >= 0 {
            validateCount(
                text, bounds: arrayRules[Int(array)].count, count: count, "an array", of: "element", depth: depth)
        }
        if nodes[Int(frame.node)].hasChecks { validateContainer(text, at: p, depth: depth) }
    }

    @inline(never) private mutating func validateObject(_ text: Span<UInt8>, _ rule: Int, depth: Int) {
        let rule = objectRules[rule]
        for bit in 0..<Int(rule.keys.count) {
            let index = Int(rule.keys.first) + bit
            let member = members[index]
            guard member.isRequired else { continue }
            let isThere: Bool
            if rule.isWide {
                let key = key(member)
                isThere = keys.contains(key.span, in: text, object: frame.object)
            } else {
                isThere = frame.seen & (1 << UInt64(bit)) != 0
            }
            if !isThere { missing(text, member, depth: depth - 1, at: frame.start) }
        }
        if rule.count >= 0 {
            validateCount(text, bounds: rule.count, count: frame.count, "an object", of: "key", depth: depth)
        }
    }

    private mutating func validateCount(
        _ text: Span<UInt8>, bounds index: Int32, count: Int, _ noun: String, of part: String, depth: Int
    ) {
        let bounds = program.bounds[Int(index)]
        if bounds.contains(count) { return }
        problem(text, .value, depth: depth - 1, at: frame.start) { _ in
            ("\(noun) of \(MessageText.counted(bounds.amount ?? "another number of", part))", "\(count)")
        }
    }

    private mutating func validateContainer(_ text: Span<UInt8>, at p: Int, depth: Int) {
        guard problems.count == frame.problemsBefore else { return }
        let start = frame.start
        for index in nodes[Int(frame.node)].checks {
            guard let isFit = passes(text, index, in: start..<p + 1) else {
                problem(text, .limit, depth: depth - 1, at: start) { $0.tooManySteps }
                return
            }
            if isFit { continue }
            let noun = Self.kindWord(text[start])
            problem(text, .value, depth: depth - 1, at: start) { validator in
                (validator.program.checks[Int(index)].expected, "\(noun) that fails the check")
            }
        }
    }

    // MARK: A shape's keys

    /// Returns an index in `members`, or -1.
    mutating func find(
        _ text: Span<UInt8>, _ content: JSONContent, hasEscapes: Bool, hash: UInt64, in table: KeyTable
    ) -> Int {
        if table.count == 0 { return -1 }
        var slot = Int32(truncatingIfNeeded: hash) & table.mask
        while true {
            let member = program.slots[Int(table.firstSlot + slot)]
            if member < 0 { return -1 }
            if isText(text, Int(member), at: content, hasEscapes: hasEscapes) { return Int(member) }
            slot = (slot + 1) & table.mask
        }
    }

    mutating func isText(_ text: Span<UInt8>, _ member: Int, at content: JSONContent, hasEscapes: Bool) -> Bool {
        let rule = members[member]
        if hasEscapes { return key(rule).elementsEqual(content.decoded(in: text)) }
        return content.count == Int(rule.length)
            && Bytes.equal(pool.span, at: Int(rule.text), to: text, at: content.start, count: content.count)
    }

    func key(_ member: KeyRule) -> ArraySlice<UInt8> {
        pool[Int(member.text)..<Int(member.text) + Int(member.length)]
    }
}

/// Chooses a shape by a ``TagRule``, so a value is matched only against the shapes with its tag.
extension ShapeValidator {
    /// Returns `nil` if the value has to be matched against all alternatives.
    mutating func choose(_ text: Span<UInt8>, byTagOf node: Int, at start: Int, depth: Int) -> Choice? {
        let rule = program.tags[Int(nodes[node].tag)]
        switch find(text, rule.key, in: start) {
        case .unreadable: return nil
        case .missing: return choose(text, without: rule, of: node, from: start, at: nil, depth: depth)
        case .value(let p):
            guard text[p] == JSONGrammar.quote else {
                return choose(text, without: rule, of: node, from: start, at: p, depth: depth)
            }
            let scan = JSONGrammar.string(in: text, from: p + 1)
            guard scan.fault == .none else { return nil }
            let content = JSONContent(p + 1, scan.index - 1)
            let hasEscapes = content.hasEscapes(in: text)
            let member = find(
                text, content, hasEscapes: hasEscapes, hash: KeyHash.hash(text, content, hasEscapes: hasEscapes),
                in: rule.values)
            guard member >= 0 else { return choose(text, without: rule, of: node, from: start, at: p, depth: depth) }
            let nodes = program.tagged[Int(members[member].node)]
            if nodes.count == 1 { return Choice(node: Int(nodes[0]), end: start) }
            return choose(text, among: nodes.map { Int($0) }, of: node, ValueKind.object, at: start, depth: depth)
        }
    }

    /// Reports an unknown tag. If the rest of the object fits one shape best, reports the problems with that shape.
    /// Otherwise, reports the tags of all shapes that fit equally well.
    private mutating func choose(
        _ text: Span<UInt8>, without rule: TagRule, of node: Int, from start: Int, at p: Int?, depth: Int
    ) -> Choice {
        let unread = Choice(node: ShapeProgram.any, end: start)
        if problems.isFull {
            problems.note(.value)
            problems.addUnlisted(1)
            return unread
        }
        guard let (match, end) = evaluate(text, [node], at: start, depth: depth) else {
            return Choice(node: node, end: start, isAtEnd: true)
        }
        let least = match.candidates.reduce(Int.max) { min($0, $1.cost) }
        let closest = match.candidates.filter { $0.cost == least }
        if closest.count == 1, let best = closest.first, rereadBudget >= end - start {
            rereadBudget -= end - start
            return Choice(node: best.node, end: start)
        }
        let nodes = Set(closest.map { Int32($0.node) })
        var known: Set<JSONConstant> = []
        let fitting = rule.constants.filter { nodes.contains($0.node) }.flatMap(\.values)
        report(text, fitting.filter { known.insert($0).inserted }, of: rule, from: start, at: p, depth: depth)
        return unread
    }

    private mutating func report(
        _ text: Span<UInt8>, _ constants: [JSONConstant], of rule: TagRule, from start: Int, at p: Int?, depth: Int
    ) {
        let member = members[Int(rule.key.first)]
        let pointer = JSONPointer.appending(String(decoding: key(member), as: UTF8.self), to: pointer(text, depth))
        var problem = JSONProblem(
            kind: .missing, pointer: pointer, expected: words(constants), found: "nothing", offset: start)
        if let p {
            problem.kind = text[p] == JSONGrammar.quote ? .value : .type
            problem.found = text[p] == JSONGrammar.quote ? "another string" : Self.kindWord(text[p])
            problem.offset = p
        }
        problems.note(problem.kind, isDerived: isUncertain)
        problems.add(problem)
    }

    private mutating func find(_ text: Span<UInt8>, _ key: KeyTable, in start: Int) -> MemberSearch.Outcome {
        var search = MemberSearch(in: text, from: start, budget: skipBudget)
        let outcome = search.find(in: text) {
            isText(text, Int(key.first), at: $0, hasEscapes: $0.hasEscapes(in: text))
        }
        skipBudget -= search.skipped
        return outcome
    }
}
