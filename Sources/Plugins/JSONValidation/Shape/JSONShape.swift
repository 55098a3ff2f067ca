public import ErrandEssentials

/// The expected structure of a JSON document.
///
/// ```swift
/// let users: JSONShape = .array(of: [
///     "id": .integer, "name": .string(nonEmpty: true), "email": .optional(.string), "tags": .array(of: .string),
/// ])
/// try users.validate(data)
/// ```
///
/// A dictionary literal is an object with those keys; other keys are allowed, unless it is `.object([…], closed: true)`.
/// Every key is required unless its shape is `.optional`, and null is valid only for `.optional`, `.nullable`, `.null` and
/// `.any`. An array literal is an array of elements that fit one of its shapes. A shape is compiled at its first use: keep
/// a shape that is used often in a `static let`.
///
/// Shapes may be nested 1,000 levels deep. For a deeper one ``validate(_:limits:)`` rejects every text, with a problem of
/// the kind ``JSONProblem/Kind/shape``.
public struct JSONShape: Sendable {
    /// The maximum nesting of shapes.
    static let maximumDepth = 1_000

    let node: ShapeNode

    init(_ form: ShapeForm) { node = ShapeNode(form) }

    /// Validates a JSON text, and throws its problems, up to a limit: violations of RFC 8259 and of the shape. Reads the
    /// bytes in one pass without building objects. Memory grows with the depth of the text, and with the number of keys in
    /// the open objects.
    public func validate(_ data: Data, limits: JSONLimits = .standard) throws(JSONValidationError) {
        let error = data.withSpan { node.program.validate($0, limits) }
        if let error { throw error }
    }
}

/// A form with the program that it is compiled to at its first use. Copies of a shape share it.
final class ShapeNode: Sendable {
    let form: ShapeForm
    /// The nesting of shapes, including this one.
    private let depth: Int
    private let compiled = Once<ShapeProgram>()

    /// The parts of a shape beyond the limit are dropped, so that releasing a shape needs a bounded stack.
    init(_ form: ShapeForm) {
        depth = 1 + form.innerDepth { $0.node.depth }
        self.form = depth > JSONShape.maximumDepth ? .tooDeep(levels: depth) : form
    }

    var program: ShapeProgram { compiled.value { ShapeCompiler.compile(self) } }
}

/// The forms of shapes.
enum ShapeForm: Sendable {
    case any
    case null
    case boolean
    case number(NumberConstraint)
    case string(StringConstraint)
    case constants([JSONConstant])
    case array(JSONShape, CountConstraint)
    case object([ObjectMember], closed: Bool)
    case map(JSONShape, CountConstraint)
    case either([JSONShape])
    case nullable(JSONShape)
    case optional(JSONShape, allowsNull: Bool)
    case custom(JSONShape, JSONCheck)
    case recursive(ShapeReference, JSONShape)
    case reference(ShapeReference)
    /// Replaces a shape that is too deep.
    case tooDeep(levels: Int)

    /// The depth of the deepest part; 0 without parts.
    func innerDepth(_ depth: (JSONShape) -> Int) -> Int {
        switch self {
        case .array(let shape, _), .map(let shape, _), .nullable(let shape), .optional(let shape, _),
            .custom(let shape, _), .recursive(_, let shape):
            depth(shape)
        case .object(let members, _): members.reduce(0) { max($0, depth($1.shape)) }
        case .either(let shapes): shapes.reduce(0) { max($0, depth($1)) }
        case .tooDeep(let levels): levels
        default: 0
        }
    }
}

struct NumberConstraint: Sendable {
    var isInteger = false
    var integers: JSONBounds<Int>?
    var numbers: JSONBounds<Double>?
}

struct StringConstraint: Sendable {
    var length = CountConstraint()
    var pattern: JSONPattern?
}

struct CountConstraint: Sendable {
    var bounds: JSONBounds<Int>?
}

struct ObjectMember: Sendable {
    var key: String
    var shape: JSONShape
}

/// Identifies a recursive shape within itself.
final class ShapeReference: Sendable {}

/// A custom check, with the description of what it expects.
struct JSONCheck: Sendable {
    var expected: String
    var passes: @Sendable (JSONFragment) throws -> Bool
}

extension JSONShape {
    /// Whether a key with this shape may be missing.
    var isOptional: Bool {
        switch node.form {
        case .optional: true
        case .nullable(let shape), .custom(let shape, _), .recursive(_, let shape): shape.isOptional
        case .either(let shapes): shapes.contains(where: \.isOptional)
        default: false
        }
    }
}
