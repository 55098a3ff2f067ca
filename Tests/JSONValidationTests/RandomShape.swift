/// Random shapes, and trees that usually fit them.
struct RandomShape {
    var random: SeededGenerator

    private static let keys = [
        "a", "b", "c", "id", "name", "kind", "longer_key_name", "a_key_of_more_than_sixteen_bytes", "é",
    ]

    mutating func spec(_ depth: Int = 3) -> ShapeSpec {
        switch random.below(depth > 0 ? 22 : 12) {
        case 0: return .any
        case 1: return .null
        case 2: return .boolean
        case 3: return .number
        case 4: return .integer
        case 5: return .even
        case 6: return .string
        case 7: return .nonEmpty
        case 8: return .array
        case 9: return .object
        case 10: return .range(0...random.below(9))
        case 11: return .constants(["x", "y"])
        case 12, 13: return .list(spec(depth - 1), random.chance(3) ? 1...random.below(3) + 1 : nil)
        case 14, 15, 16, 17: return members(depth)
        case 18: return .map(spec(depth - 1))
        case 19, 20:
            return .either((0...random.below(3)).map { _ in random.chance(2) ? members(depth) : spec(depth - 1) })
        default: return random.chance(2) ? .chain : .nullable(spec(depth - 1))
        }
    }

    private mutating func members(_ depth: Int) -> ShapeSpec {
        let keys = Self.keys.shuffled(using: &random).prefix(random.below(5))
        return .members(
            keys.map { key in
                ShapeSpec.Member(
                    key: key, spec: spec(depth - 1), isOptional: random.chance(3), allowsNull: random.chance(2))
            }, closed: random.chance(4))
    }

    /// Returns a tree that fits, or nearly fits.
    mutating func tree(_ spec: ShapeSpec, _ depth: Int = 5) -> JSONTree {
        if random.chance(25) || depth == 0 { return anything(2) }
        switch spec {
        case .any: return anything(2)
        case .null: return .null
        case .boolean: return .boolean(random.chance(2))
        case .number: return random.chance(2) ? .fraction(random.below(9)) : .integer(random.below(9))
        case .integer, .range: return .integer(random.below(8))
        case .even: return .integer(random.below(3) * 2)
        case .string, .nonEmpty: return .string(random.pick(["", "x", "y", "längere Texte", "東京"]))
        case .constants(let texts): return .string(random.pick(texts))
        case .array: return .array((0..<random.below(3)).map { _ in anything(1) })
        case .object: return .object(random.chance(2) ? [] : [("a", anything(1)), ("z", anything(1))])
        case .list(let element, _): return .array((0..<random.below(4)).map { _ in tree(element, depth - 1) })
        case .map(let value):
            return .object(Self.keys.prefix(random.below(4)).map { (key: $0, value: tree(value, depth - 1)) })
        case .either(let specs): return tree(random.pick(specs), depth)
        case .nullable(let spec): return random.chance(3) ? .null : tree(spec, depth)
        case .chain:
            let value: JSONTree = random.chance(2) ? .integer(1) : .string("x")
            let next: [(key: String, value: JSONTree)] = random.chance(3) ? [] : [("b", tree(.chain, depth - 1))]
            return .object(([(key: "a", value: value)] + next).shuffled(using: &random))
        case .members(let members, _):
            var found: [(key: String, value: JSONTree)] = []
            for member in members where !random.chance(member.isOptional ? 3 : 20) {
                found.append((member.key, member.isOptional && random.chance(5) ? .null : tree(member.spec, depth - 1)))
            }
            if random.chance(6) { found.append(("zz", anything(1))) }
            return .object(random.chance(2) ? found : found.shuffled(using: &random))
        }
    }

    private mutating func anything(_ depth: Int) -> JSONTree {
        switch random.below(depth > 0 ? 7 : 5) {
        case 0: .null
        case 1: .boolean(random.chance(2))
        case 2: .integer(random.below(5))
        case 3: .fraction(random.below(5))
        case 4: .string(random.pick(["", "x", "q"]))
        case 5: .array((0..<random.below(3)).map { _ in anything(depth - 1) })
        default: .object(["a", "b"].prefix(random.below(3)).map { (key: $0, value: anything(depth - 1)) })
        }
    }
}
