import ErrandJSONSyntax

extension Validator {
    /// Reads a key other than the expected one. Returns `nil` if reading stopped.
    @inline(never) mutating func readKey(_ text: Span<UInt8>, _ p: Int, _ depth: Int) -> (end: Int, node: Int)? {
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
        let member = rule.map { find(text, content, hasEscapes, hash, in: $0.keys) } ?? -1
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
            problem(text, .unexpectedKey, depth, at: p) { _ in ("no other key", "one") }
            return (scan.index, ShapeProgram.any)
        }
        return (scan.index, Int(frame.others))
    }

    @inline(__always) mutating func closeObject(_ text: Span<UInt8>, _ p: Int, _ depth: Int) {
        if frame.rule >= 0 {
            let rule = Int(frame.rule)
            if objectRules[rule].required & ~frame.seen != 0 || objectRules[rule].needsClosing {
                validateObject(text, rule, depth)
            }
        } else {
            endOrder(text)
        }
        if keys.count != frame.keysBefore { keys.removeAll(behind: frame.keysBefore) }
        if nodes[Int(frame.node)].hasChecks { validateContainer(text, p, depth) }
    }

    @inline(__always) mutating func closeArray(_ text: Span<UInt8>, _ count: Int, _ p: Int, _ depth: Int) {
        let array = nodes[Int(frame.node)].array
        if array >= 0, arrayRules[Int(array)].count >= 0 {
            validateCount(text, arrayRules[Int(array)].count, count, "an array", "element", depth)
        }
        if nodes[Int(frame.node)].hasChecks { validateContainer(text, p, depth) }
    }

    /// Finds missing required keys, and checks the number of keys in a map.
    @inline(never) private mutating func validateObject(_ text: Span<UInt8>, _ rule: Int, _ depth: Int) {
        let rule = objectRules[rule]
        for bit in 0..<Int(rule.keys.count) {
            let index = Int(rule.keys.first) + bit
            let member = members[index]
            guard member.isRequired else { continue }
            let isThere: Bool
            if rule.isWide {
                isThere = keys.contains(Array(key(member)).span, in: text, object: frame.object)
            } else {
                isThere = frame.seen & (1 << UInt64(bit)) != 0
            }
            if !isThere { missing(text, member, depth - 1, at: frame.start) }
        }
        if rule.count >= 0 { validateCount(text, rule.count, frame.count, "an object", "key", depth) }
    }

    private mutating func validateCount(
        _ text: Span<UInt8>, _ index: Int32, _ count: Int, _ noun: String, _ part: String, _ depth: Int
    ) {
        let bounds = program.bounds[Int(index)]
        if bounds.contains(count) { return }
        problem(text, .value, depth - 1, at: frame.start) { _ in
            ("\(noun) of \(MessageText.counted(bounds.amount ?? "another number of", part))", "\(count)")
        }
    }

    /// Runs the custom checks of an array or object without other problems.
    private mutating func validateContainer(_ text: Span<UInt8>, _ p: Int, _ depth: Int) {
        guard problems.count == frame.problemsBefore else { return }
        let start = frame.start
        for index in nodes[Int(frame.node)].checks {
            guard let isFit = passes(text, index, start..<p + 1) else {
                problem(text, .limit, depth - 1, at: start) { $0.tooManySteps }
                return
            }
            if isFit { continue }
            let noun = Self.kindWord(text[start])
            problem(text, .value, depth - 1, at: start) { validator in
                (validator.program.checks[Int(index)].expected, "\(noun) that is not")
            }
        }
    }

    // MARK: A shape's keys

    /// Returns the index of a key in `members`, or -1 if the table doesn't contain it.
    mutating func find(
        _ text: Span<UInt8>, _ content: JSONContent, _ hasEscapes: Bool, _ hash: UInt64, in table: KeyTable
    ) -> Int {
        if table.count == 0 { return -1 }
        var slot = Int32(truncatingIfNeeded: hash) & table.mask
        while true {
            let member = program.slots[Int(table.firstSlot + slot)]
            if member < 0 { return -1 }
            if isText(text, Int(member), content, hasEscapes) { return Int(member) }
            slot = (slot + 1) & table.mask
        }
    }

    mutating func isText(_ text: Span<UInt8>, _ member: Int, _ content: JSONContent, _ hasEscapes: Bool) -> Bool {
        let rule = members[member]
        if hasEscapes { return key(rule).elementsEqual(content.decoded(in: text)) }
        return content.count == Int(rule.length)
            && Bytes.equal(pool.span, Int(rule.text), text, content.start, count: content.count)
    }

    func key(_ member: KeyRule) -> ArraySlice<UInt8> {
        pool[Int(member.text)..<Int(member.text) + Int(member.length)]
    }
}
