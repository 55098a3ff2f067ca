/// Turns a shape into a program: alternatives are flattened and sorted by the kinds of value that they accept, so that
/// the first byte of a value mostly decides which rule it has to pass.
struct ShapeCompiler {
    private(set) var nodes = [ShapeRule(kinds: ValueKind.all, plain: ValueKind.all)]
    private(set) var objects: [ObjectRule] = []
    private(set) var arrays: [ArrayRule] = []
    private(set) var strings: [StringRule] = []
    private(set) var numbers: [NumberRule] = []
    private(set) var members: [KeyRule] = []
    private(set) var slots: [Int32] = []
    private(set) var pool: [UInt8] = []
    private(set) var alternatives: [Int32] = []
    private(set) var bounds: [JSONBounds<Int>] = []
    private(set) var ranges: [JSONBounds<Double>] = []
    private(set) var patterns: [JSONPattern] = []
    private(set) var constants: [[JSONConstant]] = []
    private(set) var checks: [JSONCheck] = []
    private var indexes: [ObjectIdentifier: Int32] = [:]
    private var definitions: [ObjectIdentifier: ShapeNode] = [:]

    static func compile(_ shape: ShapeNode) -> ShapeProgram {
        var compiler = ShapeCompiler()
        let root = compiler.index(of: shape)
        return ShapeProgram(compiler, root: root)
    }

    /// One way in which a value can fit.
    private struct Alternative {
        var kinds: UInt8
        var form: ShapeForm
        var checks: [JSONCheck] = []

        /// Whether it asks no more than a kind.
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

    private mutating func index(of shape: ShapeNode) -> Int32 {
        var shape = shape
        if case .reference(let reference) = shape.form { shape = definitions[ObjectIdentifier(reference)] ?? shape }
        if case .any = shape.form { return 0 }
        if let index = indexes[ObjectIdentifier(shape)] { return index }
        // Reserved before its parts are compiled, because they may contain it.
        let index = Int32(nodes.count)
        nodes.append(ShapeRule())
        indexes[ObjectIdentifier(shape)] = index
        var visited: Set<ObjectIdentifier> = []
        let found = flatten(shape, &visited)
        nodes[Int(index)] = found.count == 1 ? single(found[0]) : several(found)
        return index
    }

    // MARK: Flattening

    private mutating func flatten(_ shape: ShapeNode, _ visited: inout Set<ObjectIdentifier>) -> [Alternative] {
        switch shape.form {
        case .any: return [Alternative(kinds: ValueKind.all, form: .any)]
        case .null: return [Alternative(kinds: ValueKind.null, form: .null)]
        case .boolean: return [Alternative(kinds: ValueKind.boolean, form: .boolean)]
        case .number: return [Alternative(kinds: ValueKind.number, form: shape.form)]
        case .string: return [Alternative(kinds: ValueKind.string, form: shape.form)]
        case .array: return [Alternative(kinds: ValueKind.array, form: shape.form)]
        case .object, .map: return [Alternative(kinds: ValueKind.object, form: shape.form)]
        case .constants(let values):
            return Self.kinds(of: values).map { Alternative(kinds: $0, form: shape.form) }
        case .either(let shapes): return shapes.flatMap { flatten($0.node, &visited) }
        case .nullable(let inner), .optional(let inner, allowsNull: true):
            return flatten(inner.node, &visited) + [Alternative(kinds: ValueKind.null, form: .null)]
        case .optional(let inner, allowsNull: false): return flatten(inner.node, &visited)
        case .custom(let inner, let check):
            return flatten(inner.node, &visited).map {
                Alternative(kinds: $0.kinds, form: $0.form, checks: $0.checks + [check])
            }
        case .recursive(let reference, let body):
            definitions[ObjectIdentifier(reference)] = shape
            // A shape that leads back to itself before it has read anything adds nothing to what fits it.
            guard visited.insert(ObjectIdentifier(reference)).inserted else { return [] }
            defer { visited.remove(ObjectIdentifier(reference)) }
            return flatten(body.node, &visited)
        case .reference(let reference):
            return definitions[ObjectIdentifier(reference)].map { flatten($0, &visited) } ?? []
        }
    }

    /// Strings and numbers are compared; for the other constants their kind says all.
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

    private mutating func single(_ alternative: Alternative) -> ShapeRule {
        var node = ShapeRule(kinds: alternative.kinds)
        for kind in Self.bits(of: alternative.kinds) where alternative.isPlain(kind) { node.plain |= kind }
        addRule(alternative, to: &node)
        let first = Int32(checks.count)
        checks += alternative.checks
        node.checks = first..<Int32(checks.count)
        node.hasChecks = !alternative.checks.isEmpty
        return node
    }

    private mutating func several(_ found: [Alternative]) -> ShapeRule {
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
            nodes[Int(index)] = single(alternative)
            return index
        }
        let first = Int32(alternatives.count)
        alternatives += competing
        node.alternatives = first..<Int32(alternatives.count)
        return node
    }

    private static func bits(of kinds: UInt8) -> [UInt8] { (0..<8).map { 1 << $0 }.filter { kinds & $0 != 0 } }

    // MARK: Rules

    private mutating func addRule(_ alternative: Alternative, to node: inout ShapeRule) {
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
        // The parts first: while they are compiled they add keys of their own.
        let parts = found.map { member in
            (key: Array(member.key.utf8), node: index(of: member.shape.node), isRequired: !member.shape.isOptional)
        }
        var rule = ObjectRule(keys: addKeys(parts), isWide: parts.count > 64, isClosed: isClosed)
        rule.requiredCount = parts.count(where: \.isRequired)
        for (place, part) in parts.enumerated() where part.isRequired && place < 64 {
            rule.required |= 1 << UInt64(place)
        }
        node.object = Int32(objects.count)
        objects.append(rule)
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
    fileprivate var isAny: Bool { if case .any = node.form { true } else { false } }
}

extension StringForm {
    /// Whether it asks for one character and no more, which the length in bytes can answer.
    fileprivate var isNonEmptyOnly: Bool { pattern == nil && length.bounds?.isAtLeastOne == true }
}
