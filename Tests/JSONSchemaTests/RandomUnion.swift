/// Random unions of tagged objects, and documents with a fair chance to fit one of the branches.
struct RandomUnion {
    var random: SeededGenerator
    private let tags: [String]
    private let values: [SchemaTree]
    private static let keys = ["a", "b", "c", "kind", "type", "\u{e9}"]
    private var depth = 0

    init(seed: Int) {
        random = SeededGenerator(seed: seed)
        tags =
            random.chance(3)
            ? ["kind", "type"] : [random.pick(["kind", "\u{e9}", "a key of more than sixteen bytes"])]
        var values: [SchemaTree] = (0..<14).map { .string("k\($0)") }
        values += [.string("a value of more than sixteen bytes"), .string("\u{e9}"), .string("")]
        if random.chance(3) { values += [.number(1_000), .number(2_500), .boolean(true), .boolean(false), .null] }
        if random.chance(8) { values += [.array([.number(1_000)]), .object([])] }
        self.values = values
    }

    private func member(_ key: String, _ value: SchemaTree) -> SchemaTree.Member {
        SchemaTree.Member(key: key, value: value)
    }

    // MARK: Schemas

    mutating func schema() -> SchemaTree {
        let definitions = (0..<3).map { member("d\($0)", .object(rules())) }
        let unions = (0..<2).map { member("u\($0)", .object([union()])) }
        var members: [SchemaTree.Member]
        switch random.below(8) {
        case 0: members = [member("items", part())]
        case 1: members = [member("items", .object([union()]))]
        case 2: members = [union()] + rules()
        case 3: members = [member("not", .object([union()]))]
        case 4: members = [member("allOf", .array([.object([union()]), part(), .object([union()])]))]
        case 5: members = [member("anyOf", .array([.object([union()]), part(), .object(rules())]))]
        case 6:
            members = [member("if", .object([union()])), member("then", part()), member("else", part())]
        default:
            members = [
                member("properties", .object([member("a", .object([union()])), member("b", part())])),
                member("additionalProperties", part()),
            ]
        }
        if random.chance(8) { members.append(member("unevaluatedProperties", .boolean(false))) }
        return .object(members + [member("$defs", .object(definitions + unions))])
    }

    private mutating func part() -> SchemaTree {
        switch random.below(6) {
        case 0: .object([union()])
        case 1: .object([union()] + rules())
        case 2: .object([member("$ref", .string("#/$defs/d\(random.below(3))"))])
        case 3: .object([member("$ref", .string("#/$defs/u\(random.below(2))"))])
        default: .object(rules())
        }
    }

    private mutating func union() -> SchemaTree.Member {
        depth += 1
        defer { depth -= 1 }
        let tag = random.pick(tags)
        var order = values.shuffled(using: &random)
        if random.chance(4) { order[1] = order[0] }
        let branches = (0..<3 + random.below(random.pick([3, 9]))).map { branch(tag, order[$0]) }
        return member(random.pick(["oneOf", "oneOf", "anyOf"]), .array(branches))
    }

    private mutating func branch(_ tag: String, _ value: SchemaTree) -> SchemaTree {
        if random.chance(24) { return random.chance(2) ? .object([member("type", .string("null"))]) : part() }
        var constant = [member("const", value)]
        if random.chance(5) { constant = [member("enum", .array([value, random.pick(values)]))] }
        if random.chance(8) { constant.append(member("type", .string("string"))) }
        var rules = rules().filter { !["properties", "required"].contains($0.key) }
        var properties = [member(tag, .object(constant))]
        for key in ["a", "b", "c", "type"] where key != tag && random.chance(3) {
            properties.append(member(key, depth < 3 && random.chance(5) ? part() : leaf()))
        }
        let required = [tag].filter { _ in !random.chance(12) } + ["a", "c"].filter { _ in random.chance(5) }
        rules.append(member("properties", .object(properties)))
        rules.append(member("required", .array(required.map { .string($0) })))
        if depth < 3, random.chance(10) { rules.append(union()) }
        if random.chance(6) {
            return .object([member("allOf", .array([part(), .object(rules)]))])
        }
        return .object(rules)
    }

    private mutating func leaf() -> SchemaTree {
        switch random.below(5) {
        case 0: .boolean(random.chance(2))
        case 1: .object([member("type", .string(random.pick(["integer", "string", "object", "array"])))])
        case 2: .object([member("minimum", .number(random.below(4) * 1_000))])
        case 3: .object([member("$ref", .string("#/$defs/d\(random.below(3))"))])
        default: .object([member("pattern", .string("^k")), member("maxLength", .number(2_000))])
        }
    }

    private mutating func rules() -> [SchemaTree.Member] {
        var found: [SchemaTree.Member] = []
        if random.chance(4) { found.append(member("type", .string("object"))) }
        if random.chance(8) { found.append(member("additionalProperties", .boolean(random.chance(2)))) }
        if random.chance(16) { found.append(member("unevaluatedProperties", .boolean(false))) }
        if random.chance(8) { found.append(member("maxProperties", .number((1 + random.below(4)) * 1_000))) }
        if random.chance(8) { found.append(member("propertyNames", .object([member("maxLength", .number(4_000))]))) }
        if random.chance(10) {
            found.append(member("dependentSchemas", .object([member(random.pick(Self.keys), leaf())])))
        }
        if random.chance(10) { found.append(member("patternProperties", .object([member("^[ab]", leaf())]))) }
        if random.chance(4) {
            found.append(
                member("properties", .object(Self.keys.filter { _ in random.chance(4) }.map { member($0, leaf()) })))
        }
        if random.chance(6) { found.append(member("required", .array([.string(random.pick(Self.keys))]))) }
        return found
    }

    // MARK: Documents

    mutating func document(_ depth: Int = 3) -> SchemaTree {
        if depth == 3, random.chance(2) { return .array((0..<1 + random.below(5)).map { _ in object(2) }) }
        return object(depth)
    }

    private mutating func object(_ depth: Int) -> SchemaTree {
        var members: [SchemaTree.Member] = []
        for key in Self.keys where random.chance(3) { members.append(member(key, value(depth))) }
        for tag in tags where !random.chance(8) {
            members.removeAll { $0.key == tag }
            let value = random.chance(16) ? value(depth) : random.pick(values)
            members.insert(member(tag, value), at: random.below(members.count + 1))
            if random.chance(16) {
                members.insert(member(tag, random.pick(values)), at: random.below(members.count + 1))
            }
        }
        return .object(members)
    }

    private mutating func value(_ depth: Int) -> SchemaTree {
        switch random.below(depth > 0 ? 7 : 4) {
        case 0: .number(random.below(5) * 500)
        case 1: .string(random.pick(["k", "k1", "", "kkk"]))
        case 2: random.pick([.null, .boolean(true), .array([])])
        case 3: random.pick(values)
        default: object(depth - 1)
        }
    }
}
