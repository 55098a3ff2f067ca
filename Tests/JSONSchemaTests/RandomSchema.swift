/// Random schemas, and documents with a fair chance to fit them.
struct RandomSchema {
    var random: SeededGenerator
    private static let keys = ["a", "b", "ab", "b1", "\u{e9}", "c"]
    private static let patterns = ["^a", "b$", "^[ab]*$", "\\d", "^.$", "a|\u{e9}"]
    private var definitions = 0
    private var resources: [String] = []

    init(seed: Int) { random = SeededGenerator(seed: seed) }

    // MARK: Documents

    mutating func document(_ depth: Int = 3) -> SchemaTree {
        switch random.below(depth > 0 ? 11 : 6) {
        case 0: return .null
        case 1: return .boolean(random.chance(2))
        case 2, 3: return number()
        case 4, 5: return .string(string())
        case 6, 7: return .array((0..<random.below(4)).map { _ in document(depth - 1) })
        default:
            var members: [SchemaTree.Member] = []
            for key in Self.keys where random.chance(3) {
                members.append(SchemaTree.Member(key: key, value: document(depth - 1)))
            }
            return .object(random.chance(2) ? members.reversed() : members)
        }
    }

    private mutating func number() -> SchemaTree {
        .number(random.chance(2) ? (random.below(7) - 2) * 1_000 : random.below(5_000) / 250 * 250 - 1_000)
    }

    private mutating func string() -> String {
        random.pick(["", "a", "b", "ab", "b1", "\u{e9}", "aab", "c", "e\u{301}"])
    }

    // MARK: Schemas

    mutating func schema() -> SchemaTree {
        definitions = random.below(4)
        resources = random.chance(3) ? ["r0", "r1"] : []
        var members = keywords(3)
        if definitions > 0 || !resources.isEmpty {
            var all: [SchemaTree.Member] = []
            for index in 0..<definitions { all.append(member("d\(index)", part(2))) }
            for name in resources {
                var inner = keywords(2)
                inner.insert(member("$id", .string(name)), at: 0)
                if random.chance(2) { inner.append(member("$dynamicAnchor", .string("n"))) }
                // The resource's own definitions, which `#/$defs/…` refers to from within it.
                inner.append(
                    member("$defs", .object((0..<3).map { member("d\($0)", part(1)) })))
                all.append(member(name, .object(inner)))
            }
            members.append(member("$defs", .object(all)))
            if random.chance(2) { members.append(member("$dynamicAnchor", .string("n"))) }
        }
        return .object(members)
    }

    private func member(_ key: String, _ value: SchemaTree) -> SchemaTree.Member {
        SchemaTree.Member(key: key, value: value)
    }

    private mutating func part(_ depth: Int) -> SchemaTree {
        if random.chance(8) { return .boolean(random.chance(2)) }
        return .object(keywords(depth))
    }

    private mutating func parts(_ depth: Int) -> SchemaTree {
        .array((0..<1 + random.below(3)).map { _ in part(depth) })
    }

    private mutating func keywords(_ depth: Int) -> [SchemaTree.Member] {
        var members: [SchemaTree.Member] = []
        var used: Set<String> = []
        for _ in 0..<random.below(depth > 0 ? 4 : 3) {
            for (key, value) in keyword(depth) where used.insert(key).inserted { members.append(member(key, value)) }
        }
        return members
    }

    private mutating func keyword(_ depth: Int) -> [(String, SchemaTree)] {
        let next = depth - 1
        switch random.below(depth > 0 ? 34 : 14) {
        case 0, 1: return [("type", type())]
        case 2: return [("const", document(1))]
        case 3: return [("enum", .array((0..<1 + random.below(4)).map { _ in document(1) }))]
        case 4: return [(random.pick(["minimum", "exclusiveMinimum"]), number())]
        case 5: return [(random.pick(["maximum", "exclusiveMaximum"]), number())]
        case 6: return [("multipleOf", .number(random.pick([250, 500, 1_000, 2_000, 1_500])))]
        case 7: return [("minLength", count(3)), ("maxLength", count(4))]
        case 8: return [("pattern", .string(random.pick(Self.patterns)))]
        case 9: return [(random.pick(["minItems", "maxItems"]), count(4))]
        case 10: return [("uniqueItems", .boolean(!random.chance(4)))]
        case 11: return [(random.pick(["minProperties", "maxProperties"]), count(4))]
        case 12: return [("required", keyList())]
        case 13: return [("dependentRequired", .object([member(random.pick(Self.keys), keyList())]))]
        case 14: return [("allOf", parts(next))]
        case 15, 16: return [("anyOf", parts(next))]
        case 17: return [("oneOf", parts(next))]
        case 18: return [("not", part(next))]
        case 19: return [("if", part(next)), ("then", part(next)), ("else", part(next))]
        case 20: return [("dependentSchemas", .object([member(random.pick(Self.keys), part(next))]))]
        case 21, 22: return [("properties", properties(next))]
        case 23: return [("patternProperties", .object([member(random.pick(Self.patterns), part(next))]))]
        case 24: return [("additionalProperties", part(next))]
        case 25: return [("propertyNames", part(0))]
        case 26: return [("prefixItems", parts(next))]
        case 27: return [("items", part(next))]
        case 28:
            return [("contains", part(next))]
                + (random.chance(2) ? [(random.pick(["minContains", "maxContains"]), count(3))] : [])
        case 29: return [("unevaluatedItems", random.chance(2) ? .boolean(false) : part(next))]
        case 30, 31: return [("unevaluatedProperties", random.chance(2) ? .boolean(false) : part(next))]
        case 32: return random.chance(2) ? [("$dynamicRef", .string("#n"))] : reference()
        default: return reference()
        }
    }

    private mutating func reference() -> [(String, SchemaTree)] {
        if !resources.isEmpty, random.chance(2) { return [("$ref", .string(random.pick(resources)))] }
        if random.chance(4) { return [("$ref", .string("#"))] }
        return [("$ref", .string("#/$defs/d\(random.below(3))"))]
    }

    private mutating func type() -> SchemaTree {
        let names = ["null", "boolean", "number", "integer", "string", "array", "object"]
        if random.chance(2) { return .string(random.pick(names)) }
        let chosen = names.filter { _ in random.chance(2) }
        return chosen.isEmpty ? .string("object") : .array(chosen.map { .string($0) })
    }

    private mutating func count(_ limit: Int) -> SchemaTree { .number(random.below(limit) * 1_000) }

    private mutating func keyList() -> SchemaTree {
        .array(Self.keys.filter { _ in random.chance(4) }.map { .string($0) })
    }

    private mutating func properties(_ depth: Int) -> SchemaTree {
        .object(Self.keys.filter { _ in random.chance(3) }.map { key in member(key, part(depth)) })
    }
}
