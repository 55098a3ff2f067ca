public import ErrandEssentials

/// A value that can be written in a query, a form or a JSON object.
public enum ParameterValue: Sendable, Hashable {
    /// Text. A query or form percent-encodes it.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A floating-point number. In JSON, a number that isn't finite throws ``ErrandError/Code/encodingFailed``.
    case number(Double)
    /// A decimal number with up to 38 digits. Written without an exponent.
    case decimal(Decimal)
    /// A Boolean, written as ``ParameterEncoding/Booleans`` specifies.
    case boolean(Bool)
    /// An array, written as ``ParameterEncoding/Arrays`` specifies.
    case array([ParameterValue])
    /// An object, written with nested names in brackets.
    case object([String: ParameterValue])
    /// A set. Encoding repeats the name, with sorted values.
    case set(Set<ParameterValue>)
    /// Text that is already percent-encoded. A query or form contains it unchanged. An invalid `%` sequence or
    /// character throws ``ErrandError/Code/encodingFailed``.
    case encoded(String)
    /// A parameter without a value: the name without `=` in a query, or `null` in JSON.
    case null
}

extension ParameterValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// Creates text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates an array.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }
    /// Creates an object. If a name repeats, its last value counts.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    /// Creates ``null``, which sends the name without a value.
    public init(nilLiteral: ()) { self = .null }

    /// Creates text from a variable: `.init(name)`.
    public init(_ value: String) { self = .string(value) }
    /// Creates an integer. An integer of more than 38 digits becomes text.
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
    /// Creates a number.
    public init(_ value: Double) { self = .number(value) }
    /// Creates a number that keeps all its digits.
    public init(_ value: Decimal) { self = .decimal(value) }
    /// Creates a Boolean.
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
                    value, .init(codingPath: encoder.codingPath, debugDescription: "JSON can't represent NaN"))
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
    /// Decodes any JSON value. Numbers keep all the digits that the decoder provides.
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

    /// Returns a number with all its digits. Compares the candidates with the `Decimal`, because decoders round a
    /// number to the requested type.
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
