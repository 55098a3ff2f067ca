public import ErrandEssentials

/// What a JSON document has to look like.
///
/// ```swift
/// let users: JSONShape = .array(of: [
///     "id": .integer, "name": .string(nonEmpty: true), "email": .optional(.string), "tags": .array(of: .string),
/// ])
/// try users.validate(data)
/// ```
///
/// A dictionary literal is an object with those keys; keys that it does not name may be there too, unless it is
/// `.object([…], closed: true)`. Every key must be there unless its shape is `.optional`, and null passes only where
/// `.optional`, `.nullable`, `.null` or `.any` allows it. An array literal is an array of elements that fit one of its
/// shapes. A shape is compiled once, when it is first used: keep one that is used often in a `static let`.
///
/// Shapes may lie 1,000 levels deep within each other. ``validate(_:limits:)`` refuses every text for one that is
/// deeper, with a problem of the kind ``JSONProblem/Kind/shape``.
public struct JSONShape: Sendable {
    /// Levels of shapes within shapes.
    static let maximumDepth = 1_000

    let node: ShapeNode

    init(_ form: ShapeForm) { node = ShapeNode(form) }

    /// Throws everything that is wrong with a JSON text, up to a bound: what is no JSON by RFC 8259 and what does not
    /// fit. One pass over the bytes; builds no objects. Memory grows with the depth of the text, and with the number of
    /// keys of the objects around the place where it reads.
    public func validate(_ data: Data, limits: JSONLimits = .standard) throws(JSONValidationError) {
        let error = data.withUnsafeBytes { node.program.judge($0, limits) }
        if let error { throw error }
    }

    /// The same for bytes that somebody else holds; they are not kept.
    public func validate(bytes: UnsafeRawBufferPointer, limits: JSONLimits = .standard) throws(JSONValidationError) {
        if let error = node.program.judge(bytes, limits) { throw error }
    }
}

/// A form with the program that it is compiled into at its first use; shapes share it.
final class ShapeNode: Sendable {
    let form: ShapeForm
    /// Levels of shapes within shapes, with this one.
    private let depth: Int
    private let compiled = Once<ShapeProgram>()

    /// Beyond the bound the parts are dropped, so that no release of a shape needs more stack than the bound allows.
    init(_ form: ShapeForm) {
        depth = 1 + form.innerDepth { $0.node.depth }
        self.form = depth > JSONShape.maximumDepth ? .tooDeep(levels: depth) : form
    }

    var program: ShapeProgram { compiled.value { ShapeCompiler.compile(self) } }
}

/// What can be said of a value.
enum ShapeForm: Sendable {
    case any
    case null
    case boolean
    case number(NumberForm)
    case string(StringForm)
    case constants([JSONConstant])
    case array(JSONShape, CountForm)
    case object([ObjectMember], closed: Bool)
    case map(JSONShape, CountForm)
    case either([JSONShape])
    case nullable(JSONShape)
    case optional(JSONShape, allowsNull: Bool)
    case custom(JSONShape, JSONCheck)
    case recursive(ShapeReference, JSONShape)
    case reference(ShapeReference)
    /// In the place of a shape that is too deep.
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

struct NumberForm: Sendable {
    var isInteger = false
    var integers: JSONBounds<Int>?
    var numbers: JSONBounds<Double>?
}

struct StringForm: Sendable {
    var length = CountForm()
    var pattern: JSONPattern?
}

struct CountForm: Sendable {
    var bounds: JSONBounds<Int>?
}

struct ObjectMember: Sendable {
    var key: String
    var shape: JSONShape
}

/// The identity of a recursive shape within itself.
final class ShapeReference: Sendable {}

/// A check of the user's own, with the words for what it expects.
struct JSONCheck: Sendable {
    var expected: String
    var passes: @Sendable (JSONFragment) throws -> Bool
}

/// A regular expression, compiled once, or why it cannot be carried out.
struct JSONPattern: Sendable {
    let source: String
    let program: Result<PatternProgram, JSONShapeError>

    init(_ source: String) {
        self.source = source
        do throws(PatternFault) { program = .success(try PatternProgram(source)) } catch {
            program = .failure(JSONShapeError(pattern: source, reason: error.reason, offset: error.offset))
        }
    }

    private init(_ error: JSONShapeError) { (source, program) = (error.pattern, .failure(error)) }

    /// Of a regular expression that has no source, such as one that is made of components.
    static let unreadable = JSONPattern(
        JSONShapeError(pattern: "", reason: "is not made of a literal, so that its source is not known", offset: 0))
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
