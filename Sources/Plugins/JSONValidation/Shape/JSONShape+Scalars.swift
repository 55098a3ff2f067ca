extension JSONShape {
    /// Any value, null included.
    public static let any = JSONShape(.any)
    /// Null and nothing else.
    public static let null = JSONShape(.null)
    /// `true` or `false`; 0 and 1 are numbers.
    public static let boolean = JSONShape(.boolean)
    /// Any number.
    public static let number = JSONShape(.number(NumberForm()))
    /// A number without a fraction, of any size: 7, and also 7.0 and 7e2, which are the same numbers.
    public static let integer = JSONShape(.number(NumberForm(isInteger: true)))
    /// Any string.
    public static let string = JSONShape(.string(StringForm()))

    /// A number in a range: `.number(in: 0...1)`. Compared as a `Double`.
    public static func number(in range: some RangeExpression<Double> & Sendable) -> JSONShape {
        JSONShape(.number(NumberForm(numbers: JSONBounds(range))))
    }

    /// An integer in a range: `.integer(in: 1...)`. One that no `Int` can hold is in no range.
    public static func integer(in range: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.number(NumberForm(isInteger: true, integers: JSONBounds(range))))
    }

    /// A string with at least one character, if `nonEmpty`.
    public static func string(nonEmpty: Bool) -> JSONShape {
        nonEmpty ? JSONShape(.string(StringForm(length: CountForm(bounds: JSONBounds(atLeast: 1))))) : .string
    }

    /// A string with a length in a range, counted in Unicode scalars: `.string(length: 1...80)`.
    public static func string(length: some RangeExpression<Int> & Sendable) -> JSONShape {
        JSONShape(.string(StringForm(length: CountForm(bounds: JSONBounds(length)))))
    }

    /// A string that a regular expression matches as a whole: `.string(matching: /[a-z0-9-]+/)`.
    ///
    /// The expression meets strings from outside: one that backtracks without bound, such as `(a+)+`, can be made slow
    /// by whoever writes them. Strings beyond ``JSONLimits/maximumPatternBytes`` never match.
    public static func string<Output>(
        matching pattern: @escaping @autoclosure @Sendable () -> Regex<Output>
    ) -> JSONShape {
        JSONShape(.string(StringForm(pattern: JSONPattern(make: { Regex<AnyRegexOutput>(pattern()) }))))
    }

    /// The same for an expression that is known only at run time; throws ``JSONShapeError`` if it is none.
    public static func string(pattern source: String) throws(JSONShapeError) -> JSONShape {
        do { _ = try Regex(source) } catch { throw JSONShapeError(pattern: source) }
        return JSONShape(.string(StringForm(pattern: JSONPattern(make: { try? Regex(source) }, source: source))))
    }

    /// One of some constants: `.enumeration("draft", "sent", 3, nil)`.
    public static func enumeration(_ constants: JSONConstant...) -> JSONShape { JSONShape(.constants(constants)) }

    /// One of some constants that are computed: `.enumeration(Status.allCases.map { .string($0.rawValue) })`.
    public static func enumeration(_ constants: [JSONConstant]) -> JSONShape { JSONShape(.constants(constants)) }
}

/// A shape that cannot be made: its pattern is no regular expression.
public struct JSONShapeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The pattern.
    public let pattern: String

    /// A sentence with the pattern in it.
    public var description: String { "not a regular expression: \(pattern)" }
}
