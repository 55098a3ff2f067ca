/// Names and values for a query, a form or a JSON object, written as literals.
///
/// ```swift
/// var parameters: Parameters? { ["q": "swift", "page": 2, "tags": ["a", "b"], "user": ["id": 7]] }
/// ```
public struct Parameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// In the order written; names may repeat.
    public var items: [Item]

    /// One name and its value.
    public struct Item: Sendable, Hashable {
        public var name: String
        public var value: ParameterValue
        public init(_ name: String, _ value: ParameterValue) {
            self.name = name
            self.value = value
        }
    }

    public init(_ items: [Item] = []) { self.items = items }
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        items = elements.map { Item($0.0, $0.1) }
    }

    public var isEmpty: Bool { items.isEmpty }

    /// The first value of a name; setting replaces it, nil removes every one.
    public subscript(name: String) -> ParameterValue? {
        get { items.first { $0.name == name }?.value }
        set {
            let first = items.firstIndex { $0.name == name } ?? items.endIndex
            items.removeAll { $0.name == name }
            if let newValue { items.insert(Item(name, newValue), at: first) }
        }
    }
}

/// One parameter's value.
public enum ParameterValue: Sendable, Hashable {
    case string(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case array([ParameterValue])
    case object([String: ParameterValue])
    /// Encoded as the name repeated, sorted by value.
    case set(Set<ParameterValue>)
    /// Percent-encoded already: goes into a query or form as it is. A `%` without two hexadecimal digits, or a
    /// character that cannot stand there, throws ``ErrandError/Code/bodyEncoding``.
    case encoded(String)
    /// In a query the name without `=`, in JSON `null`.
    case null
}

extension ParameterValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    public init(nilLiteral: ()) { self = .null }

    /// A value that is not a literal: `.init(name)`, `.init(page)`.
    public init(_ value: String) { self = .string(value) }
    public init(_ value: some BinaryInteger) { self = Int64(exactly: value).map(Self.integer) ?? .string("\(value)") }
    public init(_ value: Double) { self = .number(value) }
    public init(_ value: Bool) { self = .boolean(value) }
}

extension ParameterValue: Encodable {
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
