public import Errand
import ErrandEssentials

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
