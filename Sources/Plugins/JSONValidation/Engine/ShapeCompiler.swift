/// Compiles a shape into a program: alternatives are flattened and sorted by the kinds of value that they accept, so that
/// the first byte of a value mostly decides which rule applies.
struct ShapeCompiler {
    var nodes = [ShapeRule(kinds: ValueKind.all, plain: ValueKind.all)]
    var objects: [ObjectRule] = []
    var arrays: [ArrayRule] = []
    var strings: [StringRule] = []
    var numbers: [NumberRule] = []
    var members: [KeyRule] = []
    var slots: [Int32] = []
    var pool: [UInt8] = []
    var alternatives: [Int32] = []
    var bounds: [JSONBounds<Int>] = []
    var ranges: [JSONBounds<Double>] = []
    var patterns: [JSONPattern] = []
    var constants: [[JSONConstant]] = []
    var checks: [JSONCheck] = []
    var tags: [TagRule] = []
    /// For each constant of each tag the nodes that have it.
    var tagged: [[Int32]] = []
    /// The first reason why the shape cannot be used.
    var fault: JSONProblem?
    /// Nodes that are reserved but not compiled yet: a list, so that deep shapes need no deep stack.
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
        return flatten(shape, &visited, &seen)
    }

    /// - Parameters:
    ///   - visited: the enclosing recursive shapes.
    ///   - seen: shapes whose alternatives have been added already, under the same checks.
    private mutating func flatten(
        _ shape: ShapeNode, _ visited: inout Set<ObjectIdentifier>, _ seen: inout Set<ObjectIdentifier>
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
        case .either(let shapes): return shapes.flatMap { flatten($0.node, &visited, &seen) }
        case .nullable(let inner), .optional(let inner, allowsNull: true):
            return flatten(inner.node, &visited, &seen) + [ShapeAlternative(kinds: ValueKind.null, form: .null)]
        case .optional(let inner, allowsNull: false): return flatten(inner.node, &visited, &seen)
        case .custom(let inner, let check):
            var seenUnderCheck: Set<ObjectIdentifier> = []
            return flatten(inner.node, &visited, &seenUnderCheck).map {
                ShapeAlternative(kinds: $0.kinds, form: $0.form, checks: $0.checks + [check])
            }
        case .recursive(let reference, let body):
            definitions[ObjectIdentifier(reference)] = shape
            // A shape that refers to itself before any byte is read adds no alternatives.
            guard visited.insert(ObjectIdentifier(reference)).inserted else { return [] }
            defer { visited.remove(ObjectIdentifier(reference)) }
            return flatten(body.node, &visited, &seen)
        case .reference(let reference):
            guard let definition = definitions[ObjectIdentifier(reference)] else { return [] }
            return flatten(definition, &visited, &seen)
        case .tooDeep(let levels):
            reportUnusable("a shape of at most \(JSONShape.maximumDepth) levels", "one of \(levels)")
            return []
        }
    }

    mutating func reportUnusable(_ expected: String, _ found: String) {
        guard fault == nil else { return }
        fault = JSONProblem(kind: .shape, pointer: "", expected: expected, found: found, offset: 0)
    }

    /// The kinds of some constants. Strings and numbers are compared by value; the kind determines the others.
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
