import ErrandJSONSyntax

extension Validator {
    /// Reads a key that is not the expected one; nil if the rest of the text is not read.
    @inline(never) mutating func readKey(
        _ frame: UnsafeMutablePointer<Frame>, _ p: BytePointer, _ depth: Int
    ) -> (end: BytePointer, node: UnsafePointer<ShapeRule>)? {
        if let end = skipInOrder(frame, p) { return (end, tables.any) }
        let scan = JSONGrammar.string(p + 1, end)
        if scan.fault != .none {
            stop(scan.fault, at: scan.end, depth: depth - 1)
            return nil
        }
        let text = JSONText(start: p + 1, end: scan.end - 1)
        let hasEscapes = text.hasEscapes
        let hash = KeyHash.hash(text, hasEscapes: hasEscapes)
        let rule = frame.pointee.rule
        let member = rule.map { find(text, hasEscapes, hash, in: $0.pointee.keys) } ?? -1
        if member >= 0, let rule, !rule.pointee.isWide {
            successors[frame.pointee.member] = Int32(member)
            frame.pointee.member = member
        }
        if member >= 0, let rule, !rule.pointee.isWide {
            let bit: UInt64 = 1 << UInt64(member - Int(rule.pointee.keys.first))
            if frame.pointee.seen & bit != 0 { duplicate(depth, at: p) }
            frame.pointee.seen |= bit
        } else {
            switch store(text, hasEscapes: hasEscapes, hash: hash, object: frame.pointee.object) {
            case .new:
                frame.pointee.count &+= 1
                if keys.count & 0xFFF == 0, keys.size > limits.maximumMemoryBytes {
                    tooMuchMemory(at: p, depth: depth)
                    return nil
                }
            case .present: duplicate(depth, at: p)
            case .full:
                tooManyKeys(at: p, depth: depth)
                return nil
            }
        }
        if member >= 0 { return (scan.end, tables.nodes + Int(tables.members[member].node)) }
        if let rule, rule.pointee.isClosed {
            problem(.unexpectedKey, depth, at: p) { _ in ("no other key", "one") }
            return (scan.end, tables.any)
        }
        return (scan.end, frame.pointee.others)
    }

    @inline(__always) mutating func closeObject(_ frame: UnsafeMutablePointer<Frame>, _ p: BytePointer, _ depth: Int) {
        if let rule = frame.pointee.rule {
            if rule.pointee.required & ~frame.pointee.seen != 0 || rule.pointee.needsClosing {
                validateObject(frame, rule, depth)
            }
        } else {
            endOrder(frame)
        }
        if keys.count != frame.pointee.keysBefore { keys.removeAll(behind: frame.pointee.keysBefore) }
        if frame.pointee.node.pointee.hasChecks { validateContainer(frame, p, depth) }
    }

    @inline(__always)
    mutating func closeArray(_ frame: UnsafeMutablePointer<Frame>, _ count: Int, _ p: BytePointer, _ depth: Int) {
        let node = frame.pointee.node
        if node.pointee.array >= 0 {
            let rule = program.arrays[Int(node.pointee.array)]
            if rule.count >= 0 { validateCount(frame, rule.count, count, "an array", "element", depth) }
        }
        if node.pointee.hasChecks { validateContainer(frame, p, depth) }
    }

    /// Finds missing required keys, and checks the count of a map.
    @inline(never) private mutating func validateObject(
        _ frame: UnsafeMutablePointer<Frame>, _ rule: UnsafePointer<ObjectRule>, _ depth: Int
    ) {
        let table = rule.pointee.keys
        for bit in 0..<Int(table.count) {
            let index = Int(table.first) + bit
            let member = tables.members[index]
            guard member.isRequired else { continue }
            let isThere: Bool
            if rule.pointee.isWide {
                isThere = isRemembered(index, object: frame.pointee.object)
            } else {
                isThere = frame.pointee.seen & (1 << UInt64(bit)) != 0
            }
            if !isThere { missing(member, depth - 1, at: frame.pointee.start) }
        }
        if rule.pointee.count >= 0 {
            validateCount(frame, rule.pointee.count, frame.pointee.count, "an object", "key", depth)
        }
    }

    private mutating func validateCount(
        _ frame: UnsafeMutablePointer<Frame>, _ index: Int32, _ count: Int, _ noun: String, _ part: String,
        _ depth: Int
    ) {
        let bounds = program.bounds[Int(index)]
        if bounds.contains(count) { return }
        problem(.value, depth - 1, at: frame.pointee.start) { _ in
            ("\(noun) of \(MessageText.counted(bounds.amount ?? "another number of", part))", "\(count)")
        }
    }

    /// Runs custom checks for an array or an object without other problems.
    private mutating func validateContainer(_ frame: UnsafeMutablePointer<Frame>, _ p: BytePointer, _ depth: Int) {
        guard problems.count == frame.pointee.problemsBefore else { return }
        for index in frame.pointee.node.pointee.checks {
            guard let isFit = passes(index, frame.pointee.start, p + 1) else {
                problem(.limit, depth - 1, at: frame.pointee.start) { $0.tooManySteps }
                return
            }
            if isFit { continue }
            problem(.value, depth - 1, at: frame.pointee.start) { validator in
                let noun = Self.kindWord(frame.pointee.start)
                return (validator.program.checks[Int(index)].expected, "\(noun) that is not")
            }
        }
    }

    // MARK: Keys of a shape

    /// The index of a key in `members`; -1 if the table does not contain it.
    mutating func find(_ text: JSONText, _ hasEscapes: Bool, _ hash: UInt64, in table: KeyTable) -> Int {
        if table.count == 0 { return -1 }
        var slot = Int32(truncatingIfNeeded: hash) & table.mask
        while true {
            let member = program.slots[Int(table.firstSlot + slot)]
            if member < 0 { return -1 }
            if isText(tables.members + Int(member), text, hasEscapes) { return Int(member) }
            slot = (slot + 1) & table.mask
        }
    }

    mutating func isText(_ rule: UnsafePointer<KeyRule>, _ text: JSONText, _ hasEscapes: Bool) -> Bool {
        let key = tables.pool + Int(rule.pointee.text)
        let length = Int(rule.pointee.length)
        if hasEscapes { return UnsafeBufferPointer(start: key, count: length).elementsEqual(text.decoded) }
        return text.count == length && Bytes.equal(key, text.start, count: length)
    }

    private func isRemembered(_ member: Int, object: Int) -> Bool {
        let key = tables.pool + Int(tables.members[member].text)
        let text = JSONText(start: key, end: key + Int(tables.members[member].length))
        return keys.contains(text, hash: KeyHash.hash(text, hasEscapes: false), object: object)
    }
}
