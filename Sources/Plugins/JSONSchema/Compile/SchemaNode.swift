import ErrandJSONValidation

/// A compiled schema. An index of -1 means that the rule is missing.
struct SchemaNode: Sendable {
    var location: SchemaLocation
    var resource = 0
    var isNever = false
    var kinds: UInt8 = ValueKind.all
    var isIntegral = false
    var number: Int32 = -1
    var string: Int32 = -1
    var array: Int32 = -1
    var object: Int32 = -1
    var constant: Int32 = -1
    var enumeration: Int32 = -1
    var gates: [SchemaGate] = []
    var annotations: [SchemaAnnotation] = []
}

struct SchemaAnnotation: Sendable {
    var keyword: String
    var value: Int
}

/// A keyword such as `allOf` or `not`, which combines the results of schemas for the same value. These schemas are its
/// branches.
struct SchemaGate: Sendable {
    enum Kind: UInt8, Sendable {
        /// `allOf`, `$ref` and similar keywords.
        case all
        case any, one, not
        /// The branches are the schemas of `if`, `then` and `else`.
        case condition
        /// A member of `dependentSchemas`. Applies only to objects with the gate's key.
        case dependent
    }

    var kind: Kind
    var nodes: [Int32]
    /// The keyword's pointer within the schema, such as `/allOf`. For a dependent schema, the pointer also contains the
    /// key.
    var keyword: String
    var key: [UInt8] = []
    /// The ``SchemaTag`` that distinguishes the branches, or -1.
    var tag: Int32 = -1
}

struct SchemaNumberRule: Sendable {
    var minimum: ExactDecimal?
    var exclusiveMinimum: ExactDecimal?
    var maximum: ExactDecimal?
    var exclusiveMaximum: ExactDecimal?
    var multipleOf: ExactDecimal?
    /// If `isFast` is set, integers of at most 18 digits don't need another check.
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

struct SchemaPattern: Sendable {
    let source: String
    let program: PatternProgram
}

struct SchemaArrayRule: Sendable {
    var prefix: [Int32] = []
    /// For elements after the prefix.
    var items: Int32 = -1
    var itemsKeyword = "/items"
    var contains: Int32 = -1
    var minimumContained = 1
    var maximumContained = Int.max
    var minimum = 0
    var maximum = Int.max
    var isUnique = false
    var unevaluated: Int32 = -1
    /// Whether `contains` evaluates elements, as in draft 2020-12.
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
    /// Bits of ``ValueKind`` for `null`, `true` and `false`.
    var literals: UInt8 = 0
    /// By their ``KeyHash``.
    var strings: [UInt64: [[UInt8]]] = [:]
    var numbers: Set<ExactDecimal> = []
    /// The texts of arrays and objects.
    var composites: [ValueDigest: [[UInt8]]] = [:]
    var kinds: UInt8 = 0
    var words: [String] = []
    var isConst: Bool
}
