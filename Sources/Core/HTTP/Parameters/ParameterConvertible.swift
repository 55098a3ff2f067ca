public import ErrandEssentials

/// A type whose values can be parameters: strings, numbers, booleans, and arrays, sets, dictionaries and optionals of
/// them.
///
/// ```swift
/// var query: Parameters { ["q": text, "page": page, "tags": ["a", "b"], "after": cursor] }
/// ```
///
/// An optional that is nil leaves its parameter out; ``ParameterValue/null`` sends the name without a value. A literal
/// of mixed types is written with its name: `.array([1, "a"])`, `.object(["id": 7, "name": name])`. An enumeration with
/// a raw value needs only the conformance: `enum Sort: String, ParameterConvertible`.
public protocol ParameterConvertible: Sendable {
    /// The value to encode; nil leaves the parameter out.
    var parameterValue: ParameterValue? { get }
}

/// A value written with its name, where a literal alone is ambiguous: `["n": .null, "ids": .array([1, "a"])]`.
public struct ParameterLiteral: ParameterConvertible {
    /// The value to encode.
    public let parameterValue: ParameterValue?
}

extension ParameterConvertible where Self == ParameterLiteral {
    /// The name without `=` in a query, `null` in JSON.
    public static var null: ParameterLiteral { ParameterLiteral(parameterValue: ParameterValue.null) }

    /// Text that is percent-encoded already; see ``ParameterValue/encoded(_:)``.
    public static func encoded(_ text: String) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.encoded(text))
    }

    /// Text.
    public static func string(_ text: String) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.string(text))
    }

    /// A whole number.
    public static func integer(_ number: Int64) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.integer(number))
    }

    /// A number.
    public static func number(_ number: Double) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.number(number))
    }

    /// A number with all its digits.
    public static func decimal(_ number: Decimal) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.decimal(number))
    }

    /// A boolean.
    public static func boolean(_ flag: Bool) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.boolean(flag))
    }

    /// An array of values of several types, ``ParameterValue/null`` for nil.
    public static func array(_ elements: [any ParameterConvertible]) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.array(elements.map { $0.parameterValue ?? .null }))
    }

    /// An object with values of several types; nil ones are left out.
    public static func object(_ members: Parameters) -> ParameterLiteral {
        let pairs = members.items.map { ($0.name, $0.value) }
        return ParameterLiteral(parameterValue: ParameterValue.object(Dictionary(pairs) { _, last in last }))
    }

    /// Encoded as the name repeated, sorted by value; nil elements are left out.
    public static func set(_ elements: [any ParameterConvertible]) -> ParameterLiteral {
        ParameterLiteral(parameterValue: ParameterValue.set(Set(elements.compactMap(\.parameterValue))))
    }
}

extension ParameterValue: ParameterConvertible {
    /// Itself.
    public var parameterValue: ParameterValue? { self }
}

extension String: ParameterConvertible {
    /// The text.
    public var parameterValue: ParameterValue? { .string(self) }
}

extension Substring: ParameterConvertible {
    /// The text.
    public var parameterValue: ParameterValue? { .string(String(self)) }
}

extension Bool: ParameterConvertible {
    /// Written as ``ParameterEncoding/Booleans`` says.
    public var parameterValue: ParameterValue? { .boolean(self) }
}

extension Double: ParameterConvertible {
    /// The number.
    public var parameterValue: ParameterValue? { .number(self) }
}

extension Decimal: ParameterConvertible {
    /// The number with all its digits.
    public var parameterValue: ParameterValue? { .decimal(self) }
}

extension Float: ParameterConvertible {
    /// The shortest decimal number that this one is nearest to, and not the digits of its binary form.
    public var parameterValue: ParameterValue? { .number(Double("\(self)") ?? Double(self)) }
}

extension ParameterConvertible where Self: BinaryInteger {
    /// The number; one with more than 38 digits as text.
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
    /// The raw value.
    public var parameterValue: ParameterValue? { rawValue.parameterValue }
}

extension Optional: ParameterConvertible where Wrapped: ParameterConvertible {
    /// The wrapped value; nil leaves the parameter out.
    public var parameterValue: ParameterValue? { self?.parameterValue }
}

extension Array: ParameterConvertible where Element: ParameterConvertible {
    /// The elements, with ``ParameterValue/null`` for nil.
    public var parameterValue: ParameterValue? { .array(map { $0.parameterValue ?? .null }) }
}

extension Set: ParameterConvertible where Element: ParameterConvertible {
    /// The elements without nil; sorted when they are encoded.
    public var parameterValue: ParameterValue? { .set(Set<ParameterValue>(compactMap(\.parameterValue))) }
}

extension Dictionary: ParameterConvertible where Key == String, Value: ParameterConvertible {
    /// The values by name, without nil.
    public var parameterValue: ParameterValue? { .object(compactMapValues(\.parameterValue)) }
}
