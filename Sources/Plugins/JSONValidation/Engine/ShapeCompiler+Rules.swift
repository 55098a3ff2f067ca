/// The rules of nodes, and the tables that they refer to.
extension ShapeCompiler {
    mutating func addRule(_ alternative: ShapeAlternative, to node: inout ShapeRule) {
        switch alternative.form {
        case .number(let form):
            var rule = NumberRule(isInteger: form.isInteger)
            if let range = form.integers { rule.integers = add(range) }
            if let range = form.numbers {
                rule.numbers = Int32(ranges.count)
                ranges.append(range)
            }
            node.number = add(rule)
        case .string(let form):
            var rule = StringRule()
            if let length = form.length.bounds { rule.length = add(length) }
            if let pattern = form.pattern {
                if case .failure(let error) = pattern.program {
                    reportUnusable("a pattern that is supported", "\(error)")
                }
                rule.pattern = Int32(patterns.count)
                patterns.append(pattern)
            }
            node.isNonEmptyString = form.isNonEmptyOnly && alternative.checks.isEmpty
            node.string = add(rule)
        case .constants(let values): addConstants(values, kinds: alternative.kinds, to: &node)
        case .array(let element, let count):
            let rule = ArrayRule(element: index(of: element.node), count: count.bounds.map { add($0) } ?? -1)
            node.array = Int32(arrays.count)
            arrays.append(rule)
        case .object(let members, let closed): addObject(members, closed, to: &node)
        case .map(let value, let count):
            let rule = ObjectRule(others: index(of: value.node), count: count.bounds.map { add($0) } ?? -1)
            node.object = Int32(objects.count)
            objects.append(rule)
        default: break
        }
    }

    private mutating func addConstants(_ values: [JSONConstant], kinds: UInt8, to node: inout ShapeRule) {
        let list = Int32(constants.count)
        constants.append(values)
        if kinds & ValueKind.number != 0 {
            node.number = add(NumberRule(constants: list))
        }
        if kinds & ValueKind.string != 0 {
            var texts: Set<[UInt8]> = []
            for case .string(let text) in values { texts.insert(Array(text.utf8)) }
            let keys = addKeys(texts.map { (key: $0, node: -1, isRequired: false) })
            node.string = add(StringRule(constants: list, keys: keys))
        }
    }

    private mutating func addObject(_ found: [ObjectMember], _ isClosed: Bool, to node: inout ShapeRule) {
        let parts = found.map { member in
            (key: Array(member.key.utf8), node: index(of: member.shape.node), isRequired: !member.shape.isOptional)
        }
        var rule = ObjectRule(keys: addKeys(parts), isWide: parts.count > 64, isClosed: isClosed)
        rule.requiredCount = parts.count(where: \.isRequired)
        for (bit, part) in parts.enumerated() where part.isRequired && bit < 64 {
            rule.required |= 1 << UInt64(bit)
        }
        node.object = Int32(objects.count)
        objects.append(rule)
    }

    /// The tag that discriminates the objects best; -1 if they have no required key with constants in common.
    mutating func addTag(_ found: [(form: ShapeForm, kinds: UInt8, node: Int32)]) -> Int32 {
        let objects = found.filter { $0.kinds & ValueKind.object != 0 }
        var order: [[UInt8]] = []
        var constants: [[UInt8]: [(node: Int32, values: [JSONConstant])]] = [:]
        for object in objects {
            guard case .object(let members, _) = object.form else { return -1 }
            for member in members {
                guard let values = member.shape.stringConstants else { continue }
                let key = Array(member.key.utf8)
                if constants[key] == nil { order.append(key) }
                constants[key, default: []].append((object.node, values))
            }
        }
        var best: (key: [UInt8], count: Int)?
        for key in order where constants[key]?.count == objects.count {
            let count = Set(constants[key, default: []].flatMap(\.values)).count
            if count > best?.count ?? 1 { best = (key, count) }
        }
        guard let key = best?.key, let nodes = constants[key] else { return -1 }
        var lists: [[UInt8]: [Int32]] = [:]
        for (node, values) in nodes {
            for case .string(let text) in Set(values) { lists[Array(text.utf8), default: []].append(node) }
        }
        let values = lists.map { text, nodes in
            tagged.append(nodes)
            return (key: text, node: Int32(tagged.count - 1), isRequired: false)
        }
        tags.append(
            TagRule(
                key: addKeys([(key: key, node: -1, isRequired: true)]), values: addKeys(values), constants: nodes))
        return Int32(tags.count - 1)
    }

    private mutating func addKeys(_ keys: [(key: [UInt8], node: Int32, isRequired: Bool)]) -> KeyTable {
        var size = 4
        while size < keys.count * 2 { size *= 2 }
        let table = KeyTable(
            first: Int32(members.count), count: Int32(keys.count), firstSlot: Int32(slots.count), mask: Int32(size - 1))
        slots += [Int32](repeating: -1, count: size)
        for part in keys {
            var slot = Int(truncatingIfNeeded: KeyHash.hash(part.key)) & (size - 1)
            while slots[Int(table.firstSlot) + slot] >= 0 { slot = (slot + 1) & (size - 1) }
            slots[Int(table.firstSlot) + slot] = Int32(members.count)
            members.append(KeyRule(part.key, text: pool.count, node: part.node, isRequired: part.isRequired))
            pool += part.key
        }
        return table
    }

    private mutating func add(_ bound: JSONBounds<Int>) -> Int32 {
        bounds.append(bound)
        return Int32(bounds.count - 1)
    }

    private mutating func add(_ rule: NumberRule) -> Int32 {
        numbers.append(rule)
        return Int32(numbers.count - 1)
    }

    private mutating func add(_ rule: StringRule) -> Int32 {
        strings.append(rule)
        return Int32(strings.count - 1)
    }
}

extension JSONShape {
    /// The constants of a shape that accepts only certain strings.
    fileprivate var stringConstants: [JSONConstant]? {
        guard case .constants(let values) = node.form, !values.isEmpty else { return nil }
        let isText = values.allSatisfy { if case .string = $0 { true } else { false } }
        return isText ? values : nil
    }
}

extension StringConstraint {
    /// Whether it only requires one character, which the length in bytes decides.
    fileprivate var isNonEmptyOnly: Bool { pattern == nil && length.bounds?.isAtLeastOne == true }
}
