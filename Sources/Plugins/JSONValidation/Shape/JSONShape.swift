public import Errand
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

extension JSONShape {
    /// For the value of a key: the key may be missing or, unless `allowsNull` is false, null, like an optional property that
    /// Swift decodes. Outside of an object it is the same as `.nullable`.
    public static func optional(_ shape: JSONShape, allowsNull: Bool = true) -> JSONShape {
        JSONShape(.optional(shape, allowsNull: allowsNull))
    }

    /// The shape or null. As the value of a key it must not be missing.
    public static func nullable(_ shape: JSONShape) -> JSONShape { JSONShape(.nullable(shape)) }

    /// One of several shapes: `.either(.integer, .string)`. Objects that differ by their contents are distinguished in the
    /// same pass. If none fits, the problems of the closest one are reported.
    public static func either(_ shapes: JSONShape...) -> JSONShape { JSONShape(.either(shapes)) }

    /// One of several shapes in an array.
    public static func either(_ shapes: [JSONShape]) -> JSONShape { JSONShape(.either(shapes)) }

    /// A shape with a custom check.
    ///
    /// ```swift
    /// .custom("an even number", of: .integer) { $0.integer?.isMultiple(of: 2) == true }
    /// ```
    ///
    /// - Parameters:
    ///   - expected: completes "expected …" in the message.
    ///   - shape: validated first; the check receives only values that fit. `.any` by default.
    ///   - passes: receives a copy of the value's bytes; an error fails the check. Within `.either` it may be called for an
    ///     alternative that does not apply.
    public static func custom(
        _ expected: String, of shape: JSONShape = .any, _ passes: @escaping @Sendable (JSONFragment) throws -> Bool
    ) -> JSONShape {
        JSONShape(.custom(shape, JSONCheck(expected: expected, passes: passes)))
    }

    /// A shape that contains itself, such as a tree.
    ///
    /// ```swift
    /// let tree = JSONShape.recursive { tree in ["name": .string, "children": .array(of: tree)] }
    /// ```
    ///
    /// Use the parameter within the closure only: elsewhere no value fits it.
    public static func recursive(_ shape: (JSONShape) -> JSONShape) -> JSONShape {
        let reference = ShapeReference()
        return JSONShape(.recursive(reference, shape(JSONShape(.reference(reference)))))
    }
}

extension JSONShape {
    /// Any array.
    public static let array = JSONShape(.array(.any, CountConstraint()))
    /// Any object.
    public static let object = JSONShape(.object([], closed: false))

    /// An array whose elements all have one shape; it may be empty.
    public static func array(of element: JSONShape) -> JSONShape { JSONShape(.array(element, CountConstraint())) }

    /// An array with a number of elements: `.array(of: .string, count: 1...5)`.
    public static func array(of element: JSONShape, count: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.array(element, CountConstraint(bounds: JSONBounds(count))))
    }

    /// An object with these keys; if `closed`, with no others: `.object(["id": .integer], closed: true)`.
    ///
    /// The last shape of a repeated key applies.
    public static func object(_ members: KeyValuePairs<String, JSONShape>, closed: Bool = false) -> JSONShape {
        object(members: members.map { ($0.key, $0.value) }, closed: closed)
    }

    /// An object with keys that are computed at run time; see ``object(_:closed:)``.
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

    /// An object with any keys whose values all have one shape.
    public static func map(of value: JSONShape) -> JSONShape { JSONShape(.map(value, CountConstraint())) }

    /// A map with a number of keys: `.map(of: .number, count: 1...)`.
    public static func map(of value: JSONShape, count: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.map(value, CountConstraint(bounds: JSONBounds(count))))
    }
}

extension JSONShape: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// An object with these keys, each required unless `.optional`; other keys are allowed.
    public init(dictionaryLiteral elements: (String, JSONShape)...) {
        self = .object(members: elements.map { (key: $0.0, value: $0.1) })
    }

    /// An array; `[]` of anything, `[.string]` of strings, `[.string, .integer]` of strings and integers mixed.
    public init(arrayLiteral elements: JSONShape...) {
        self = .array(of: elements.isEmpty ? .any : elements.count == 1 ? elements[0] : .either(elements))
    }
}

extension JSONShape {
    /// The shape of an example document.
    ///
    /// ```swift
    /// let shape = try JSONShape(example: Data(#"[{"id": 1, "name": "Ada"}]"#.utf8))   // [["id": .integer, "name": .string]]
    /// ```
    ///
    /// Objects are open and require all keys of the example. The elements of an array are merged into one shape: a key that
    /// some objects lack is optional, integers and other numbers become numbers, null makes a shape nullable, and
    /// different types become alternatives. Where the example has only null, or an empty array, any value fits. A number
    /// is an integer if it is written without a fraction and an exponent.
    ///
    /// Throws ``JSONValidationError`` if the example is not JSON or exceeds the standard limits.
    public init(example: Data) throws(JSONValidationError) {
        try JSONShape.any.validate(example)
        let sample = example.withSpan { text in
            var reader = ExampleReader(text)
            return reader.read(text)
        }
        self = sample.shape
    }
}

extension JSONShape {
    /// Any value, null included.
    public static let any = JSONShape(.any)
    /// Null and nothing else.
    public static let null = JSONShape(.null)
    /// `true` or `false`; 0 and 1 are numbers.
    public static let boolean = JSONShape(.boolean)
    /// Any number.
    public static let number = JSONShape(.number(NumberConstraint()))
    /// A number without a fraction, of any size: 7, and also 7.0 and 7e2, which are the same numbers.
    public static let integer = JSONShape(.number(NumberConstraint(isInteger: true)))
    /// Any string.
    public static let string = JSONShape(.string(StringConstraint()))

    /// A number in a range: `.number(in: 0...1)`. Compared as a `Double`.
    public static func number(in range: some RangeExpression<Double> & Sendable) -> JSONShape {
        JSONShape(.number(NumberConstraint(numbers: JSONBounds(range))))
    }

    /// An integer in a range: `.integer(in: 1...)`. One that no `Int` can hold is in no range.
    public static func integer(in range: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.number(NumberConstraint(isInteger: true, integers: JSONBounds(range))))
    }

    /// A string with at least one character, if `nonEmpty`.
    public static func string(nonEmpty: Bool) -> JSONShape {
        nonEmpty
            ? JSONShape(.string(StringConstraint(length: CountConstraint(bounds: JSONBounds(atLeast: 1))))) : .string
    }

    /// A string with a length in a range, counted in Unicode scalars: `.string(length: 1...80)`.
    public static func string(length: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.string(StringConstraint(length: CountConstraint(bounds: JSONBounds(length)))))
    }

    /// A string that a regular expression matches as a whole: `.string(matching: /[a-z0-9-]+/)`.
    ///
    /// The source of the literal is interpreted as by ``string(pattern:)``, without the options of the literal. An expression
    /// that is not supported, or not a literal, makes ``validate(_:limits:)`` throw a problem of the kind
    /// ``JSONProblem/Kind/shape``.
    public static func string<Output>(matching pattern: Regex<Output>) -> JSONShape {
        let source = pattern._literalPattern
        return JSONShape(.string(StringConstraint(pattern: source.map { JSONPattern(literal: $0) } ?? .unreadable)))
    }

    /// A string that a regular expression matches as a whole: `try .string(pattern: "[a-z0-9-]+")`.
    ///
    /// The syntax is that of ECMA-262 with the flag `u`, as in JSON Schema, over Unicode scalars: groups, classes,
    /// `\d \w \s \b` in their ASCII meaning, `\p{L}` and other properties and scripts, `. ^ $ |`, greedy, lazy and
    /// counted quantifiers, lookahead and lookbehind, and the modifiers `(?ims:…)`. Backreferences are not supported. The pattern is compiled once. The time to match is bounded by the length of the string times that of the
    /// pattern, even for `(a+)+`; see ``JSONLimits/maximumPatternSteps``.
    ///
    /// Throws ``JSONShapeError`` for a source that is not valid, not supported or too large.
    public static func string(pattern source: String) throws(JSONShapeError) -> JSONShape {
        let pattern = JSONPattern(source)
        if case .failure(let error) = pattern.program { throw error }
        return JSONShape(.string(StringConstraint(pattern: pattern)))
    }

    /// One of several constants: `.enumeration("draft", "sent", 3, nil)`.
    public static func enumeration(_ constants: JSONConstant...) -> JSONShape { JSONShape(.constants(constants)) }

    /// One of several constants in an array: `.enumeration(Status.allCases.map { .string($0.rawValue) })`.
    public static func enumeration(_ constants: [JSONConstant]) -> JSONShape { JSONShape(.constants(constants)) }
}

/// Thrown for a pattern that is not a valid regular expression, or not supported.
public struct JSONShapeError: DescribedError, Sendable, Hashable {
    /// The pattern.
    public let pattern: String
    /// The reason; completes "the pattern …".
    public let reason: String
    /// The position in the pattern, in Unicode scalars.
    public let offset: Int

    /// A sentence that contains the pattern.
    public var description: String { PatternFault(reason: reason, offset: offset).message(of: pattern) }

    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}
