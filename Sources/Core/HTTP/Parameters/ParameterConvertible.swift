public import ErrandEssentials

/// A type whose values can be parameters, such as strings, numbers, Booleans, and collections and optionals of them.
///
/// ```swift
/// var query: Parameters { ["q": text, "page": page, "tags": ["a", "b"], "after": cursor] }
/// ```
///
/// A `nil` optional omits its parameter. ``ParameterValue/null`` sends the name without a value. In a literal that
/// mixes types, name the case: `.array([1, "a"])`, `.object(["id": 7, "name": name])`.
///
/// For an enumeration with a raw value, only declare the conformance: `enum Sort: String, ParameterConvertible`.
public protocol ParameterConvertible: Sendable {
    /// The value to encode, or `nil` to omit the parameter.
    var parameterValue: ParameterValue? { get }
}

/// A parameter's value with a named case, for literals that would be ambiguous: `["n": .null, "ids": .array([1,
/// "a"])]`.
public struct ParameterLiteral: ParameterConvertible {
    /// The value to encode.
    public let parameterValue: ParameterValue?
}

extension ParameterConvertible where Self == ParameterLiteral {
    /// A parameter without a value: the name without `=` in a query, or `null` in JSON.
    public static var null: ParameterLiteral { ParameterLiteral(parameterValue: ParameterValue.null) }

    /// Returns text that is already percent-encoded. See ``ParameterValue/encoded(_:)``.
    public static func encoded(_ text: String) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.encoded(text))
    }

    /// Returns text. A query or form percent-encodes it.
    public static func string(_ text: String) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.string(text))
    }

    /// Returns an integer.
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

    /// Returns an array of several types. `nil` elements become ``ParameterValue/null``.
    public static func array(_ elements: [any ParameterConvertible]) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.array(elements.map { $0.parameterValue ?? .null }))
    }

    /// Returns an object of several types. Omits `nil` values.
    public static func object(_ members: Parameters) -> ParameterLiteral {
        let pairs = members.items.map { ($0.name, $0.value) }
        return ParameterLiteral(parameterValue: ParameterValue.object(Dictionary(pairs) { _, last in last }))
    }

    /// Returns a set. Encoding repeats the name, with sorted values, and omits `nil` elements.
    public static func set(_ elements: [any ParameterConvertible]) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.set(Set(elements.compactMap(\.parameterValue))))
    }
}

extension ParameterValue: ParameterConvertible {
    /// The value itself.
    public var parameterValue: ParameterValue? { self }
}

extension String: ParameterConvertible {
    /// Text.
    public var parameterValue: ParameterValue? { .string(self) }
}

extension Substring: ParameterConvertible {
    /// Text.
    public var parameterValue: ParameterValue? { .string(String(self)) }
}

extension Bool: ParameterConvertible {
    /// A Boolean, written as ``ParameterEncoding/Booleans`` specifies.
    public var parameterValue: ParameterValue? { .boolean(self) }
}

extension Double: ParameterConvertible {
    /// A floating-point number.
    public var parameterValue: ParameterValue? { .number(self) }
}

extension Decimal: ParameterConvertible {
    /// A number with all its digits.
    public var parameterValue: ParameterValue? { .decimal(self) }
}

extension Float: ParameterConvertible {
    /// The shortest decimal number that rounds to this value.
    public var parameterValue: ParameterValue? { .number(Double("\(self)") ?? Double(self)) }
}

extension ParameterConvertible where Self: BinaryInteger {
    /// An integer, or text if it has more than 38 digits.
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
    /// The wrapped value. `nil` omits the parameter.
    public var parameterValue: ParameterValue? { self?.parameterValue }
}

extension Array: ParameterConvertible where Element: ParameterConvertible {
    /// An array, with ``ParameterValue/null`` for `nil`.
    public var parameterValue: ParameterValue? { .array(map { $0.parameterValue ?? .null }) }
}

extension Set: ParameterConvertible where Element: ParameterConvertible {
    /// A set without `nil`. Encoding sorts it.
    public var parameterValue: ParameterValue? { .set(Set<ParameterValue>(compactMap(\.parameterValue))) }
}

extension Dictionary: ParameterConvertible where Key == String, Value: ParameterConvertible {
    /// An object without `nil` values.
    public var parameterValue: ParameterValue? { .object(compactMapValues(\.parameterValue)) }
}
