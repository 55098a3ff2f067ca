/// Compiles a shape into a program. Flattens alternatives and sorts them by kind, so the first byte of a value usually
/// determines the rule.
struct ShapeCompiler {
    var nodes = [ShapeRule(kinds: ValueKind.all, plain: ValueKind.all)]
    var objects: [ObjectRule] = []
    var arrays: [ArrayRule] = []
    var strings: [StringRule] = []
    var numbers: [NumberRule] = []
    var members: [KeyRule] = []
    var slots: [Int32] = []
    var pool: ContiguousArray<UInt8> = []
    var alternatives: [Int32] = []
    var bounds: [JSONBounds<Int>] = []
    var ranges: [JSONBounds<Double>] = []
    var patterns: [JSONPattern] = []
    var constants: [[JSONConstant]] = []
    var checks: [JSONCheck] = []
    var tags: [TagRule] = []
    /// The nodes for each constant of each tag.
    var tagged: [[Int32]] = []
    var fault: JSONProblem?
    /// The nodes to compile. It's a list, because recursion into a deep shape would need a deep stack.
    private var pending: [(index: Int32, shape: ShapeNode)] = []
    private var indexes: [ObjectIdentifier: Int32] = [:]
    private var definitions: [ObjectIdentifier: ShapeNode] = [:]

    static func compile(_ shape: ShapeNode) -> ShapeProgram {
        var compiler = ShapeCompiler()
        let root = compiler.index(of: shape)
        while let (index, shape) = compiler.pending.popLast() {
            let found = compiler.flatten(shape)
            compiler.nodes[Int(index)] = found.count == 1 ? compiler.makeRule(found[0]) : compiler.makeUnion(found)
        }
        return ShapeProgram(compiler, root: root)
    }

    mutating func index(of shape: ShapeNode) -> Int32 {
        var shape = shape
        if case .reference(let reference) = shape.form { shape = definitions[ObjectIdentifier(reference)] ?? shape }
        if case .any = shape.form { return 0 }
        if let index = indexes[ObjectIdentifier(shape)] { return index }
        let index = Int32(nodes.count)
        nodes.append(ShapeRule())
        indexes[ObjectIdentifier(shape)] = index
        pending.append((index, shape))
        return index
    }

    // MARK: Flattening

    private mutating func flatten(_ shape: ShapeNode) -> [ShapeAlternative] {
        var (visited, seen): (Set<ObjectIdentifier>, Set<ObjectIdentifier>) = ([], [])
        return flatten(shape, visited: &visited, seen: &seen)
    }

    /// Returns the alternatives of a shape, each with its checks. `visited` contains the enclosing recursive shapes,
    /// and `seen` the shapes that were already added under the same checks.
    private mutating func flatten(
        _ shape: ShapeNode, visited: inout Set<ObjectIdentifier>, seen: inout Set<ObjectIdentifier>
    ) -> [ShapeAlternative] {
        guard seen.insert(ObjectIdentifier(shape)).inserted else { return [] }
        switch shape.form {
        case .any: return [ShapeAlternative(kinds: ValueKind.all, form: .any)]
        case .null: return [ShapeAlternative(kinds: ValueKind.null, form: .null)]
        case .boolean: return [ShapeAlternative(kinds: ValueKind.boolean, form: .boolean)]
        case .number: return [ShapeAlternative(kinds: ValueKind.number, form: shape.form)]
        case .string: return [ShapeAlternative(kinds: ValueKind.string, form: shape.form)]
        case .array: return [ShapeAlternative(kinds: ValueKind.array, form: shape.form)]
        case .object, .map: return [ShapeAlternative(kinds: ValueKind.object, form: shape.form)]
        case .constants(let values):
            return Self.kinds(of: values).map { ShapeAlternative(kinds: $0, form: shape.form) }
        case .either(let shapes): return shapes.flatMap { flatten($0.node, visited: &visited, seen: &seen) }
        case .nullable(let inner), .optional(let inner, allowsNull: true):
            return flatten(inner.node, visited: &visited, seen: &seen) + [
                ShapeAlternative(kinds: ValueKind.null, form: .null)
            ]
        case .optional(let inner, allowsNull: false): return flatten(inner.node, visited: &visited, seen: &seen)
        case .custom(let inner, let check):
            var seenUnderCheck: Set<ObjectIdentifier> = []
            return flatten(inner.node, visited: &visited, seen: &seenUnderCheck).map {
                ShapeAlternative(kinds: $0.kinds, form: $0.form, checks: $0.checks + [check])
            }
        case .recursive(let reference, let body):
            definitions[ObjectIdentifier(reference)] = shape
            // A shape that refers to itself before reading any byte doesn't add alternatives.
            guard visited.insert(ObjectIdentifier(reference)).inserted else { return [] }
            defer { visited.remove(ObjectIdentifier(reference)) }
            return flatten(body.node, visited: &visited, seen: &seen)
        case .reference(let reference):
            guard let definition = definitions[ObjectIdentifier(reference)] else { return [] }
            return flatten(definition, visited: &visited, seen: &seen)
        case .tooDeep(let levels):
            reportUnusable("a shape with at most \(JSONShape.maximumDepth) levels", "\(levels) levels")
            return []
        }
    }

    mutating func reportUnusable(_ expected: String, _ found: String) {
        guard fault == nil else { return }
        fault = JSONProblem(kind: .shape, pointer: "", expected: expected, found: found, offset: 0)
    }

    /// Returns the kinds of constants, separately for literals, numbers and strings. Numbers and strings are compared
    /// by value. For literals, it's enough to compare the kind.
    private static func kinds(of constants: [JSONConstant]) -> [UInt8] {
        var (literals, others): (UInt8, Set<UInt8>) = (0, [])
        for constant in constants {
            switch constant {
            case .null: literals |= ValueKind.null
            case .boolean(let value): literals |= value ? ValueKind.true : ValueKind.false
            case .integer, .number: others.insert(ValueKind.number)
            case .string: others.insert(ValueKind.string)
            }
        }
        return (literals == 0 ? [] : [literals]) + others.sorted()
    }

    // MARK: Nodes

    private mutating func makeRule(_ alternative: ShapeAlternative) -> ShapeRule {
        var node = ShapeRule(kinds: alternative.kinds)
        for kind in Self.bits(of: alternative.kinds) where alternative.isPlain(kind) { node.plain |= kind }
        addRule(alternative, to: &node)
        let first = Int32(checks.count)
        checks += alternative.checks
        node.checks = first..<Int32(checks.count)
        node.hasChecks = !alternative.checks.isEmpty
        return node
    }

    private mutating func makeUnion(_ found: [ShapeAlternative]) -> ShapeRule {
        var node = ShapeRule()
        var direct: Set<Int> = []
        for kind in Self.bits(of: ValueKind.all) {
            let accepting = found.indices.filter { found[$0].kinds & kind != 0 }
            guard let first = accepting.first else { continue }
            node.kinds |= kind
            if accepting.contains(where: { found[$0].isPlain(kind) }) {
                node.plain |= kind
            } else if accepting.count == 1, found[first].checks.isEmpty {
                direct.insert(first)
            } else {
                node.ambiguous |= kind
            }
        }
        for index in direct.sorted() { addRule(found[index], to: &node) }
        let competing = found.filter { $0.kinds & node.ambiguous != 0 }.map { alternative in
            let index = Int32(nodes.count)
            nodes.append(ShapeRule())
            nodes[Int(index)] = makeRule(alternative)
            return index
        }
        if node.ambiguous & ValueKind.object != 0 {
            node.tag = addTag(
                zip(found.filter { $0.kinds & node.ambiguous != 0 }, competing).map { ($0.form, $0.kinds, $1) })
        }
        let first = Int32(alternatives.count)
        alternatives += competing
        node.alternatives = first..<Int32(alternatives.count)
        return node
    }

    private static func bits(of kinds: UInt8) -> [UInt8] { (0..<8).map { 1 << $0 }.filter { kinds & $0 != 0 } }
}

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

    /// Returns the tag that best distinguishes the objects, or -1 if they don't share a required key with constants.
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
    fileprivate var stringConstants: [JSONConstant]? {
        guard case .constants(let values) = node.form, !values.isEmpty else { return nil }
        let isText = values.allSatisfy { if case .string = $0 { true } else { false } }
        return isText ? values : nil
    }
}

extension StringConstraint {
    /// Such a string can be checked by its length in bytes.
    fileprivate var isNonEmptyOnly: Bool { pattern == nil && length.bounds?.isAtLeastOne == true }
}

struct ShapeAlternative {
    var kinds: UInt8
    var form: ShapeForm
    var checks: [JSONCheck] = []

    func isPlain(_ kind: UInt8) -> Bool {
        guard checks.isEmpty else { return false }
        return switch form {
        case .number(let form):
            form.integers == nil && form.numbers == nil && (!form.isInteger || kind == ValueKind.integer)
        case .string(let form): form.length.bounds == nil && form.pattern == nil
        case .array(let element, let count): element.isAny && count.bounds == nil
        case .object(let members, let closed): members.isEmpty && !closed
        case .map(let value, let count): value.isAny && count.bounds == nil
        case .constants: kinds & (ValueKind.string | ValueKind.number) == 0
        default: true
        }
    }
}

extension JSONShape {
    fileprivate var isAny: Bool { if case .any = node.form { true } else { false } }
}
