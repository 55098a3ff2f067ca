import ErrandJSONSyntax

/// Reads a value that several alternatives compete for.
extension Validator {
    /// Reads a value; the candidates for it keep their costs. Nil if the rest of the text is not read.
    mutating func readCompeting(_ match: inout AlternativeMatch, from start: BytePointer) -> BytePointer? {
        var p = start
        while true {
            guard p < end, let kind = kind(at: p) else { return stop(match, .value, at: p) }
            let first = match.candidates.count
            enter(&match, kind)
            steps -= 1 + (match.candidates.count - first) * 2
            if steps < 0 {
                let (expected, found) = tooManySteps
                problems.stop(
                    .limit, pointer: pointer(match.depth), expected: expected, found: found, offset: p - base)
                return nil
            }
            if kind & (ValueKind.array | ValueKind.object) != 0 {
                if match.depth + match.levels.count >= limits.maximumDepth {
                    tooDeep(at: p, depth: match.depth)
                    return nil
                }
                let isObject = kind == ValueKind.object
                if isObject { objects &+= 1 }
                match.levels.append(
                    AlternativeMatch.Level(
                        start: p, key: p, isObject: isObject, first: first, object: objects, keysBefore: keys.count))
                p = JSONGrammar.skipSpace(p + 1, end)
                let isEmpty = p < end && p.pointee == (isObject ? JSONGrammar.closeBrace : JSONGrammar.closeBracket)
                if !isEmpty {
                    guard let next = isObject ? readCompetingKey(&match, p) : element(&match, p) else { return nil }
                    p = next
                    continue
                }
                p = leave(&match, p)
            } else {
                let scan = scalar(p, kind)
                if scan.fault != .none { return stop(match, scan.fault, at: scan.end) }
                for index in first..<match.candidates.count {
                    let node = tables.nodes + match.candidates[index].node
                    match.candidates[index].cost = violation(node, kind, p, scan.end)?.weight ?? 0
                }
                p = scan.end
                chargeParents(&match, kind, first)
            }
            // After a value: closing brackets, then the next key or element.
            var isNext = false
            while let level = match.levels.last, !isNext {
                p = JSONGrammar.skipSpace(p, end)
                let fault = level.isObject ? JSONFault.memberEnd : .elementEnd
                guard p < end else { return stop(match, fault, at: p) }
                switch (p.pointee, level.isObject) {
                case (JSONGrammar.comma, let isObject):
                    p = JSONGrammar.skipSpace(p + 1, end)
                    guard let next = isObject ? readCompetingKey(&match, p) : element(&match, p) else { return nil }
                    p = next
                    isNext = true
                case (JSONGrammar.closeBrace, true), (JSONGrammar.closeBracket, false): p = leave(&match, p)
                default: return stop(match, fault, at: p)
                }
            }
            if !isNext { return p }
        }
    }

    private func scalar(_ p: BytePointer, _ kind: UInt8) -> JSONScan {
        switch kind {
        case ValueKind.string: JSONGrammar.string(p + 1, end)
        case ValueKind.integer, ValueKind.fraction: JSONGrammar.number(p, end).scan
        default: JSONGrammar.literal(p, end)
        }
    }

    /// Prepares the candidates for the next element.
    private func element(_ match: inout AlternativeMatch, _ p: BytePointer) -> BytePointer? {
        let level = match.levels.count - 1
        match.levels[level].count += 1
        for index in match.levels[level].first..<match.candidates.count {
            let array = tables.nodes[match.candidates[index].node].array
            match.candidates[index].expectedNode = array < 0 ? -1 : Int(program.arrays[Int(array)].element)
        }
        return p
    }

    /// Reads a key with its colon, and prepares the candidates for its value.
    private mutating func readCompetingKey(_ match: inout AlternativeMatch, _ p: BytePointer) -> BytePointer? {
        guard p < end, p.pointee == JSONGrammar.quote else { return stop(match, .key, at: p) }
        let scan = JSONGrammar.string(p + 1, end)
        if scan.fault != .none { return stop(match, scan.fault, at: scan.end, isKey: true) }
        let text = JSONText(start: p + 1, end: scan.end - 1)
        let hasEscapes = text.hasEscapes
        let hash = KeyHash.hash(text, hasEscapes: hasEscapes)
        let level = match.levels.count - 1
        match.levels[level].key = p
        let outcome = store(text, hasEscapes: hasEscapes, hash: hash, object: match.levels[level].object)
        if outcome == .full {
            tooManyKeys(at: p, depth: match.depth)
            return nil
        }
        if outcome == .present { addDuplicate(&match, at: p) } else { match.levels[level].count += 1 }
        steps -= (match.candidates.count - match.levels[level].first) * 2
        for index in match.levels[level].first..<match.candidates.count {
            match.candidates[index].expectedNode = -1
            let object = Int(tables.nodes[match.candidates[index].node].object)
            guard object >= 0 else { continue }
            let rule = tables.objects[object]
            let member = find(text, hasEscapes, hash, in: rule.keys)
            if member >= 0 {
                match.candidates[index].expectedNode = Int(tables.members[member].node)
                if tables.members[member].isRequired, outcome == .new { match.candidates[index].required += 1 }
            } else if rule.isClosed {
                match.candidates[index].cost += 1
            } else {
                match.candidates[index].expectedNode = Int(rule.others)
            }
        }
        let colon = JSONGrammar.skipSpace(scan.end, end)
        guard colon < end, colon.pointee == JSONGrammar.colon else { return stop(match, .colon, at: colon) }
        return JSONGrammar.skipSpace(colon + 1, end)
    }

    private func addDuplicate(_ match: inout AlternativeMatch, at p: BytePointer) {
        guard limits.refusesRepeatedKeys else { return }
        match.duplicateCount += 1
        guard problems.problems.count + match.duplicates.count < problems.limit else { return }
        match.duplicates.append(
            JSONProblem(
                kind: .duplicateKey, pointer: pointer(match, match.levels.count), expected: "each key once",
                found: "a repeated key", offset: p - base))
    }

    // MARK: Messages

    private mutating func stop(
        _ match: AlternativeMatch, _ fault: JSONFault, at p: BytePointer, isKey: Bool = false
    ) -> BytePointer? {
        // These are faults of the enclosing array or object, not of the value that was read last.
        let isAround = isKey || [.key, .colon, .elementEnd, .memberEnd].contains(fault)
        problems.stop(
            .syntax, pointer: pointer(match, match.levels.count - (isAround ? 1 : 0)), expected: fault.expected,
            found: fault.found(at: p, end), offset: p - base)
        return nil
    }

    private func pointer(_ match: AlternativeMatch, _ levels: Int) -> String {
        match.levels.prefix(max(0, levels)).reduce(pointer(match.depth)) { pointer, level in
            JSONPointer.appending(level.isObject ? key(level.key) : "\(level.count - 1)", to: pointer)
        }
    }
}
