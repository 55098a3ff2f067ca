public import ErrandEssentials

/// Names and values for a query, a form or a JSON object, written as a literal.
///
/// ```swift
/// var parameters: Parameters? { ["q": text, "page": page, "tags": ["a", "b"], "user": ["id": 7]] }
/// ```
///
/// A value is anything ``ParameterConvertible``.
public struct Parameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// In the order written; names may repeat.
    public var items: [Item]

    /// One name and its value.
    public struct Item: Sendable, Hashable {
        /// The name as it is, not encoded.
        public var name: String
        /// The value to encode.
        public var value: ParameterValue
        /// Makes an item.
        public init(_ name: String, _ value: ParameterValue) {
            self.name = name
            self.value = value
        }
    }

    /// Makes parameters of items; none by default.
    public init(_ items: [Item] = []) { self.items = items }
    /// Makes parameters in the order of the literal; a value that is nil leaves its name out.
    public init(dictionaryLiteral elements: (String, any ParameterConvertible)...) {
        items = elements.compactMap { name, value in value.parameterValue.map { Item(name, $0) } }
    }

    /// The properties of a value, as `JSONEncoder` sees them: one item each, in the order of their names. A value that
    /// cannot be encoded, or is no object, makes the request throw ``ErrandError/Code/encodingFailed`` before it is sent.
    ///
    /// ```swift
    /// nonisolated struct Filter: Encodable, Sendable { var text = "swift", page = 2 }
    /// var query: Parameters { Parameters(encoding: filter) }        // page=2&text=swift
    /// ```
    public init(encoding value: some Encodable, encoder: JSONEncoder? = nil) {
        do {
            let data = try (encoder ?? JSONEncoder()).encode(value)
            let members = try JSONDecoder().decode([String: ParameterValue].self, from: data)
            items = members.sorted { $0.key < $1.key }.map { Item($0.key, $0.value) }
        } catch {
            items = []
            fault = "\(type(of: value)) cannot be encoded as parameters"
        }
    }

    /// The reason why the value that these were made from could not be encoded.
    private(set) var fault: String?

    /// Whether there are no items.
    public var isEmpty: Bool { items.isEmpty }

    /// The first value of a name; setting replaces it, nil removes every value of the name.
    public subscript(name: String) -> ParameterValue? {
        get { items.first { $0.name == name }?.value }
        set {
            let first = items.firstIndex { $0.name == name } ?? items.endIndex
            items.removeAll { $0.name == name }
            if let newValue { items.insert(Item(name, newValue), at: first) }
        }
    }

    /// Adds a value and keeps those of the same name; nil adds nothing.
    public mutating func append(_ name: String, _ value: some ParameterConvertible) {
        if let value = value.parameterValue { items.append(Item(name, value)) }
    }
}

/// One parameter's value.
public enum ParameterValue: Sendable, Hashable {
    /// Text.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number; one that is not finite throws ``ErrandError/Code/encodingFailed`` in JSON.
    case number(Double)
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
    /// A whole number; one beyond the range of `Int64` becomes text.
    public init(_ value: some BinaryInteger) { self = Int64(exactly: value).map(Self.integer) ?? .string("\(value)") }
    /// A number.
    public init(_ value: Double) { self = .number(value) }
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
        case .boolean(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        case .set(let values): try container.encode(Array(values))
        case .null: try container.encodeNil()
        }
    }
}

extension ParameterValue: Decodable {
    /// Decodes any JSON value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .string("\(value)")
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let values = try? container.decode([ParameterValue].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: ParameterValue].self))
        }
    }
}
