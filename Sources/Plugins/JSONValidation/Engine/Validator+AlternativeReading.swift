import ErrandJSONSyntax

extension Validator {
    /// Reads a value. The candidates for it keep their costs. Returns `nil` if reading stopped.
    mutating func readCompeting(
        _ text: Span<UInt8>, _ match: inout AlternativeMatch, from start: Int
    ) -> Int? {
        var p = start
        while true {
            guard p < text.count, let kind = kind(text, at: p) else { return stop(text, match, .value, at: p) }
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
                    guard let next = isObject ? readCompetingKey(text, &match, p) : element(&match, p) else {
                        return nil
                    }
                    p = next
                    continue
                }
                p = leave(text, &match, p)
            } else {
                let scan = scalar(text, p, kind)
                if scan.fault != .none { return stop(text, match, scan.fault, at: scan.index) }
                for index in first..<match.candidates.count {
                    let node = match.candidates[index].node
                    match.candidates[index].cost = violation(text, node, kind, p..<scan.index)?.weight ?? 0
                }
                p = scan.index
                chargeParents(&match, kind, first)
            }
            // After a value: closing brackets, then the next key or element.
            var isNext = false
            while let level = match.levels.last, !isNext {
                p = JSONGrammar.skipSpace(in: text, from: p)
                let fault = level.isObject ? JSONFault.memberEnd : .elementEnd
                guard p < text.count else { return stop(text, match, fault, at: p) }
                switch (text[p], level.isObject) {
                case (JSONGrammar.comma, let isObject):
                    p = JSONGrammar.skipSpace(in: text, from: p + 1)
                    guard let next = isObject ? readCompetingKey(text, &match, p) : element(&match, p) else {
                        return nil
                    }
                    p = next
                    isNext = true
                case (JSONGrammar.closeBrace, true), (JSONGrammar.closeBracket, false): p = leave(text, &match, p)
                default: return stop(text, match, fault, at: p)
                }
            }
            if !isNext { return p }
        }
    }

    private func scalar(_ text: Span<UInt8>, _ p: Int, _ kind: UInt8) -> JSONTokenEnd {
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

    /// Reads a key and its colon, and prepares the candidates for its value.
    private mutating func readCompetingKey(
        _ text: Span<UInt8>, _ match: inout AlternativeMatch, _ p: Int
    ) -> Int? {
        guard p < text.count, text[p] == JSONGrammar.quote else { return stop(text, match, .key, at: p) }
        let scan = JSONGrammar.string(in: text, from: p + 1)
        if scan.fault != .none { return stop(text, match, scan.fault, at: scan.index, isKey: true) }
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
            let member = find(text, content, hasEscapes, hash, in: rule.keys)
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
        guard colon < text.count, text[colon] == JSONGrammar.colon else { return stop(text, match, .colon, at: colon) }
        return JSONGrammar.skipSpace(in: text, from: colon + 1)
    }

    private func addDuplicate(_ text: Span<UInt8>, _ match: inout AlternativeMatch, at p: Int) {
        guard limits.refusesRepeatedKeys else { return }
        match.duplicateCount += 1
        guard problems.problems.count + match.duplicates.count < problems.limit else { return }
        match.duplicates.append(
            JSONProblem(
                kind: .duplicateKey, pointer: pointer(text, match, match.levels.count), expected: "each key once",
                found: "a repeated key", offset: p))
    }

    // MARK: Messages

    private mutating func stop(
        _ text: Span<UInt8>, _ match: AlternativeMatch, _ fault: JSONFault, at p: Int, isKey: Bool = false
    ) -> Int? {
        // These faults belong to the enclosing array or object, not to the last value.
        let isAround = isKey || [.key, .colon, .elementEnd, .memberEnd].contains(fault)
        problems.stop(
            .syntax, pointer: pointer(text, match, match.levels.count - (isAround ? 1 : 0)), expected: fault.expected,
            found: fault.found(in: text, at: p), offset: p)
        return nil
    }

    private func pointer(_ text: Span<UInt8>, _ match: AlternativeMatch, _ levels: Int) -> String {
        match.levels.prefix(max(0, levels)).reduce(pointer(text, match.depth)) { pointer, level in
            JSONPointer.appending(level.isObject ? key(text, level.key) : "\(level.count - 1)", to: pointer)
        }
    }
}
