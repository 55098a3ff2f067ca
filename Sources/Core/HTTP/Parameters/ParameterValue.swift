public import ErrandEssentials

/// One parameter's value.
public enum ParameterValue: Sendable, Hashable {
    /// Text.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number; one that is not finite throws ``ErrandError/Code/encodingFailed`` in JSON.
    case number(Double)
    /// A number with more digits than a `Double` keeps, up to 38. Written without an exponent.
    case decimal(Decimal)
    /// Written as ``ParameterEncoding/Booleans`` says.
    case boolean(Bool)
    /// Written as ``ParameterEncoding/Arrays`` says.
    case array([ParameterValue])
    /// Nested names in brackets.
    case object([String: ParameterValue])
    /// Encoded as the name repeated, sorted by value.
    case set(Set<ParameterValue>)
    /// Text that is already percent-encoded, and goes into a query or form as it is. A `%` without two hexadecimal
    /// digits, or a character that is not allowed there, throws ``ErrandError/Code/encodingFailed``.
    case encoded(String)
    /// The name without `=` in a query, `null` in JSON.
    case null
}

extension ParameterValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// An array.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }
    /// An object; of a name that repeats, the last value counts.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    /// ``null``
    public init(nilLiteral: ()) { self = .null }

    /// A value that is not a literal: `.init(name)`, `.init(page)`.
    public init(_ value: String) { self = .string(value) }
    /// A whole number; one with more than 38 digits becomes text.
    public init(_ value: some BinaryInteger) {
        let text = "\(value)"
        if let small = Int64(exactly: value) {
            self = .integer(small)
        } else if let large = Decimal(string: text), "\(large)" == text {
            self = .decimal(large)
        } else {
            self = .string(text)
        }
    }
    /// A number.
    public init(_ value: Double) { self = .number(value) }
    /// A number with all its digits.
    public init(_ value: Decimal) { self = .decimal(value) }
    /// A boolean.
    public init(_ value: Bool) { self = .boolean(value) }
}

extension ParameterValue: Encodable {
    /// Encodes the value as JSON.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value), .encoded(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .decimal(let value):
            guard value.isFinite else {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: encoder.codingPath, debugDescription: "JSON has no number for NaN"))
            }
            try container.encode(value)
        case .boolean(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        case .set(let values): try container.encode(Array(values))
        case .null: try container.encodeNil()
        }
    }
}

extension ParameterValue: Decodable {
    /// Decodes any JSON value; a number keeps its digits, as far as the decoder gives them.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = Self.number(in: container) {
            self = value
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let values = try? container.decode([ParameterValue].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: ParameterValue].self))
        }
    }

    /// An `Int64` if the number is one, a `Double` if that means the same number, otherwise a `Decimal`: decoders round a
    /// number to the type that they are asked for.
    private static func number(in container: any SingleValueDecodingContainer) -> ParameterValue? {
        let (whole, number) = (try? container.decode(Int64.self), try? container.decode(Double.self))
        guard let exact = try? container.decode(Decimal.self), exact.isFinite else {
            return whole.map(Self.integer) ?? number.map(Self.number)
        }
        if let whole, Decimal(whole) == exact { return .integer(whole) }
        if let number, Decimal(string: "\(number)") == exact { return .number(number) }
        return .decimal(exact)
    }
}
