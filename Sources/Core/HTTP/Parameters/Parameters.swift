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

    /// The properties of a value, as `JSONEncoder` writes them: one item each, in the order of their names, and numbers with
    /// all their digits. A value that cannot be encoded, or is no object, makes the request throw ``ErrandError/Code/encodingFailed`` before it is
    /// sent.
    ///
    /// ```swift
    /// nonisolated struct Filter: Encodable, Sendable { var text = "swift", page = 2 }
    /// var query: Parameters { Parameters(encoding: filter) }        // page=2&text=swift
    /// ```
    public init(encoding value: some Encodable, encoder: JSONEncoder? = nil) {
        do {
            let data = try (encoder ?? JSONEncoder()).encode(value)
            var reader = ParameterReader(data)
            items = try reader.members().sorted { $0.key < $1.key }.map { Item($0.key, $0.value) }
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
