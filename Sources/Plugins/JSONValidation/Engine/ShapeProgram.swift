/// The kinds of value that a first byte tells apart, with numbers by how they are written; a bit each.
enum ValueKind {
    static let null: UInt8 = 1
    static let `false`: UInt8 = 2
    static let `true`: UInt8 = 4
    /// A number without fraction and exponent.
    static let integer: UInt8 = 8
    static let fraction: UInt8 = 16
    static let string: UInt8 = 32
    static let array: UInt8 = 64
    static let object: UInt8 = 128
    static let boolean = `true` | `false`
    static let number = integer | fraction
    static let all: UInt8 = 255
}

/// A shape as the validator reads it: nodes that point to each other and to their rules by index.
final class ShapeProgram: Sendable {
    let nodes: [ShapeRule]
    let objects: [ObjectRule]
    let arrays: [ArrayRule]
    let strings: [StringRule]
    let numbers: [NumberRule]
    let members: [KeyRule]
    let slots: [Int32]
    let pool: [UInt8]
    let alternatives: [Int32]
    let bounds: [JSONBounds<Int>]
    let ranges: [JSONBounds<Double>]
    let patterns: [JSONPattern]
    let constants: [[JSONConstant]]
    let checks: [JSONCheck]
    let tags: [TagRule]
    let tagged: [[Int32]]
    let root: Int
    /// Why the shape cannot be used.
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
        self.root = Int(root)
    }

    /// Everything that is wrong with a text; nil if nothing is.
    func judge(_ bytes: UnsafeRawBufferPointer, _ limits: JSONLimits) -> JSONValidationError? {
        if let fault { return JSONValidationError(problems: [fault], count: 1) }
        return bytes.withMemoryRebound(to: UInt8.self) { text in
            withTables { tables in
                var validator = Validator(self, tables, text, limits.clamped)
                validator.run()
                return validator.problems.error
            }
        }
    }

    private func withTables<Result>(_ body: (ShapeTables) -> Result) -> Result {
        nodes.withUnsafeBufferPointer { nodes in
            objects.withUnsafeBufferPointer { objects in
                members.withUnsafeBufferPointer { members in
                    pool.withUnsafeBufferPointer { pool in body(ShapeTables(nodes, objects, members, pool)) }
                }
            }
        }
    }
}

/// Where the tables are that the validator's loop reads for every value.
struct ShapeTables {
    let nodes: UnsafePointer<ShapeRule>
    let objects: UnsafePointer<ObjectRule>
    let members: UnsafePointer<KeyRule>
    let pool: BytePointer
    /// The node that everything fits.
    var any: UnsafePointer<ShapeRule> { nodes }

    /// Empty tables have no address, and are never read.
    init(
        _ nodes: UnsafeBufferPointer<ShapeRule>, _ objects: UnsafeBufferPointer<ObjectRule>,
        _ members: UnsafeBufferPointer<KeyRule>, _ pool: UnsafeBufferPointer<UInt8>
    ) {
        self.nodes = Self.start(nodes)
        self.objects = Self.start(objects)
        self.members = Self.start(members)
        self.pool = Self.start(pool)
    }

    private static func start<Element>(_ buffer: UnsafeBufferPointer<Element>) -> UnsafePointer<Element> {
        buffer.baseAddress ?? UnsafePointer(bitPattern: MemoryLayout<Element>.alignment).unsafelyUnwrapped
    }
}

/// What is asked of a value: which kinds, and for each kind by which rule. Indexes are -1 where there is no rule.
struct ShapeRule {
    var kinds: UInt8 = 0
    /// Kinds of which nothing more is asked.
    var plain: UInt8 = 0
    /// Kinds of which several rules have to be tried.
    var ambiguous: UInt8 = 0
    /// A string needs at least one character, and that is all.
    var isNonEmptyString = false
    var hasChecks = false
    var string: Int32 = -1
    var number: Int32 = -1
    var array: Int32 = -1
    var object: Int32 = -1
    /// How objects are told apart where they are ambiguous.
    var tag: Int32 = -1
    /// For the ambiguous kinds: nodes that are not ambiguous themselves, in `alternatives`.
    var alternatives: Range<Int32> = 0..<0
    var checks: Range<Int32> = 0..<0
}

struct ObjectRule {
    /// The keys that it names.
    var keys = KeyTable()
    /// A bit for each of the first 64.
    var required: UInt64 = 0
    var requiredCount = 0
    /// More than 64 keys: those that came are found in the set of keys.
    var isWide = false
    var isClosed = false
    /// The node for the values of other keys.
    var others: Int32 = 0
    var count: Int32 = -1
    /// Whether something is to be done at its end beside looking for missing keys.
    var needsClosing: Bool { isWide || count >= 0 }
}

/// A required key with constants by which one look tells the objects of several shapes apart.
struct TagRule {
    var key: KeyTable
    /// Each constant; its `node` is the place in `tagged` of the nodes that it leaves.
    var values: KeyTable
    /// The constants of each node, in the order of the alternatives.
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

/// Some keys among all `members`, and the part of `slots` that finds one by its hash.
struct KeyTable {
    var first: Int32 = 0
    var count: Int32 = 0
    var firstSlot: Int32 = 0
    var mask: Int32 = 0
}

/// A key, made ready to be compared with a text: its first 16 bytes with the closing quote, and all in the pool.
struct KeyRule {
    var word0: UInt64
    var mask0: UInt64
    var word1: UInt64
    var mask1: UInt64
    var length: Int32
    var text: Int32
    /// The node of its value.
    var node: Int32
    var isRequired: Bool

    init(_ key: [UInt8], text: Int, node: Int32, isRequired: Bool) {
        (word0, mask0) = Self.word(key, from: 0)
        (word1, mask1) = Self.word(key, from: 8)
        // In a text these characters stand escaped, so the plain comparison may never succeed.
        if key.contains(where: { $0 < 0x20 || $0 == Lexer.quote || $0 == Lexer.backslash }) { (word0, mask0) = (1, 0) }
        length = Int32(key.count)
        self.text = Int32(text)
        self.node = node
        self.isRequired = isRequired
    }

    private static func word(_ key: [UInt8], from start: Int) -> (UInt64, UInt64) {
        var (word, mask): (UInt64, UInt64) = (0, 0)
        for index in 0..<8 where start + index <= key.count {
            let byte = start + index == key.count ? Lexer.quote : key[start + index]
            word |= UInt64(byte) << UInt64(8 * index)
            mask |= 0xFF << UInt64(8 * index)
        }
        return (word, mask)
    }
}
