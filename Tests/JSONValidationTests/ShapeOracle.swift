import ErrandJSONValidation

/// A JSON value as a tree, from which a minimal oracle derives the validator's expected problems.
indirect enum JSONTree: Equatable {
    case null
    case boolean(Bool)
    case integer(Int)
    case fraction(Int)
    case string(String)
    case array([JSONTree])
    case object([(key: String, value: JSONTree)])

    static func == (a: JSONTree, b: JSONTree) -> Bool { a.text == b.text }

    var text: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .fraction(let value): "\(value).5"
        case .string(let value): "\"\(value)\""
        case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
        case .object(let members): "{\(members.map { "\"\($0.key)\":\($0.value.text)" }.joined(separator: ","))}"
        }
    }
}

/// A shape that tests can inspect.
indirect enum ShapeSpec: Sendable {
    struct Member: Sendable {
        var key: String
        var spec: ShapeSpec
        var isOptional = false
        var allowsNull = true
    }

    case any, null, boolean, number, integer, even, string, nonEmpty, array, object
    case range(ClosedRange<Int>)
    case constants([String])
    case list(ShapeSpec, ClosedRange<Int>?)
    case members([Member], closed: Bool)
    case map(ShapeSpec)
    case either([ShapeSpec])
    case nullable(ShapeSpec)
    /// A list of nodes of two kinds that only their contents distinguish.
    case chain

    var shape: JSONShape {
        switch self {
        case .any: .any
        case .null: .null
        case .boolean: .boolean
        case .number: .number
        case .integer: .integer
        case .even: .custom("an even number", of: .integer) { $0.integer?.isMultiple(of: 2) == true }
        case .string: .string
        case .nonEmpty: .string(nonEmpty: true)
        case .array: .array
        case .object: .object
        case .range(let range): .integer(in: range)
        case .constants(let texts): .enumeration(texts.map { .string($0) })
        case .list(let spec, let count): count.map { .array(of: spec.shape, count: $0) } ?? .array(of: spec.shape)
        case .members(let members, let closed):
            .object(
                members: members.map { member in
                    let shape = member.spec.shape
                    return (member.key, member.isOptional ? .optional(shape, allowsNull: member.allowsNull) : shape)
                }, closed: closed)
        case .map(let spec): .map(of: spec.shape)
        case .either(let specs): .either(specs.map(\.shape))
        case .nullable(let spec): .nullable(spec.shape)
        case .chain:
            .recursive { chain in
                .either(["a": .integer, "b": .optional(chain, allowsNull: false)], ["a": .string, "b": chain], .null)
            }
        }
    }

    /// One level of `chain`, unfolded.
    private static let chainLink = ShapeSpec.either([
        .members(
            [Member(key: "a", spec: .integer), Member(key: "b", spec: .chain, isOptional: true, allowsNull: false)],
            closed: false),
        .members([Member(key: "a", spec: .string), Member(key: "b", spec: .chain)], closed: false), .null,
    ])

    var isDeterministic: Bool {
        switch self {
        case .either, .chain: false
        case .list(let spec, _), .map(let spec), .nullable(let spec): spec.isDeterministic
        case .members(let members, _): members.allSatisfy(\.spec.isDeterministic)
        default: true
        }
    }

    /// Returns the pointers of all problems, in any order.
    func problems(_ tree: JSONTree, _ pointer: String = "") -> [String] {
        switch (self, tree) {
        case (.any, _), (.null, .null), (.boolean, .boolean), (.number, .integer), (.number, .fraction),
            (.integer, .integer),
            (.string, .string), (.array, .array), (.object, .object), (.nullable, .null):
            return []
        case (.even, .integer(let value)): return value.isMultiple(of: 2) ? [] : [pointer]
        case (.nonEmpty, .string(let text)): return text.isEmpty ? [pointer] : []
        case (.range(let range), .integer(let value)): return range.contains(value) ? [] : [pointer]
        case (.constants(let texts), .string(let text)): return texts.contains(text) ? [] : [pointer]
        case (.nullable(let spec), _): return spec.problems(tree, pointer)
        case (.chain, _): return Self.chainLink.problems(tree, pointer)
        case (.either(let specs), _):
            return specs.contains { $0.problems(tree, pointer).isEmpty } ? [] : [pointer]
        case (.list(let spec, let count), .array(let elements)):
            let wrong = count.map { !$0.contains(elements.count) } ?? false
            return elements.enumerated().flatMap { spec.problems($0.element, "\(pointer)/\($0.offset)") }
                + (wrong ? [pointer] : [])
        case (.map(let spec), .object(let found)):
            return found.flatMap { spec.problems($0.value, "\(pointer)/\($0.key)") }
        case (.members(let members, let closed), .object(let found)):
            let missing = members.filter { member in !member.isOptional && !found.contains { $0.key == member.key } }
            return missing.map { "\(pointer)/\($0.key)" }
                + found.flatMap { key, value -> [String] in
                    guard let member = members.first(where: { $0.key == key }) else {
                        return closed ? ["\(pointer)/\(key)"] : []
                    }
                    if member.isOptional, member.allowsNull, value == .null { return [] }
                    return member.spec.problems(value, "\(pointer)/\(key)")
                }
        default: return [pointer]
        }
    }
}
