/// A compiled shape, whose nodes and rules refer to each other by index.
final class ShapeProgram: Sendable {
    /// The node that every value fits.
    static let any = 0

    let nodes: [ShapeRule]
    let objects: [ObjectRule]
    let arrays: [ArrayRule]
    let strings: [StringRule]
    let numbers: [NumberRule]
    let members: [KeyRule]
    let slots: [Int32]
    let pool: ContiguousArray<UInt8>
    let alternatives: [Int32]
    let bounds: [JSONBounds<Int>]
    let ranges: [JSONBounds<Double>]
    let patterns: [JSONPattern]
    let constants: [[JSONConstant]]
    let checks: [JSONCheck]
    let tags: [TagRule]
    let tagged: [[Int32]]
    /// The initially expected keys, see `successors(_:_:)`. Each validation adapts its own copy.
    let successors: [Int32]
    let root: Int
    private let fault: JSONProblem?

    init(_ compiler: ShapeCompiler, root: Int32) {
        nodes = compiler.nodes
        objects = compiler.objects
        arrays = compiler.arrays
        strings = compiler.strings
        numbers = compiler.numbers
        members = compiler.members
        slots = compiler.slots
        pool = compiler.pool
        alternatives = compiler.alternatives
        bounds = compiler.bounds
        ranges = compiler.ranges
        patterns = compiler.patterns
        constants = compiler.constants
        checks = compiler.checks
        tags = compiler.tags
        tagged = compiler.tagged
        fault = compiler.fault
        successors = Self.successors(compiler.members.count, compiler.objects)
        self.root = Int(root)
    }

    func validate(_ text: Span<UInt8>, _ limits: JSONLimits) -> JSONValidationError? {
        if let fault { return JSONValidationError(problems: [fault], count: 1) }
        var validator = ShapeValidator(self, textCount: text.count, limits.clamped)
        validator.run(text)
        return validator.problems.error
    }

    /// The key that is expected after each key, followed by the first key that is expected in each object. -1 means
    /// that no key is expected.
    private static func successors(_ members: Int, _ objects: [ObjectRule]) -> [Int32] {
        var successors = [Int32](repeating: -1, count: members + objects.count)
        // Wide objects use the key set for all keys.
        for (index, object) in objects.enumerated() where !object.isWide && object.keys.count > 0 {
            let keys = object.keys
            successors[members + index] = keys.first
            for offset in 0..<Int(keys.count) {
                successors[Int(keys.first) + offset] = keys.first + Int32((offset + 1) % Int(keys.count))
            }
        }
        return successors
    }
}

/// The constraints of a value. An index of -1 means that the rule is missing.
struct ShapeRule {
    var kinds: UInt8 = 0
    /// The kinds whose values all fit.
    var plain: UInt8 = 0
    /// Kinds with several alternative rules.
    var ambiguous: UInt8 = 0
    var isNonEmptyString = false
    var hasChecks = false
    var string: Int32 = -1
    var number: Int32 = -1
    var array: Int32 = -1
    var object: Int32 = -1
    var tag: Int32 = -1
    /// In `alternatives`. These nodes aren't ambiguous themselves.
    var alternatives: Range<Int32> = 0..<0
    var checks: Range<Int32> = 0..<0
}

struct ObjectRule {
    var keys = KeyTable()
    /// Bits of the required keys among the first 64.
    var required: UInt64 = 0
    var requiredCount = 0
    /// With more than 64 keys, the key set records which keys were found.
    var isWide = false
    var isClosed = false
    var others: Int32 = 0
    var count: Int32 = -1
    var needsClosing: Bool { isWide || count >= 0 }
}

/// A required key whose constants distinguish the objects of several shapes.
struct TagRule {
    var key: KeyTable
    /// The constants. The `node` of a constant is an index in `tagged`, where the nodes with this constant are.
    var values: KeyTable
    /// In the order of the alternatives.
    var constants: [(node: Int32, values: [JSONConstant])]
}

struct ArrayRule {
    var element: Int32
    var count: Int32
}

struct StringRule {
    var length: Int32 = -1
    var pattern: Int32 = -1
    var constants: Int32 = -1
    var keys = KeyTable()
}

struct NumberRule {
    var isInteger = false
    var integers: Int32 = -1
    var numbers: Int32 = -1
    var constants: Int32 = -1
}

/// Keys in `members`, and the hash table in `slots` for finding them.
struct KeyTable {
    var first: Int32 = 0
    var count: Int32 = 0
    var firstSlot: Int32 = 0
    var mask: Int32 = 0
}
