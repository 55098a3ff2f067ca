public import ErrandEssentials

/// A type whose values can be parameters: strings, numbers, Booleans, and arrays, sets, dictionaries and optionals of
/// them.
///
/// ```swift
/// var query: Parameters { ["q": text, "page": page, "tags": ["a", "b"], "after": cursor] }
/// ```
///
/// A `nil` optional omits its parameter; ``ParameterValue/null`` sends the name without a value. Name the case of a
/// mixed literal: `.array([1, "a"])`, `.object(["id": 7, "name": name])`. An enumeration with a raw value only declares
/// the conformance: `enum Sort: String, ParameterConvertible`.
public protocol ParameterConvertible: Sendable {
    /// The value to encode, or `nil` to omit the parameter.
    var parameterValue: ParameterValue? { get }
}

/// A parameter's value whose kind is named, for literals that would be ambiguous: `["n": .null, "ids": .array([1, "a"])]`.
public struct ParameterLiteral: ParameterConvertible {
    /// The value to encode.
    public let parameterValue: ParameterValue?
}

extension ParameterConvertible where Self == ParameterLiteral {
    /// A parameter without a value: the name without `=` in a query, or `null` in JSON.
    public static var null: ParameterLiteral { ParameterLiteral(parameterValue: ParameterValue.null) }

    /// Returns text that is already percent-encoded; see ``ParameterValue/encoded(_:)``.
    public static func encoded(_ text: String) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.encoded(text))
    }

    /// Returns a text, which is percent-encoded in a query or form.
    public static func string(_ text: String) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.string(text))
    }

    /// Returns an integer, which is written in decimal.
    public static func integer(_ number: Int64) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.integer(number))
    }

    /// Returns a floating-point number.
    public static func number(_ number: Double) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.number(number))
    }

    /// Returns a decimal number that keeps all its digits.
    public static func decimal(_ number: Decimal) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.decimal(number))
    }

    /// Returns a Boolean, written as ``ParameterEncoding/Booleans`` specifies.
    public static func boolean(_ flag: Bool) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.boolean(flag))
    }

    /// Returns an array with values of several types. `nil` elements become ``ParameterValue/null``.
    public static func array(_ elements: [any ParameterConvertible]) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.array(elements.map { $0.parameterValue ?? .null }))
    }

    /// Returns an object with values of several types. `nil` values are omitted.
    public static func object(_ members: Parameters) -> ParameterLiteral {
        let pairs = members.items.map { ($0.name, $0.value) }
        return ParameterLiteral(parameterValue: ParameterValue.object(Dictionary(pairs) { _, last in last }))
    }

    /// Returns a set, which is encoded as the repeated name, sorted by value. `nil` elements are omitted.
    public static func set(_ elements: [any ParameterConvertible]) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.set(Set(elements.compactMap(\.parameterValue))))
    }
}

extension ParameterValue: ParameterConvertible {
    /// The value itself, unchanged.
    public var parameterValue: ParameterValue? { self }
}

extension String: ParameterConvertible {
    /// The string as text.
    public var parameterValue: ParameterValue? { .string(self) }
}

extension Substring: ParameterConvertible {
    /// The substring as text.
    public var parameterValue: ParameterValue? { .string(String(self)) }
}

extension Bool: ParameterConvertible {
    /// The Boolean, written as ``ParameterEncoding/Booleans`` specifies.
    public var parameterValue: ParameterValue? { .boolean(self) }
}

extension Double: ParameterConvertible {
    /// The number as a `Double`.
    public var parameterValue: ParameterValue? { .number(self) }
}

extension Decimal: ParameterConvertible {
    /// The number with all its digits.
    public var parameterValue: ParameterValue? { .decimal(self) }
}

extension Float: ParameterConvertible {
    /// The shortest decimal number that rounds to this value, instead of the digits of its binary form.
    public var parameterValue: ParameterValue? { .number(Double("\(self)") ?? Double(self)) }
}

extension ParameterConvertible where Self: BinaryInteger {
    /// The integer, or text if it has more than 38 digits.
    public var parameterValue: ParameterValue? { ParameterValue(self) }
}

extension Int: ParameterConvertible {}
extension Int8: ParameterConvertible {}
extension Int16: ParameterConvertible {}
extension Int32: ParameterConvertible {}
extension Int64: ParameterConvertible {}
extension UInt: ParameterConvertible {}
extension UInt8: ParameterConvertible {}
extension UInt16: ParameterConvertible {}
extension UInt32: ParameterConvertible {}
extension UInt64: ParameterConvertible {}

extension ParameterConvertible where Self: RawRepresentable, RawValue: ParameterConvertible {
    /// The raw value's parameter.
    public var parameterValue: ParameterValue? { rawValue.parameterValue }
}

extension Optional: ParameterConvertible where Wrapped: ParameterConvertible {
    /// The wrapped value; `nil` omits the parameter.
    public var parameterValue: ParameterValue? { self?.parameterValue }
}

extension Array: ParameterConvertible where Element: ParameterConvertible {
    /// The elements, with ``ParameterValue/null`` for `nil`.
    public var parameterValue: ParameterValue? { .array(map { $0.parameterValue ?? .null }) }
}

extension Set: ParameterConvertible where Element: ParameterConvertible {
    /// The elements except `nil`, sorted when they are encoded.
    public var parameterValue: ParameterValue? { .set(Set<ParameterValue>(compactMap(\.parameterValue))) }
}

extension Dictionary: ParameterConvertible where Key == String, Value: ParameterConvertible {
    /// The values by name, except `nil`.
    public var parameterValue: ParameterValue? { .object(compactMapValues(\.parameterValue)) }
}
