public import Errand
public import ErrandEssentials
import Synchronization

/// The expected structure of a JSON document.
///
/// ```swift
/// let users: JSONShape = .array(of: [
///     "id": .integer, "name": .string(nonEmpty: true), "email": .optional(.string), "tags": .array(of: .string),
/// ])
/// try users.validate(data)
/// ```
///
/// A dictionary literal is an object with the literal's keys. Other keys are allowed, unless you write `.object([…],
/// closed: true)`. Every key is required unless its shape is `.optional`. Null is valid only for `.optional`,
/// `.nullable`, `.null` and `.any`. An array literal is an array whose elements fit one of its shapes.
///
/// A shape is compiled on first use, so keep frequently used shapes in a `static let`.
///
/// You can nest shapes up to 1,000 levels. With a deeper shape, ``validate(_:limits:)`` rejects every text with a
/// problem of the kind ``JSONProblem/Kind/shape``.
public struct JSONShape: Sendable {
    static let maximumDepth = 1_000

    let node: ShapeNode

    init(_ form: ShapeForm) { node = ShapeNode(form) }

    /// Validates a JSON text. Throws an error that lists the violations of RFC 8259 and of the shape, up to
    /// ``JSONLimits/maximumProblems``.
    ///
    /// Validation reads the bytes in one pass and doesn't build objects. Memory use grows with the depth of the text
    /// and the number of keys in open objects.
    public func validate(_ data: Data, limits: JSONLimits = .standard) throws(JSONValidationError) {
        if let error = node.program.validate(data.span, limits) { throw error }
    }
}

/// Compiles its form on first use. Copies of a shape share one node.
final class ShapeNode: Sendable {
    let form: ShapeForm
    private let depth: Int
    private let compiled = Once<ShapeProgram>()

    /// Creates a node. If the shape is too deep, drops its parts, because releasing them would take an unbounded amount
    /// of stack.
    init(_ form: ShapeForm) {
        depth = 1 + form.innerDepth { $0.node.depth }
        self.form = depth > JSONShape.maximumDepth ? .tooDeep(levels: depth) : form
    }

    var program: ShapeProgram { compiled.value { ShapeCompiler.compile(self) } }
}

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
    case tooDeep(levels: Int)

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

/// Identifies a recursive shape inside its definition.
final class ShapeReference: Sendable {}

struct JSONCheck: Sendable {
    var expected: String
    var passes: @Sendable (JSONFragment) throws -> Bool
}

extension JSONShape {
    var isOptional: Bool {
        switch node.form {
        case .optional: true
        case .nullable(let shape), .custom(let shape, _), .recursive(_, let shape): shape.isOptional
        case .either(let shapes): shapes.contains(where: \.isOptional)
        default: false
        }
    }
}

extension JSONShape {
    /// The value of a key that may be missing or null, like an optional property in Swift.
    ///
    /// Pass `allowsNull: false` to reject null. Outside an object, `.optional` is the same as `.nullable`.
    public static func optional(_ shape: JSONShape, allowsNull: Bool = true) -> JSONShape {
        JSONShape(.optional(shape, allowsNull: allowsNull))
    }

    /// A value that fits the shape or is null. In an object, its key must be present.
    public static func nullable(_ shape: JSONShape) -> JSONShape { JSONShape(.nullable(shape)) }

    /// A value that fits one of several shapes: `.either(.integer, .string)`. If no shape fits, validation reports the
    /// problems with the closest shape.
    public static func either(_ shapes: JSONShape...) -> JSONShape { JSONShape(.either(shapes)) }

    /// A value that fits one of several shapes, which are computed at run time.
    public static func either(_ shapes: [JSONShape]) -> JSONShape { JSONShape(.either(shapes)) }

    /// A value that passes a custom check.
    ///
    /// ```swift
    /// .custom("an even number", of: .integer) { $0.integer?.isMultiple(of: 2) == true }
    /// ```
    ///
    /// - Parameters:
    ///   - expected: completes "expected …" in the message.
    ///   - shape: the shape that is validated first. The check receives only values that fit it. Defaults to `.any`.
    ///   - passes: checks a copy of the value's bytes. If the closure throws, the check fails. Inside `.either`, the
    ///     closure may also be called for an alternative that turns out not to apply.
    public static func custom(
        _ expected: String, of shape: JSONShape = .any, _ passes: @escaping @Sendable (JSONFragment) throws -> Bool
    ) -> JSONShape {
        JSONShape(.custom(shape, JSONCheck(expected: expected, passes: passes)))
    }

    /// A shape that can contain itself, such as a tree.
    ///
    /// ```swift
    /// let tree = JSONShape.recursive { tree in ["name": .string, "children": .array(of: tree)] }
    /// ```
    ///
    /// Use the closure's parameter only inside the closure. Elsewhere, no value fits it.
    public static func recursive(_ shape: (JSONShape) -> JSONShape) -> JSONShape {
        let reference = ShapeReference()
        return JSONShape(.recursive(reference, shape(JSONShape(.reference(reference)))))
    }
}

extension JSONShape {
    /// Any array, with any elements.
    public static let array = JSONShape(.array(.any, CountConstraint()))
    /// Any object, with any keys.
    public static let object = JSONShape(.object([], closed: false))

    /// An array whose elements all fit one shape. It may be empty.
    public static func array(of element: JSONShape) -> JSONShape { JSONShape(.array(element, CountConstraint())) }

    /// An array with a limited number of elements: `.array(of: .string, count: 1...5)`.
    public static func array(of element: JSONShape, count: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.array(element, CountConstraint(bounds: JSONBounds(count))))
    }

    /// An object with these keys. With `closed`, other keys are rejected: `.object(["id": .integer], closed: true)`. If
    /// `members` repeats a key, the last shape applies.
    public static func object(_ members: KeyValuePairs<String, JSONShape>, closed: Bool = false) -> JSONShape {
        object(members: members.map { ($0.key, $0.value) }, closed: closed)
    }

    /// An object with keys that are computed at run time. See ``object(_:closed:)``.
    public static func object(
        members: some Sequence<(key: String, value: JSONShape)>, closed: Bool = false
    ) -> JSONShape {
        var indices: [[UInt8]: Int] = [:]
        var unique: [ObjectMember] = []
        for (key, shape) in members {
            let index = indices[Array(key.utf8)]
            if let index {
                unique[index].shape = shape
            } else {
                indices[Array(key.utf8)] = unique.count
                unique.append(ObjectMember(key: key, shape: shape))
            }
        }
        return JSONShape(.object(unique, closed: closed))
    }

    /// An object with any keys, whose values all fit one shape.
    public static func map(of value: JSONShape) -> JSONShape { JSONShape(.map(value, CountConstraint())) }

    /// A map with a limited number of keys: `.map(of: .number, count: 1...)`.
    public static func map(of value: JSONShape, count: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.map(value, CountConstraint(bounds: JSONBounds(count))))
    }
}

extension JSONShape: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates an object with these keys. Each key is required unless its shape is `.optional`. Other keys are allowed.
    public init(dictionaryLiteral elements: (String, JSONShape)...) {
        self = .object(members: elements.map { (key: $0.0, value: $0.1) })
    }

    /// Creates an array: `[]` for any elements, `[.string]` for strings, `[.string, .integer]` for a mix of strings and
    /// integers.
    public init(arrayLiteral elements: JSONShape...) {
        self = .array(of: elements.isEmpty ? .any : elements.count == 1 ? elements[0] : .either(elements))
    }
}

extension JSONShape {
    /// Creates a shape from an example document.
    ///
    /// ```swift
    /// // [["id": .integer, "name": .string]]
    /// let shape = try JSONShape(example: Data(#"[{"id": 1, "name": "Ada"}]"#.utf8))
    /// ```
    ///
    /// Objects are open and require every key in the example. The elements of an array are merged into one shape:
    ///
    /// - A key that some objects lack is optional.
    /// - Integers mixed with other numbers become numbers.
    /// - Null makes a shape nullable.
    /// - Different types become alternatives.
    ///
    /// If the example has only null at a position, or only an empty array, the shape accepts any value, or any element,
    /// at that position. A number becomes an integer if it has neither a fraction nor an exponent.
    ///
    /// Throws ``JSONValidationError`` if the example isn't JSON or exceeds the standard limits.
    public init(example: Data) throws(JSONValidationError) {
        try JSONShape.any.validate(example)
        var reader = ExampleReader(example.span)
        self = reader.read(example.span).shape
    }
}

extension JSONShape {
    /// Any value, including null.
    public static let any = JSONShape(.any)
    /// Only null.
    public static let null = JSONShape(.null)
    /// `true` or `false`, but not 0 or 1.
    public static let boolean = JSONShape(.boolean)
    /// Any number, with or without a fraction.
    public static let number = JSONShape(.number(NumberConstraint()))
    /// A number of any size without a fraction: 7, but also 7.0 and 7e2.
    public static let integer = JSONShape(.number(NumberConstraint(isInteger: true)))
    /// Any string, even an empty string.
    public static let string = JSONShape(.string(StringConstraint()))

    /// A number in a range: `.number(in: 0...1)`. The comparison uses `Double`.
    public static func number(in range: some RangeExpression<Double> & Sendable) -> JSONShape {
        JSONShape(.number(NumberConstraint(numbers: JSONBounds(range))))
    }

    /// An integer in a range: `.integer(in: 1...)`. Integers that don't fit `Int` are outside every range.
    public static func integer(in range: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.number(NumberConstraint(isInteger: true, integers: JSONBounds(range))))
    }

    /// A string. If `nonEmpty`, it must have at least one character.
    public static func string(nonEmpty: Bool) -> JSONShape {
        nonEmpty
            ? JSONShape(.string(StringConstraint(length: CountConstraint(bounds: JSONBounds(atLeast: 1))))) : .string
    }

    /// A string with a limited length in Unicode scalars: `.string(length: 1...80)`.
    public static func string(length: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.string(StringConstraint(length: CountConstraint(bounds: JSONBounds(length)))))
    }

    /// A string that matches a regular expression literal as a whole: `.string(matching: /[a-z0-9-]+/)`.
    ///
    /// The literal's source text is read as a pattern with the syntax of ``string(pattern:)``. The literal's options
    /// are ignored. If the expression isn't supported or isn't a literal, ``validate(_:limits:)`` throws a problem of
    /// the kind ``JSONProblem/Kind/shape``.
    public static func string<Output>(matching pattern: Regex<Output>) -> JSONShape {
        let source = pattern._literalPattern
        return JSONShape(.string(StringConstraint(pattern: source.map { JSONPattern(literal: $0) } ?? .unreadable)))
    }

    /// A string that matches a regular expression as a whole: `try .string(pattern: "[a-z0-9-]+")`.
    ///
    /// The syntax is ECMA-262 with the flag `u`, as in JSON Schema, and applies to Unicode scalars. It supports groups,
    /// classes, `\d \w \s \b` with their ASCII meaning, `\p{L}` and other properties and scripts, `. ^ $ |`, greedy,
    /// lazy and counted quantifiers, lookahead and lookbehind, and the modifiers `(?ims:…)`. Backreferences aren't
    /// supported.
    ///
    /// The pattern is compiled once. Even for `(a+)+`, the number of steps is at most the length of the string times
    /// the length of the pattern; see ``JSONLimits/maximumPatternSteps``.
    ///
    /// Throws ``JSONShapeError`` if the pattern is invalid, unsupported or too large.
    public static func string(pattern source: String) throws(JSONShapeError) -> JSONShape {
        let pattern = JSONPattern(source)
        if case .failure(let error) = pattern.program { throw error }
        return JSONShape(.string(StringConstraint(pattern: pattern)))
    }

    /// One of several constants: `.enumeration("draft", "sent", 3, nil)`.
    public static func enumeration(_ constants: JSONConstant...) -> JSONShape { JSONShape(.constants(constants)) }

    /// One of an array of constants: `.enumeration(Status.allCases.map { .string($0.rawValue) })`.
    public static func enumeration(_ constants: [JSONConstant]) -> JSONShape { JSONShape(.constants(constants)) }
}

/// Thrown if a pattern isn't a valid regular expression, or isn't supported.
public struct JSONShapeError: DescribedError, Sendable, Hashable {
    /// The pattern's source text.
    public let pattern: String
    /// Why the pattern can't be used. Completes "the pattern …".
    public let reason: String
    /// The position of the fault in the pattern, in Unicode scalars from 0.
    public let offset: Int

    /// The pattern, the reason and the position, in one sentence.
    public var description: String { PatternFault(reason: reason, offset: offset).message(of: pattern) }

    /// The `NSError` code, always 1.
    public var errorCode: Int { 1 }
}

/// A value that is created on first use.
final class Once<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)

    func value(_ make: () -> Value) -> Value {
        if let value = made.withLock({ $0 }) { return value }
        // The value is created outside the lock, so no caller waits for another. If two callers create a value, the
        // first stored value is used.
        let new = make()
        return made.withLock { value in
            if let value { return value }
            value = new
            return new
        }
    }
}
