#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
public struct JSONShape: Sendable {
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
    private let compiled = Once<ShapeProgram>()

    init(_ form: ShapeForm) { self.form = form }

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

/// A regular expression by the closure that makes it, because `Regex` is not `Sendable`.
struct JSONPattern: Sendable {
    var make: @Sendable () -> Regex<AnyRegexOutput>?
    /// For messages; nil for a literal, which does not know its source.
    var source: String?
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
