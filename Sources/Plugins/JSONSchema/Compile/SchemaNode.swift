import ErrandJSONValidation

/// A compiled schema: what it asserts of a value itself, and the schemas that it applies to the same value and to parts
/// of it. Indexes are -1 without a rule.
struct SchemaNode: Sendable {
    /// The place of the schema, for messages.
    var location: SchemaLocation
    /// The number of the resource that it belongs to.
    var resource = 0
    /// Whether no value fits: the schema `false`.
    var isNever = false
    /// The kinds of value that `type` allows.
    var kinds: UInt8 = ValueKind.all
    /// Whether `type` allows only numbers without a fraction.
    var isIntegral = false
    var number: Int32 = -1
    var string: Int32 = -1
    var array: Int32 = -1
    var object: Int32 = -1
    var constant: Int32 = -1
    var enumeration: Int32 = -1
    /// The schemas for the same value.
    var gates: [SchemaGate] = []
    /// The annotations: the places of their values, with their keywords.
    var annotations: [SchemaAnnotation] = []
}

/// An annotation that a schema gives to a value that fits it.
struct SchemaAnnotation: Sendable {
    var keyword: String
    var value: Int
}

/// How the results of schemas for the same value determine that of the schema that applies them.
struct SchemaGate: Sendable {
    enum Kind: UInt8, Sendable {
        /// `allOf`, `$ref` and the like.
        case all
        case any, one, not
        /// `if`, with `then` and `else` behind it.
        case condition
        /// `dependentSchemas`: applies to objects with a key.
        case dependent
    }

    var kind: Kind
    var nodes: [Int32]
    /// The keyword, with the key of a dependent schema, as a pointer from the schema: `/allOf`.
    var keyword: String
    /// The key of a dependent schema.
    var key: [UInt8] = []
    /// The tag that the branches differ by; -1 without one.
    var tag: Int32 = -1
}

struct SchemaNumberRule: Sendable {
    var minimum: ExactDecimal?
    var exclusiveMinimum: ExactDecimal?
    var maximum: ExactDecimal?
    var exclusiveMaximum: ExactDecimal?
    var multipleOf: ExactDecimal?
    /// The bounds of integers of at most 18 digits, for the common case; `isFast` if they say it all.
    var least = Int64.min
    var most = Int64.max
    var isFast = false
}

struct SchemaStringRule: Sendable {
    var minimum = 0
    var maximum = Int.max
    var pattern: Int32 = -1
    var format: JSONFormat?
}

/// A pattern of `pattern` or `patternProperties`, compiled once for all its places.
struct SchemaPattern: Sendable {
    let source: String
    let program: PatternProgram
}

struct SchemaArrayRule: Sendable {
    var prefix: [Int32] = []
    /// The schema for the elements behind the prefix.
    var items: Int32 = -1
    var itemsKeyword = "/items"
    var contains: Int32 = -1
    var minimumContained = 1
    var maximumContained = Int.max
    var minimum = 0
    var maximum = Int.max
    var isUnique = false
    var unevaluated: Int32 = -1
    /// Whether elements that `contains` matches count as evaluated: since draft 2020-12.
    var containsEvaluates = false

    var appliesToElements: Bool { !prefix.isEmpty || items >= 0 || contains >= 0 || unevaluated >= 0 }
}

struct SchemaObjectRule: Sendable {
    var properties: [[UInt8]: Int32] = [:]
    var patterns: [(pattern: Int32, node: Int32)] = []
    var additional: Int32 = -1
    var names: Int32 = -1
    var minimum = 0
    var maximum = Int.max
    var required: [[UInt8]] = []
    var dependentRequired: [(key: [UInt8], needs: [[UInt8]])] = []
    var unevaluated: Int32 = -1

    var appliesToMembers: Bool { !properties.isEmpty || !patterns.isEmpty || additional >= 0 || unevaluated >= 0 }
}

/// The values of `const` or `enum`.
struct SchemaConstants: Sendable {
    /// `null`, `true` and `false`, by kind.
    var literals: UInt8 = 0
    /// The strings by hash.
    var strings: [UInt64: [[UInt8]]] = [:]
    var numbers: Set<ExactDecimal> = []
    /// Arrays and objects by digest.
    var composites: [ValueDigest: [[UInt8]]] = [:]
    /// The kinds that some value has.
    var kinds: UInt8 = 0
    /// The first values, for messages.
    var words: [String] = []
    var isConst: Bool
}
